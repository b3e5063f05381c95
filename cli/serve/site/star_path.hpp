// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace skua::cli {

/// A path with at most one `*`, which stands for any text: `/old/*`, `/*.htm`.
class StarPath {
 public:
  /// Ends with: std::invalid_argument if there is more than one `*`.
  explicit StarPath(std::string text);

  /// Returns the part of `path` that the star stands for, empty without a star; nullopt if the path
  /// does not match.
  [[nodiscard]] std::optional<std::string_view> match(std::string_view path) const noexcept;
  /// Returns the path with this text in place of the star.
  [[nodiscard]] std::string fill(std::string_view star) const;
  /// Reports whether some path matches both.
  [[nodiscard]] bool overlaps(const StarPath& other) const noexcept;

  [[nodiscard]] bool has_star() const noexcept { return star_ != text_.npos; }
  [[nodiscard]] const std::string& text() const noexcept { return text_; }

 private:
  [[nodiscard]] std::string_view before() const noexcept;
  [[nodiscard]] std::string_view after() const noexcept;

  std::string text_;
  std::string::size_type star_;  // npos: none
};

}  // namespace skua::cli
