// SPDX-License-Identifier: MIT
// In: a Content-Type. Out: its boundary, checked. It is stored with the CRLF and dashes in front,
// because that is what a parser searches for.
#include "http/boundary.hpp"

#include <algorithm>
#include <random>
#include <string>

#include "base/ascii.hpp"
#include "http/media_type.hpp"

namespace skua::http {
namespace {

constexpr bool is_boundary(char c) noexcept {
  constexpr std::string_view marks = "'()+_,-./:=? ";
  return ascii::is_digit(c) || ascii::is_alpha(c) || marks.find(c) != marks.npos;
}

}  // namespace

Boundary::Boundary(std::string_view text) noexcept {
  std::copy(text.begin(), text.end(), delimiter_.begin() + 4);
  size_bytes_ = static_cast<std::uint8_t>(4 + text.size());
}

std::optional<Boundary> Boundary::make(std::string_view text) noexcept {
  if (text.empty() || text.size() > max_bytes || text.back() == ' ') return std::nullopt;
  if (!std::all_of(text.begin(), text.end(), is_boundary)) return std::nullopt;
  return Boundary(text);
}

Boundary Boundary::random() {
  constexpr std::string_view digits = "0123456789abcdef";
  std::random_device source;
  std::string text = "skua-";
  for (int word = 0; word < 4; ++word) {
    std::uint32_t bits = source();
    for (int i = 0; i < 8; ++i, bits >>= 4U) text += digits[bits & 0xfU];
  }
  return Boundary(text);
}

Result<Boundary> parse_boundary(std::string_view content_type) noexcept {
  constexpr Error malformed(Errc::MalformedMultipart, "Content-Type");
  const auto media = parse_media_type(content_type);
  if (!media || !ascii::equals_ignoring_case(media->type, "multipart")) {
    return Error(Errc::UnsupportedMediaType, "Content-Type");
  }
  std::optional<Parameter> found;
  Parameters parameters(media->parameters);
  while (const auto parameter = parameters.next()) {
    if (!ascii::equals_ignoring_case(parameter->name, "boundary")) continue;
    if (found) return malformed;
    found = parameter;
  }
  if (!found || parameters.is_malformed()) return malformed;
  const auto boundary = Boundary::make(found->value);
  if (!boundary) return malformed;
  return *boundary;
}

}  // namespace skua::http
