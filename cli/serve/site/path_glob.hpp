// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace skua::cli {

/// A set of paths:
///
/// ```
/// *.wasm       files with this ending, in any folder
/// /api/**      everything below /api/
/// /*/draft/**  everything below draft in a folder of the root
/// ```
/// `*` stands for any text without a slash, `**` for any text. Without a slash, the glob is for the
/// last segment of a path.
class PathGlob {
 public:
  static constexpr std::size_t max_bytes = 256;

  /// Ends with: std::invalid_argument if the glob is empty, too long, contains a control character,
  ///            or has a slash but not at its start.
  explicit PathGlob(std::string text);

  /// Reports whether a decoded path that starts with a slash is in the set. Takes a time of at most
  /// the product of both lengths.
  [[nodiscard]] bool matches(std::string_view path) const noexcept;

  [[nodiscard]] const std::string& text() const noexcept { return text_; }

 private:
  std::string text_;
};

}  // namespace skua::cli
