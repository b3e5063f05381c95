// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "skua/config.hpp"

namespace skua {

/// The request methods that skua knows; any other is answered with 501. RFC 9110 §9, RFC 5789, and
/// RFC 4918 §9 for those of WebDAV.
enum class Method : std::uint8_t {
  Get,
  Head,
  Post,
  Put,
  Delete,
  Connect,
  Options,
  Trace,
  Patch,
  Propfind,
  Proppatch,
  Mkcol,
  Copy,
  Move,
  Lock,
  Unlock
};

inline constexpr std::size_t method_count = 16;

/// Returns the method's token as sent on the wire: `GET`.
SKUA_API std::string_view name(Method method) noexcept;

/// Returns the method that a token names; methods are case-sensitive. RFC 9110 §9.1.
SKUA_API std::optional<Method> parse_method(std::string_view token) noexcept;

}  // namespace skua
