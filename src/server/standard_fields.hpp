// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string_view>

#include "http/field.hpp"
#include "server/date_cache.hpp"
#include "skua/response.hpp"

namespace skua::server {

/// Reports whether a set of FieldLines::known() contains a field.
constexpr bool has(std::uint64_t known, http::FieldName field) noexcept {
  return (known >> static_cast<unsigned>(field) & 1U) != 0;
}

/// Returns those lines of Date and Server that the handler has not set itself.
inline std::string_view standard_fields(const Response& response, std::string_view lines) noexcept {
  const std::uint64_t known = response.known_fields();
  if (has(known, http::FieldName::Server)) lines = lines.substr(0, DateCache::date_line_bytes);
  if (has(known, http::FieldName::Date)) lines.remove_prefix(DateCache::date_line_bytes);
  return lines;
}

}  // namespace skua::server
