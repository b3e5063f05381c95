// SPDX-License-Identifier: MIT
// In: the record of a response. Out: its line in the combined log format. Bytes that are not
// printable ASCII are written as \xHH; quotes and backslashes are escaped with a backslash.
#include "server/access_log.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>
#include <utility>

namespace skua::server {
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
  if (record.target.empty()) {
    out += '-';  // no request line could be parsed
  } else {
    out.append(name(record.method)).append(" ");
    append_escaped(out, record.target);
    out.append(" ").append(version_name(record.version));
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

// Sorted as `--help` and errors list them.
constexpr std::array words{
    Word{"address", [](std::string& out, const RequestRecord& record,
                       LogTime) { append_or_dash(out, client_of(record)); }},
    Word{"bytes", [](std::string& out, const RequestRecord& record,
                     LogTime) { append_number(out, record.body_bytes); }},
    Word{"method",
         [](std::string& out, const RequestRecord& record, LogTime) {
           append_or_dash(out, record.target.empty() ? "" : name(record.method));
         }},
    Word{"peer", [](std::string& out, const RequestRecord& record,
                    LogTime) { append_or_dash(out, record.peer); }},
    Word{"protocol",
         [](std::string& out, const RequestRecord& record, LogTime) {
           append_or_dash(out, record.target.empty() ? "" : version_name(record.version));
         }},
    Word{"referer", [](std::string& out, const RequestRecord& record,
                       LogTime) { append_or_dash(out, record.referer); }},
    Word{"seconds", [](std::string& out, const RequestRecord& record,
                       LogTime) { append_seconds(out, record.duration); }},
    Word{"status", [](std::string& out, const RequestRecord& record,
                      LogTime) { append_number(out, code(record.status)); }},
    Word{"target", [](std::string& out, const RequestRecord& record,
                      LogTime) { append_or_dash(out, record.target); }},
    Word{"time",
         [](std::string& out, const RequestRecord&, LogTime now) { append_timestamp(out, now); }},
    Word{"user", [](std::string& out, const RequestRecord& record,
                    LogTime) { append_user(out, record.user); }},
    Word{"user_agent", [](std::string& out, const RequestRecord& record,
                          LogTime) { append_or_dash(out, record.user_agent); }},
};

constexpr bool is_word_letter(char c) noexcept { return (c >= 'a' && c <= 'z') || c == '_'; }

Problem pattern_problem(std::string text) {
  text += "; the words are";
  for (const Word& word : words) text.append(" $").append(word.name);
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

}  // namespace skua::server
