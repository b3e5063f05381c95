// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace skua::http {

inline constexpr std::size_t max_captures = 16;

/// The texts that a route's wildcards matched in one path, as views of that path.
struct Captures {
  struct Text {
    const char* data;
    std::size_t size;
  };
  const std::vector<std::string>* names = nullptr;  ///< owned by the route
  std::uint32_t count = 0;
  std::array<Text, max_captures> texts;  // only the first `count` are set

  /// Moves the views from the path to its copy at `to`.
  void move(std::string_view from, const char* to) noexcept {
    for (std::uint32_t i = 0; i < count; ++i) texts[i].data = to + (texts[i].data - from.data());
  }
  [[nodiscard]] std::string_view operator[](std::size_t index) const noexcept {
    return {texts[index].data, texts[index].size};
  }
};

}  // namespace skua::http
