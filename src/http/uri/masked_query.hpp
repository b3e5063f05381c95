// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace skua::http {

/// Returns the names of query parameters whose values are secrets, wherever a URL is logged.
std::vector<std::string> secret_parameters();

/// A URL or target in which the values of some query parameters are replaced by `***`.
///
/// Names are compared decoded and without regard to case, in the query and in the fragment, where
/// tokens travel, too.
class MaskedQuery final {
 public:
  /// `text` must outlive the object.
  MaskedQuery(std::string_view text, const std::vector<std::string>& names);
  /// With secret_parameters().
  explicit MaskedQuery(std::string_view text);

  [[nodiscard]] std::string_view text() const noexcept { return text_; }

 private:
  void mask(std::string_view lines);  // the names, a line each

  std::string changed_;
  std::string_view text_;  // the original if nothing is replaced
};

}  // namespace skua::http
