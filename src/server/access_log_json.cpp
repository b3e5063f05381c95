// SPDX-License-Identifier: MIT
// In: the record of a response. Out: its line as a JSON object in printable ASCII: characters
// beyond it are written as \uHHHH, so that neither a terminal nor a reader of lines obeys one of
// them.
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "server/access_log.hpp"

namespace skua::server {
namespace {

struct Character {
  std::uint32_t code;
  std::size_t size_bytes;
};

// Returns the first character of a text; U+FFFD and one byte if that is not UTF-8. RFC 3629 §4
Character first_of(std::string_view text) noexcept {
  constexpr Character invalid{0xFFFD, 1};
  constexpr std::array<std::uint32_t, 5> least{0, 0, 0x80, 0x800, 0x10000};
  const auto lead = static_cast<unsigned char>(text.front());
  const std::size_t size = lead < 0xC0   ? 0
                           : lead < 0xE0 ? 2
                           : lead < 0xF0 ? 3
                           : lead < 0xF8 ? 4
                                         : 0;
  if (lead < 0x80) return {lead, 1};
  if (size == 0 || text.size() < size) return invalid;
  std::uint32_t code = lead & (0x7FU >> size);
  for (std::size_t i = 1; i < size; ++i) {
    const auto next = static_cast<unsigned char>(text[i]);
    if ((next & 0xC0U) != 0x80) return invalid;
    code = (code << 6U) | (next & 0x3FU);
  }
  const bool is_surrogate = code >= 0xD800 && code < 0xE000;
  if (code < least[size] || code > 0x10FFFF || is_surrogate) return invalid;
  return {code, size};
}

void append_unit(std::string& out, std::uint32_t unit) {
  constexpr std::string_view digits = "0123456789abcdef";
  out.append("\\u");
  for (const unsigned shift : {12U, 8U, 4U, 0U}) out += digits[(unit >> shift) & 15U];
}

void append_string(std::string& out, std::string_view text) {
  out += '"';
  text = text.substr(0, max_logged_bytes);
  while (!text.empty()) {
    const auto [code, size_bytes] = first_of(text);
    if (code == '"' || code == '\\') {
      out.append(1, '\\').append(1, static_cast<char>(code));
    } else if (code >= 0x20 && code < 0x7F) {
      out += static_cast<char>(code);
    } else if (code >= 0x10000) {
      append_unit(out, 0xD800 + ((code - 0x10000) >> 10U));
      append_unit(out, 0xDC00 + ((code - 0x10000) & 0x3FFU));
    } else {
      append_unit(out, code);
    }
    text.remove_prefix(size_bytes);
  }
  out += '"';
}

// `key` has its quotes, and the comma before it.
void append_text(std::string& out, std::string_view key, std::string_view value) {
  if (value.empty()) return;
  out.append(key).append(":");
  append_string(out, value);
}

void append_count(std::string& out, std::string_view key, std::uint64_t value) {
  out.append(key).append(":");
  append_number(out, value);
}

}  // namespace

std::string json_line(const RequestRecord& record, LogTime now) {
  std::string out = "{\"time\":\"";
  out.reserve(320 + record.target.size());
  append_timestamp(out, now);
  out += '"';
  const std::string_view client = client_of(record);
  append_text(out, ",\"address\"", client);
  if (client != address_of(record.peer)) append_text(out, ",\"peer\"", record.peer);
  append_text(out, ",\"user\"", record.user);
  if (!record.target.empty()) {  // else no request line could be parsed
    append_text(out, ",\"method\"", name(record.method));
    append_text(out, ",\"target\"", record.target);
    append_text(out, ",\"protocol\"", version_name(record.version));
  }
  append_count(out, ",\"status\"", code(record.status));
  append_count(out, ",\"bytes\"", record.body_bytes);
  out.append(",\"seconds\":");
  append_seconds(out, record.duration);
  append_text(out, ",\"referer\"", record.referer);
  append_text(out, ",\"user_agent\"", record.user_agent);
  append_text(out, ",\"request_id\"", record.request_id);
  if (record.error != Errc::None) append_text(out, ",\"error\"", message(record.error));
  if (record.is_cut) out.append(",\"cut\":true");
  out.append("}\n");
  return out;
}

}  // namespace skua::server
