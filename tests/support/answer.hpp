// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace skua::testing {

/// A response as tests see it.
struct Answer {
  int status = 0;
  std::string head{};  ///< includes the final empty line
  std::string body{};
  std::string trailers{};  ///< field lines after the content
  /// Returns the value of the first field with this name; names are case-insensitive.
  [[nodiscard]] std::optional<std::string> field(std::string_view name) const;
  /// Like `field()`, but for the trailers.
  [[nodiscard]] std::optional<std::string> trailer(std::string_view name) const;
};

/// Removes the first response from the front of `bytes`; nullopt if it is incomplete. `to_head`: it
/// answers a HEAD request. Understands only the HTTP that skua's server writes, and shares no code
/// with skua's parser.
std::optional<Answer> take_answer(std::string& bytes, bool to_head = false);

/// Reports whether a response announces the end of its connection; over HTTP/2, whether it has no
/// Connection field (RFC 9113 §8.2.2).
bool says_last(const Answer& answer);
/// Returns the Transfer-Encoding of content of unknown length; nullopt over HTTP/2.
std::optional<std::string> chunked();

}  // namespace skua::testing
