// SPDX-License-Identifier: MIT
// `Name: value\r\n` lines in, names and values for HPACK out.
#if defined(SKUA_HAS_HTTP2)

#include "h2/nv_list.hpp"

#include <charconv>

#include "base/ascii.hpp"
#include "http/field.hpp"

namespace skua::h2 {
namespace {

constexpr std::size_t status_bytes = 3;
constexpr std::size_t longest_number = 20;

/// RFC 9113 §8.2.2: what is said about an HTTP/1 connection has no place here.
bool is_connection_specific(std::string_view name) noexcept {
  switch (http::find_field_name(name)) {
    case http::FieldName::Connection:
    case http::FieldName::KeepAlive:
    case http::FieldName::ProxyConnection:
    case http::FieldName::TransferEncoding:
    case http::FieldName::Upgrade: return true;
    default: return false;
  }
}

std::uint8_t* bytes_of(std::string_view text) noexcept {
  // nghttp2 does not write to them.
  return reinterpret_cast<std::uint8_t*>(const_cast<char*>(text.data()));
}

}  // namespace

void NvList::start(std::size_t text_bytes) {
  fields_.clear();
  texts_.clear();
  texts_.reserve(text_bytes);
}

std::string_view NvList::keep(std::string_view text) {
  const std::size_t begin = texts_.size();
  texts_.append(text);
  return std::string_view(texts_).substr(begin);
}

void NvList::add(std::string_view name, std::string_view value) {
  fields_.push_back({.name = bytes_of(name),
                     .value = bytes_of(value),
                     .namelen = name.size(),
                     .valuelen = value.size(),
                     .flags = NGHTTP2_NV_FLAG_NONE});
}

void NvList::add_lines(std::string_view lines) {
  while (!lines.empty()) {
    const std::size_t end = lines.find("\r\n");
    const std::string_view line = lines.substr(0, end);
    lines = end == std::string_view::npos ? std::string_view() : lines.substr(end + 2);
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos || is_connection_specific(line.substr(0, colon))) continue;
    const std::size_t begin = texts_.size();
    for (const char c : line.substr(0, colon)) texts_.push_back(ascii::to_lower(c));
    // RFC 9113 §8.2.1: no white space around a value.
    add(std::string_view(texts_).substr(begin), ascii::trim_ows(line.substr(colon + 1)));
  }
}

void NvList::assign(const ResponseHead& head) {
  start(status_bytes + longest_number + head.standard_fields.size() + head.fields.size());
  char digits[longest_number];
  const auto number = [&](std::uint64_t value) {
    const char* const end = std::to_chars(digits, digits + longest_number, value).ptr;
    return keep({digits, static_cast<std::size_t>(end - digits)});
  };
  add(":status", number(code(head.status)));
  add_lines(head.standard_fields);
  if (!head.content_type.empty()) add("content-type", head.content_type);
  if (head.length_bytes) add("content-length", number(*head.length_bytes));
  add_lines(head.fields);
}

void NvList::assign(std::string_view lines) {
  start(lines.size());
  add_lines(lines);
}

}  // namespace skua::h2

#endif
