// SPDX-License-Identifier: MIT
// In: the value of ETag, If-Match, If-None-Match or If-Range. Out: tags as views into it.
// A tag may contain commas, so a list is read tag by tag and never split at commas first.
#include "http/entity_tag.hpp"

#include "base/ascii.hpp"

namespace skua::http {
namespace {

// RFC 9110 §8.8.3: etagc = %x21 / %x23-7E / obs-text
constexpr bool is_etagc(char c) noexcept {
  const auto byte = static_cast<unsigned char>(c);
  return byte == 0x21 || (byte >= 0x23 && byte != 0x7F);
}

// Takes a tag off the front of `text`.
std::optional<EntityTag> take_tag(std::string_view& text) noexcept {
  EntityTag tag;
  std::string_view rest = text;
  if (rest.starts_with("W/")) {  // case-sensitive: RFC 9110 §8.8.3
    tag.weak = true;
    rest.remove_prefix(2);
  }
  if (rest.empty() || rest.front() != '"') return std::nullopt;
  rest.remove_prefix(1);
  std::size_t length = 0;
  while (length < rest.size() && is_etagc(rest[length])) ++length;
  if (length == rest.size() || rest[length] != '"') return std::nullopt;
  tag.opaque = rest.substr(0, length);
  text = rest.substr(length + 1);
  return tag;
}

}  // namespace

std::optional<EntityTag> parse_entity_tag(std::string_view text) noexcept {
  const std::optional<EntityTag> tag = take_tag(text);
  return text.empty() ? tag : std::nullopt;
}

std::optional<EntityTag> EntityTagList::next() noexcept {
  ascii::skip_ows(rest_);
  while (!rest_.empty() && rest_.front() == ',') {
    rest_.remove_prefix(1);
    ascii::skip_ows(rest_);
  }
  const std::optional<EntityTag> tag = take_tag(rest_);
  ascii::skip_ows(rest_);
  if (!tag || (!rest_.empty() && rest_.front() != ',')) {
    rest_ = {};
    return std::nullopt;
  }
  return tag;
}

}  // namespace skua::http
