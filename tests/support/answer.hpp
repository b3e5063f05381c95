// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace skua::testing {

/// A response as a test looks at it.
struct Answer {
  int status = 0;
  std::string head{};  ///< with the empty line
  std::string body{};
  std::string trailers{};  ///< lines behind the content
  /// The value of the first field with this name, whatever its case.
  [[nodiscard]] std::optional<std::string> field(std::string_view name) const;
  /// The same of the trailers.
  [[nodiscard]] std::optional<std::string> trailer(std::string_view name) const;
};

/// Takes the first whole response off the front of `bytes`; `to_head` when it answers HEAD. Nothing
/// when it is not whole. It knows just as much of HTTP as skua's server writes, and nothing of
/// skua's own parser.
std::optional<Answer> take_answer(std::string& bytes, bool to_head = false);

/// Whether a response says that nothing follows on its connection; over HTTP/2 whether it says
/// nothing of connections (RFC 9113 §8.2.2).
bool says_last(const Answer& answer);
/// The Transfer-Encoding of content whose length nobody knows; HTTP/2 has none.
std::optional<std::string> chunked();

}  // namespace skua::testing
