// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "skua/config.hpp"

namespace skua {

/// The request methods that skua knows, and all others. RFC 9110 §9, RFC 5789, RFC 4918 §9 for
/// those of WebDAV, and RFC 10008 for QUERY, which is safe and idempotent like GET and has content.
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
  Unlock,
  Query,
  Other  ///< a token that skua does not know: see Request::method_name()
};

/// The number of methods with a name; Other comes after them.
inline constexpr std::size_t method_count = 17;

/// Returns the method's token as sent on the wire: `GET`. That of Other is `_OTHER`, the name that
/// metrics and traces give to all of them.
SKUA_API std::string_view name(Method method) noexcept;

/// Returns the method that a token names, or nullopt if skua does not know it; methods are
/// case-sensitive. RFC 9110 §9.1.
SKUA_API std::optional<Method> parse_method(std::string_view token) noexcept;

}  // namespace skua
