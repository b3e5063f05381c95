// SPDX-License-Identifier: MIT
// In: a format, and what a peer may choose of a request, each on a line. Checked: a record is one
// line of printable ASCII whatever the peer sent, of a bounded size; JSON is well-formed; and a
// format is what a slow and simple replacement of its words makes of it.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "operations/log_line.hpp"

namespace {

using skua::RequestRecord;
using skua::operations::LogPattern;
using skua::operations::LogTime;

void check(bool holds) {
  if (!holds) std::abort();
}

bool is_printable(char c) { return c >= ' ' && c <= '~'; }

void check_line(std::string_view line) {
  // Every byte of six texts may become `\u1234`.
  check(line.size() < 6 * 6 * skua::operations::max_logged_bytes + 1000);
  check(line.ends_with('\n') &&
        std::all_of(line.begin(), line.end() - 1, [](char c) { return is_printable(c); }));
}

// Reads `"..."` of a JSON text, and removes it.
void take_string(std::string_view& text) {
  check(text.starts_with('"'));
  std::size_t at = 1;
  while (text.at(at) != '"') {
    if (text[at] == '\\' && text.at(at + 1) == 'u') {
      check(text.substr(at + 2, 4).find_first_not_of("0123456789abcdef") == text.npos);
      at += 6;
    } else if (text[at] == '\\') {
      check(text.at(at + 1) == '"' || text[at + 1] == '\\');
      at += 2;
    } else {
      ++at;
    }
  }
  text.remove_prefix(at + 1);
}

void check_json(std::string_view line) {
  check_line(line);
  check(line.starts_with('{') && line.ends_with("}\n"));
  line = line.substr(1, line.size() - 3);
  for (bool is_first = true; !line.empty(); is_first = false) {
    if (!is_first) {
      check(line.starts_with(','));
      line.remove_prefix(1);
    }
    take_string(line);
    check(line.starts_with(':'));
    line.remove_prefix(1);
    if (line.starts_with('"')) {
      take_string(line);
    } else {
      const std::string_view word = line.substr(0, line.find(','));
      check(word == "true" ||
            (!word.empty() && word.find_first_not_of("0123456789.") == word.npos));
      line.remove_prefix(word.size());
    }
  }
}

std::string value_of(std::string_view word, const RequestRecord& record, LogTime now) {
  std::string out;
  const auto text = [&](std::string_view value) {
    skua::operations::append_escaped(out, value.empty() ? "-" : value);
  };
  const bool is_read = !record.target.empty();
  if (word == "address" || word == "remote_addr") text(skua::operations::address_of(record.peer));
  if (word == "bytes" || word == "body_bytes_sent") out = std::to_string(record.body_bytes);
  if (word == "method" || word == "request_method") text(is_read ? skua::name(record.method) : "");
  if (word == "peer") text(record.peer);
  if (word == "protocol" || word == "server_protocol")
    text(is_read ? skua::operations::version_name(record.version) : "");
  if (word == "referer" || word == "http_referer") text(record.referer);
  if (word == "seconds" || word == "request_time")
    skua::operations::append_seconds(out, record.duration);
  if (word == "status") out = std::to_string(skua::code(record.status));
  if (word == "target" || word == "request_uri") text(record.target);
  if (word == "time") skua::operations::append_timestamp(out, now);
  if (word == "user_agent" || word == "http_user_agent") text(record.user_agent);
  if (word == "cipher" || word == "ssl_cipher") text(record.tls->cipher);
  if (word == "tls" || word == "ssl_protocol") out = "TLSv1.3";
  if (word == "connection") out = std::to_string(record.connection_id);
  if (word == "end") text(skua::operations::end_text(record.end));
  if (word == "first_byte") skua::operations::append_seconds(out, record.first_byte);
  if (word == "received" || word == "request_length") out = std::to_string(record.received_bytes);
  if (word == "request_id") text(record.request_id);
  if (word == "route") text(record.route);
  if (word == "sent" || word == "bytes_sent") out = std::to_string(record.sent_bytes);
  if (word == "time_local") skua::operations::append_log_time(out, now);
  if (word == "request" && !is_read) out = "-";
  if (word == "request" && is_read) {
    out = "GET ";
    text(record.target);
    out += " HTTP/1.1";
  }
  if (word != "user" && word != "remote_user") return out;
  text(record.user);
  for (std::size_t at = 0; (at = out.find(' ', at)) != out.npos;) out.replace(at, 1, "\\x20");
  return out;
}

std::optional<std::string> expected(std::string_view format, const RequestRecord& record,
                                    LogTime now) {
  std::string out;
  bool has_word = false;
  for (std::size_t at = 0; at < format.size(); ++at) {
    const auto octet = static_cast<unsigned char>(format[at]);
    if ((octet < 0x20 && octet != '\t') || octet == 0x7f) return std::nullopt;
    if (octet != '$') {
      out += format[at];
    } else if (format.substr(at + 1).starts_with('$')) {
      out += '$';
      ++at;
    } else {
      const std::size_t end =
          std::min(format.find_first_not_of("abcdefghijklmnopqrstuvwxyz_", at + 1), format.size());
      const std::string value = value_of(format.substr(at + 1, end - at - 1), record, now);
      if (value.empty()) return std::nullopt;
      has_word = true;
      out += value;
      at = end - 1;
    }
  }
  return has_word ? std::optional(out + "\n") : std::nullopt;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  const auto take_line = [&rest] {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    return line;
  };
  const std::string_view format = take_line();
  const skua::TlsInfo tls{.cipher = "TLS_AES_128_GCM_SHA256"};
  RequestRecord record{.peer = "[2001:db8::1]:4711",
                       .target = take_line(),
                       .referer = take_line(),
                       .body_bytes = size,
                       .is_cut = size % 2 == 0,
                       .end = static_cast<skua::ResponseEnd>(size % 5),
                       .duration = std::chrono::microseconds(size),
                       .tls = &tls};
  record.user = take_line();
  record.route = take_line();
  record.request_id = take_line();
  record.user_agent = rest;
  const LogTime now{std::chrono::milliseconds(1'700'000'000'123)};
  check_line(skua::operations::combined_line(record, now));
  check_json(skua::operations::json_line(record, now));
  const auto pattern = LogPattern::parse(format);
  const auto line = expected(format, record, now);
  check(pattern.has_value() == line.has_value());
  if (pattern) check(pattern->line(record, now) == *line);
  return 0;
}
