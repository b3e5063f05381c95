// SPDX-License-Identifier: MIT
// Method tokens, RFC 9110 §9, RFC 5789 and RFC 4918 §9.
#include "http/message/start_line.hpp"

#include "skua/method.hpp"
#include "skua/status.hpp"

namespace skua {
namespace {

constexpr std::string_view names[method_count] = {
    "GET",   "HEAD",     "POST",      "PUT",   "DELETE", "CONNECT", "OPTIONS", "TRACE",
    "PATCH", "PROPFIND", "PROPPATCH", "MKCOL", "COPY",   "MOVE",    "LOCK",    "UNLOCK"};
static_assert(names[static_cast<std::size_t>(Method::Unlock)] == "UNLOCK");

}  // namespace

std::string_view name(Method method) noexcept { return names[static_cast<std::size_t>(method)]; }

std::optional<Method> parse_method(std::string_view token) noexcept {
  for (std::size_t i = 0; i < method_count; ++i) {
    if (names[i] == token) return static_cast<Method>(i);
  }
  return std::nullopt;
}

// The reason phrases of the registered status codes, RFC 9110 §15 and the IANA registry.

std::string_view reason(Status status) noexcept { return http::reason_phrase(status); }

}  // namespace skua
