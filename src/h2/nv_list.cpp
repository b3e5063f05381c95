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

/// Whether `trailers` is in the list. RFC 9110 §10.1.4
bool says_trailers(std::string_view list) noexcept {
  while (!list.empty()) {
    const std::size_t end = list.find(',');
    const std::string_view item = list.substr(0, end);
    if (ascii::equals_ignoring_case(ascii::trim_ows(item), "trailers")) return true;
    list = end == std::string_view::npos ? std::string_view() : list.substr(end + 1);
  }
  return false;
}

/// Each line's name, and its value without white space around it (RFC 9113 §8.2.1).
template <class Use>
void for_each_line(std::string_view lines, const Use& use) {
  while (!lines.empty()) {
    const std::size_t end = lines.find("\r\n");
    const std::string_view line = lines.substr(0, end);
    lines = end == std::string_view::npos ? std::string_view() : lines.substr(end + 2);
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    use(line.substr(0, colon), ascii::trim_ows(line.substr(colon + 1)));
  }
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

void NvList::append_lines(std::string& out) const {
  for (const nghttp2_nv& field : fields_) {
    if (field.name[0] == ':') continue;
    out.append(reinterpret_cast<const char*>(field.name), field.namelen).append(": ");
    out.append(reinterpret_cast<const char*>(field.value), field.valuelen).append("\r\n");
  }
}

std::string_view NvList::keep_number(std::uint64_t number) {
  char digits[longest_number];
  const char* const end = std::to_chars(digits, digits + longest_number, number).ptr;
  return keep({digits, static_cast<std::size_t>(end - digits)});
}

void NvList::add_line(std::string_view name, std::string_view value) {
  const std::size_t begin = texts_.size();
  for (const char c : name) texts_.push_back(ascii::to_lower(c));
  add(std::string_view(texts_).substr(begin), value);
}

void NvList::add_lines(std::string_view lines) {
  for_each_line(lines, [this](std::string_view name, std::string_view value) {
    if (!is_connection_specific(name)) add_line(name, value);
  });
}

void NvList::assign(const ResponseHead& head) {
  start(status_bytes + longest_number + head.standard_fields.size() + head.fields.size());
  add(":status", keep_number(code(head.status)));
  add_lines(head.standard_fields);
  if (!head.content_type.empty()) add("content-type", head.content_type);
  if (head.length_bytes) add("content-length", keep_number(*head.length_bytes));
  add_lines(head.fields);
}

void NvList::assign(const RequestLines& head) {
  start(longest_number + head.fields.size());
  add(":method", skua::name(head.method));
  add(":scheme", head.scheme);
  add(":authority", head.authority);
  add(":path", head.path);
  if (head.length_bytes) add("content-length", keep_number(*head.length_bytes));
  for_each_line(head.fields, [this](std::string_view name, std::string_view value) {
    if (!is_connection_specific(name)) add_request_line(name, value);
  });
}

void NvList::add_request_line(std::string_view name, std::string_view value) {
  switch (http::find_field_name(name)) {
    case http::FieldName::Host:           // is `:authority`
    case http::FieldName::ContentLength:  // is ours to write
      return;
    case http::FieldName::Te:
      // RFC 9113 §8.2.2: nothing else may be said here.
      if (says_trailers(value)) add("te", "trailers");
      return;
    case http::FieldName::Cookie:
      while (!value.empty()) {
        const std::size_t end = value.find("; ");
        if (end != 0) add("cookie", value.substr(0, end));
        value = end == std::string_view::npos ? std::string_view() : value.substr(end + 2);
      }
      return;
    default: add_line(name, value);
  }
}

void NvList::assign(std::string_view lines) {
  start(lines.size());
  add_lines(lines);
}

}  // namespace skua::h2

#endif
