// SPDX-License-Identifier: MIT
// Method tokens, RFC 9110 §9 and RFC 5789.
#include "skua/method.hpp"

namespace skua {
namespace {

constexpr std::string_view names[method_count] = {"GET",     "HEAD",    "POST",  "PUT",  "DELETE",
                                                  "CONNECT", "OPTIONS", "TRACE", "PATCH"};
static_assert(names[static_cast<std::size_t>(Method::Patch)] == "PATCH");

}  // namespace

std::string_view name(Method method) noexcept { return names[static_cast<std::size_t>(method)]; }

std::optional<Method> parse_method(std::string_view token) noexcept {
  for (std::size_t i = 0; i < method_count; ++i) {
    if (names[i] == token) return static_cast<Method>(i);
  }
  return std::nullopt;
}

}  // namespace skua
