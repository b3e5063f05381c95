// SPDX-License-Identifier: MIT
// In: a Content-Type, or a Content-Disposition after its first word. Out: its words and parameters,
// one at a time, as views. Nothing is copied; callers unescape quoted values.
#include "http/message/media_type.hpp"

#include <utility>

#include "base/ascii.hpp"

namespace skua::http {
namespace {

constexpr bool is_unquoted(char c) noexcept {
  return ascii::is_field_value(c) && !ascii::is_ows(c) && c != ';' && c != ',' && c != '"' &&
         c != '\\';
}

std::size_t token_size(std::string_view text) noexcept {
  std::size_t size = 0;
  while (size < text.size() && ascii::is_token(text[size])) ++size;
  return size;
}

std::string_view take(std::string_view& text, std::size_t size) noexcept {
  const std::string_view taken = text.substr(0, size);
  text.remove_prefix(size);
  return taken;
}

void skip_ows(std::string_view& text) noexcept {
  while (!text.empty() && ascii::is_ows(text.front())) text.remove_prefix(1);
}

// Takes the text after an opening quote, with the closing quote; returns nullopt if it is
// malformed or does not end.
std::optional<std::string_view> take_quoted_value(std::string_view& text) noexcept {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"') {
      const std::string_view value = take(text, i);
      text.remove_prefix(1);
      return value;
    }
    if (!ascii::is_field_value(text[i])) return std::nullopt;
    if (text[i] == '\\' && i + 1 < text.size() && (text[i + 1] == '"' || text[i + 1] == '\\')) ++i;
  }
  return std::nullopt;
}

std::optional<std::string_view> take_unquoted(std::string_view& text) noexcept {
  std::size_t size = 0;
  while (size < text.size() && is_unquoted(text[size])) ++size;
  if (size == 0) return std::nullopt;
  return take(text, size);
}

}  // namespace

std::optional<Parameter> Parameters::next() noexcept {
  std::string_view rest = std::exchange(rest_, {});
  is_malformed_ = true;  // until the parameter turns out well-formed
  skip_ows(rest);
  while (!rest.empty() && rest.front() == ';') {
    rest.remove_prefix(1);
    skip_ows(rest);
    if (rest.empty() || rest.front() == ';') continue;  // RFC 9110 §5.6.6: may be empty
    Parameter parameter{.name = take(rest, token_size(rest))};
    if (parameter.name.empty() || rest.empty() || rest.front() != '=') return std::nullopt;
    rest.remove_prefix(1);
    parameter.is_quoted = !rest.empty() && rest.front() == '"';
    if (parameter.is_quoted) rest.remove_prefix(1);
    const auto value = parameter.is_quoted ? take_quoted_value(rest) : take_unquoted(rest);
    if (!value) return std::nullopt;
    parameter.value = *value;
    skip_ows(rest);
    if (!rest.empty() && rest.front() != ';') return std::nullopt;
    rest_ = rest;
    is_malformed_ = false;
    return parameter;
  }
  is_malformed_ = !rest.empty();
  return std::nullopt;
}

bool MediaType::is(std::string_view wanted_type, std::string_view wanted_subtype) const noexcept {
  return ascii::equals_ignoring_case(type, wanted_type) &&
         ascii::equals_ignoring_case(subtype, wanted_subtype);
}

std::optional<MediaType> parse_media_type(std::string_view field) noexcept {
  std::string_view rest = ascii::trim_ows(field);
  MediaType media;
  media.type = take(rest, token_size(rest));
  if (media.type.empty() || rest.empty() || rest.front() != '/') return std::nullopt;
  rest.remove_prefix(1);
  media.subtype = take(rest, token_size(rest));
  if (media.subtype.empty()) return std::nullopt;
  skip_ows(rest);
  if (!rest.empty() && rest.front() != ';') return std::nullopt;
  media.parameters = rest;
  return media;
}

std::size_t unescape_quoted(std::string_view quoted, char* out) noexcept {
  std::size_t size = 0;
  for (std::size_t i = 0; i < quoted.size(); ++i) {
    const bool escapes = quoted[i] == '\\' && i + 1 < quoted.size() &&
                         (quoted[i + 1] == '"' || quoted[i + 1] == '\\');
    if (escapes) ++i;
    out[size++] = quoted[i];
  }
  return size;
}

}  // namespace skua::http
