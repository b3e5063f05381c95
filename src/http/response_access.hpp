// SPDX-License-Identifier: MIT
#pragma once

#include "skua/response.hpp"

namespace skua::http {

/// The doors of Response that only skua itself uses.
struct ResponseAccess {
  /// The lines, for fields that no handler sets by hand.
  static FieldLines& lines(Response& response) noexcept { return response.lines_; }
};

}  // namespace skua::http
