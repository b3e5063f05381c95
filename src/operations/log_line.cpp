// SPDX-License-Identifier: MIT
// In: the record of a response. Out: its line in the combined log format. Bytes that are not
// printable ASCII are written as \xHH; quotes and backslashes are escaped with a backslash.
#include "operations/log_line.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>
#include <utility>

namespace skua::operations {
namespace {

void append_quoted(std::string& out, std::string_view text) {
  out.append(" \"");
  append_escaped(out, text.empty() ? "-" : text);
  out += '"';
}

void append_user(std::string& out, std::string_view user) {
  if (user.empty()) user = "-";
  // A space would look like the end of the name.
  const std::size_t begin = out.size();
  append_escaped(out, user);
  for (std::size_t at = begin; (at = out.find(' ', at)) != out.npos;) out.replace(at, 1, "\\x20");
}

// `GET / HTTP/1.1`
void append_request(std::string& out, const RequestRecord& record) {
  if (record.target.empty()) return void(out += '-');  // no request line could be parsed
  append_escaped(out, method_name_of(record));
  out.append(" ");
  append_escaped(out, record.target);
  out.append(" ").append(version_name(record.version));
}

struct DateParts {
  std::chrono::year_month_day date;
  std::chrono::hh_mm_ss<std::chrono::milliseconds> clock;
};

DateParts parts_of(LogTime now) noexcept {
  const auto day = std::chrono::floor<std::chrono::days>(now);
  return {std::chrono::year_month_day(day), std::chrono::hh_mm_ss(now - day)};
}

// `22:13:20`
void append_clock(std::string& out, const DateParts& parts) {
  append_number(out, static_cast<std::uint64_t>(parts.clock.hours().count()), 2);
  out += ':';
  append_number(out, static_cast<std::uint64_t>(parts.clock.minutes().count()), 2);
  out += ':';
  append_number(out, static_cast<std::uint64_t>(parts.clock.seconds().count()), 2);
}

}  // namespace

void append_escaped(std::string& out, std::string_view text) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  for (const char c : text.substr(0, max_logged_bytes)) {
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

void append_number(std::string& out, std::uint64_t value, std::size_t min_digits) {
  char digits[20];
  const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
  const auto size = static_cast<std::size_t>(end - digits);
  if (size < min_digits) out.append(min_digits - size, '0');
  out.append(digits, size);
}

void append_timestamp(std::string& out, LogTime now) {
  const DateParts parts = parts_of(now);
  append_number(out, static_cast<std::uint64_t>(static_cast<int>(parts.date.year())), 4);
  out += '-';
  append_number(out, static_cast<unsigned>(parts.date.month()), 2);
  out += '-';
  append_number(out, static_cast<unsigned>(parts.date.day()), 2);
  out += 'T';
  append_clock(out, parts);
  out += '.';
  append_number(out, static_cast<std::uint64_t>(parts.clock.subseconds().count()), 3);
  out += 'Z';
}

void append_log_time(std::string& out, LogTime now) {
  constexpr std::array<std::string_view, 12> months = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                       "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const DateParts parts = parts_of(now);
  append_number(out, static_cast<unsigned>(parts.date.day()), 2);
  out.append("/").append(months[static_cast<unsigned>(parts.date.month()) - 1]).append("/");
  append_number(out, static_cast<std::uint64_t>(static_cast<int>(parts.date.year())), 4);
  out += ':';
  append_clock(out, parts);
  out.append(" +0000");
}

void append_seconds(std::string& out, Duration time) {
  const auto all = std::chrono::floor<std::chrono::microseconds>(std::max(time, Duration::zero()));
  const auto count = static_cast<std::uint64_t>(all.count());
  append_number(out, count / 1'000'000);
  out += '.';
  append_number(out, count % 1'000'000, 6);
}

std::string_view address_of(std::string_view peer) noexcept {
  if (peer.starts_with('[')) return peer.substr(1, peer.find(']') - 1);
  return peer.substr(0, peer.find(':'));
}

std::string_view method_name_of(const RequestRecord& record) noexcept {
  return record.method_name.empty() ? name(record.method) : record.method_name;
}

std::string_view client_of(const RequestRecord& record) noexcept {
  return record.client.empty() ? address_of(record.peer) : record.client;
}

std::string_view version_name(Version version) noexcept {
  switch (version) {
    case Version::Http10: return "HTTP/1.0";
    case Version::Http11: return "HTTP/1.1";
    case Version::Http2: return "HTTP/2.0";
  }
  return {};
}

std::string_view version_name(TlsVersion version) noexcept {
  return version == TlsVersion::Tls12 ? "TLSv1.2" : "TLSv1.3";
}

std::string_view end_text(ResponseEnd end) noexcept {
  switch (end) {
    case ResponseEnd::Complete: return "";
    case ResponseEnd::PeerLeft: return "peer left";
    case ResponseEnd::TimedOut: return "timed out";
    case ResponseEnd::Failed: return "failed";
    case ResponseEnd::Stopped: return "stopped";
  }
  return "";
}

std::string combined_line(const RequestRecord& record, LogTime now) {
  std::string out;
  out.reserve(160 + record.target.size());
  const std::string_view address = client_of(record);
  append_escaped(out, address.empty() ? "-" : address);
  out.append(" - ");
  append_user(out, record.user);
  out.append(" [");
  append_log_time(out, now);
  out.append("] \"");
  append_request(out, record);
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

// In: the same. Out: the line that a pattern describes.

namespace {

using Append = void (*)(std::string& out, const RequestRecord& record, LogTime now);

struct Word {
  std::string_view name;
  Append append;
};

void append_or_dash(std::string& out, std::string_view text) {
  append_escaped(out, text.empty() ? "-" : text);
}

void append_method(std::string& out, const RequestRecord& record, LogTime) {
  append_or_dash(out, record.target.empty() ? "" : method_name_of(record));
}
void append_protocol(std::string& out, const RequestRecord& record, LogTime) {
  append_or_dash(out, record.target.empty() ? "" : version_name(record.version));
}
void append_address(std::string& out, const RequestRecord& record, LogTime) {
  append_or_dash(out, client_of(record));
}
void append_cipher(std::string& out, const RequestRecord& record, LogTime) {
  append_or_dash(out, record.tls != nullptr ? std::string_view(record.tls->cipher) : "");
}
void append_tls(std::string& out, const RequestRecord& record, LogTime) {
  append_or_dash(out, record.tls != nullptr ? version_name(record.tls->version) : "");
}
template <auto Member>
void append_count(std::string& out, const RequestRecord& record, LogTime) {
  append_number(out, record.*Member);
}
template <auto Member>
void append_text(std::string& out, const RequestRecord& record, LogTime) {
  append_or_dash(out, record.*Member);
}
template <auto Member>
void append_time(std::string& out, const RequestRecord& record, LogTime) {
  append_seconds(out, record.*Member);
}
void append_status(std::string& out, const RequestRecord& record, LogTime) {
  append_number(out, code(record.status));
}
void append_name(std::string& out, const RequestRecord& record, LogTime) {
  append_user(out, record.user);
}

// Sorted as `--help` and errors list them; then those of nginx.
constexpr std::array words{
    Word{"address", append_address},
    Word{"bytes", append_count<&RequestRecord::body_bytes>},
    Word{"cipher", append_cipher},
    Word{"connection", append_count<&RequestRecord::connection_id>},
    Word{"end", [](std::string& out, const RequestRecord& record,
                   LogTime) { append_or_dash(out, end_text(record.end)); }},
    Word{"first_byte", append_time<&RequestRecord::first_byte>},
    Word{"method", append_method},
    Word{"peer", append_text<&RequestRecord::peer>},
    Word{"protocol", append_protocol},
    Word{"received", append_count<&RequestRecord::received_bytes>},
    Word{"referer", append_text<&RequestRecord::referer>},
    Word{"request_id", append_text<&RequestRecord::request_id>},
    Word{"route", append_text<&RequestRecord::route>},
    Word{"seconds", append_time<&RequestRecord::duration>},
    Word{"sent", append_count<&RequestRecord::sent_bytes>},
    Word{"status", append_status},
    Word{"target", append_text<&RequestRecord::target>},
    Word{"time",
         [](std::string& out, const RequestRecord&, LogTime now) { append_timestamp(out, now); }},
    Word{"tls", append_tls},
    Word{"user", append_name},
    Word{"user_agent", append_text<&RequestRecord::user_agent>},
    Word{"body_bytes_sent", append_count<&RequestRecord::body_bytes>},
    Word{"bytes_sent", append_count<&RequestRecord::sent_bytes>},
    Word{"http_referer", append_text<&RequestRecord::referer>},
    Word{"http_user_agent", append_text<&RequestRecord::user_agent>},
    Word{"remote_addr", append_address},
    Word{"remote_user", append_name},
    Word{"request", [](std::string& out, const RequestRecord& record,
                       LogTime) { append_request(out, record); }},
    Word{"request_length", append_count<&RequestRecord::received_bytes>},
    Word{"request_method", append_method},
    Word{"request_time", append_time<&RequestRecord::duration>},
    Word{"request_uri", append_text<&RequestRecord::target>},
    Word{"server_protocol", append_protocol},
    Word{"ssl_cipher", append_cipher},
    Word{"ssl_protocol", append_tls},
    Word{"time_local",
         [](std::string& out, const RequestRecord&, LogTime now) { append_log_time(out, now); }},
};
constexpr std::size_t own_words = 21;
static_assert(words[own_words - 1].name == "user_agent");

constexpr bool is_word_letter(char c) noexcept { return (c >= 'a' && c <= 'z') || c == '_'; }

Problem pattern_problem(std::string text) {
  text += "; the words are";
  for (std::size_t i = 0; i < own_words; ++i) text.append(" $").append(words[i].name);
  text += ", and those of nginx such as $remote_addr";
  return {Error(Errc::MalformedText, "log format"), std::move(text)};
}

}  // namespace

Result<LogPattern, Problem> LogPattern::parse(std::string_view text) {
  LogPattern made;
  std::string literal;
  while (!text.empty()) {
    const char c = text.front();
    text.remove_prefix(1);
    const auto byte = static_cast<unsigned char>(c);
    if ((byte < 0x20 && c != '\t') || byte == 0x7F) {
      return pattern_problem("a log format has no control characters but tabs");
    }
    if (c != '$' || text.starts_with('$')) {
      if (c == '$') text.remove_prefix(1);
      literal += c;
      continue;
    }
    const auto end = std::ranges::find_if_not(text, is_word_letter);
    const std::string_view name(text.begin(), end);
    const auto* const word = std::ranges::find(words, name, &Word::name);
    if (word == words.end()) {
      return pattern_problem("a log format has no word $" + std::string(name));
    }
    made.parts_.push_back(
        {std::exchange(literal, {}), static_cast<std::size_t>(word - words.begin())});
    text.remove_prefix(name.size());
  }
  if (made.parts_.empty()) return pattern_problem("a log format needs words such as $status");
  made.after_ = std::move(literal);
  return made;
}

std::string LogPattern::line(const RequestRecord& record, LogTime now) const {
  std::string out;
  for (const Part& part : parts_) {
    out += part.before;
    words[part.word].append(out, record, now);
  }
  out.append(after_).append("\n");
  return out;
}

}  // namespace skua::operations
