// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "skua/response.hpp"

namespace skua::http {

/// Access to the internals of Response, for skua itself.
struct ResponseAccess {
  /// The field lines, for fields that handlers do not set.
  static FieldLines& lines(Response& response) noexcept { return response.lines_; }
  /// The index of static_type() in known_types(); 0, the empty one, for any other type.
  static std::size_t known_type(const Response& response) noexcept {
    return static_cast<std::size_t>(response.type_);
  }
  static constexpr std::span<const std::string_view> known_types() noexcept {
    return Response::known_types;
  }
};

}  // namespace skua::http
