// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "skua/response.hpp"

namespace skua::http {

/// The doors of Response that only skua itself uses.
struct ResponseAccess {
  /// The lines, for fields that no handler sets by hand.
  static FieldLines& lines(Response& response) noexcept { return response.lines_; }
  /// What static_type() is of known_types(): the first, which is empty, where it is another.
  static std::size_t known_type(const Response& response) noexcept {
    return static_cast<std::size_t>(response.type_);
  }
  static constexpr std::span<const std::string_view> known_types() noexcept {
    return Response::known_types;
  }
};

}  // namespace skua::http
