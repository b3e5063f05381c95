// SPDX-License-Identifier: MIT
// Method tokens, RFC 9110 §9, RFC 5789, RFC 4918 §9 and RFC 10008.
#include "http/message/start_line.hpp"

#include <algorithm>
#include <cstdint>

#include "base/ascii.hpp"
#include "skua/method.hpp"
#include "skua/status.hpp"

namespace skua {
namespace {

/// A token in place: an array of views would need a relocation for each.
struct Name {
  constexpr Name(std::string_view token) noexcept : size(static_cast<std::uint8_t>(token.size())) {
    std::ranges::copy(token, text);
  }
  [[nodiscard]] std::string_view view() const noexcept { return {text, size}; }

  char text[11]{};
  std::uint8_t size;
};

constexpr Name names[method_count] = {
    {"GET"},     {"HEAD"},  {"POST"},  {"PUT"},      {"DELETE"},    {"CONNECT"},
    {"OPTIONS"}, {"TRACE"}, {"PATCH"}, {"PROPFIND"}, {"PROPPATCH"}, {"MKCOL"},
    {"COPY"},    {"MOVE"},  {"LOCK"},  {"UNLOCK"},   {"QUERY"}};
constexpr std::string_view other_name = "_OTHER";

}  // namespace

std::string_view name(Method method) noexcept {
  const auto index = static_cast<std::size_t>(method);
  return index < method_count ? names[index].view() : other_name;
}

std::optional<Method> parse_method(std::string_view token) noexcept {
  for (std::size_t i = 0; i < method_count; ++i) {
    if (names[i].view() == token) return static_cast<Method>(i);
  }
  return std::nullopt;
}

bool http::may_be_other_method(std::string_view token) noexcept {
  if (token.empty() || token.size() > longest_method || token == "PRI") return false;
  return std::ranges::none_of(names, [token](const Name& known) {
    return ascii::equals_ignoring_case(known.view(), token);
  });
}

// The reason phrases of the registered status codes, RFC 9110 §15 and the IANA registry.

std::string_view reason(Status status) noexcept { return http::reason_phrase(status); }

}  // namespace skua
