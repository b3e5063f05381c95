// SPDX-License-Identifier: MIT
// In: the record of a response. Out: its line in the combined log format. Bytes that are not
// printable ASCII are written as \xHH; quotes and backslashes are escaped with a backslash.
#include "server/access_log.hpp"

#include <array>
#include <charconv>
#include <string_view>

namespace skua::server {
namespace {

constexpr std::size_t max_field_bytes = 2048;

void append_escaped(std::string& out, std::string_view text) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  for (const char c : text.substr(0, max_field_bytes)) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte >= 0x7F) {
      out.append("\\x");
      out += digits[byte >> 4U];
      out += digits[byte & 15U];
    } else {
      out += c;
    }
  }
}

void append_quoted(std::string& out, std::string_view text) {
  out.append(" \"");
  append_escaped(out, text.empty() ? "-" : text);
  out += '"';
}

void append_number(std::string& out, std::uint64_t value, std::size_t min_digits = 1) {
  char digits[20];
  const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
  const auto size = static_cast<std::size_t>(end - digits);
  if (size < min_digits) out.append(min_digits - size, '0');
  out.append(digits, size);
}

// Strips the port from `192.0.2.1:4711`, and also the brackets from `[2001:db8::1]:4711`.
std::string_view address_of(std::string_view peer) noexcept {
  if (peer.starts_with('[')) return peer.substr(1, peer.find(']') - 1);
  return peer.substr(0, peer.find(':'));
}

std::string_view version_name(Version version) noexcept {
  switch (version) {
    case Version::Http10: return " HTTP/1.0";
    case Version::Http11: return " HTTP/1.1";
    case Version::Http2: return " HTTP/2.0";
  }
  return {};
}

// `14/Nov/2023:22:13:20 +0000`
void append_time(std::string& out, std::chrono::sys_seconds now) {
  using namespace std::chrono;
  constexpr std::array<std::string_view, 12> months = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                       "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const auto day = floor<days>(now);
  const year_month_day date(day);
  const hh_mm_ss clock(now - day);
  append_number(out, static_cast<unsigned>(date.day()), 2);
  out.append("/").append(months[static_cast<unsigned>(date.month()) - 1]).append("/");
  append_number(out, static_cast<std::uint64_t>(static_cast<int>(date.year())), 4);
  const std::array<std::int64_t, 3> parts = {clock.hours().count(), clock.minutes().count(),
                                             clock.seconds().count()};
  for (const std::int64_t part : parts) {
    out += ':';
    append_number(out, static_cast<std::uint64_t>(part), 2);
  }
  out.append(" +0000");
}

}  // namespace

std::string combined_line(const RequestRecord& record, std::chrono::sys_seconds now) {
  std::string out;
  out.reserve(160 + record.target.size());
  const std::string_view address = address_of(record.peer);
  append_escaped(out, address.empty() ? "-" : address);
  out.append(" - - [");
  append_time(out, now);
  out.append("] \"");
  if (record.target.empty()) {
    out += '-';  // no request line could be parsed
  } else {
    out.append(name(record.method)).append(" ");
    append_escaped(out, record.target);
    out.append(version_name(record.version));
  }
  out.append("\" ");
  append_number(out, code(record.status));
  out += ' ';
  append_number(out, record.body_bytes);
  append_quoted(out, record.referer);
  append_quoted(out, record.user_agent);
  if (record.is_cut) out.append(" cut");
  out += '\n';
  return out;
}

}  // namespace skua::server
