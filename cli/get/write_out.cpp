// SPDX-License-Identifier: MIT
// In: a format with the words of curl's --write-out, and the facts about a request. Out: a text.
#include "get/write_out.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <iterator>

#include "base/ascii.hpp"
#include "base/text/number_text.hpp"
#include "files/listing/escape.hpp"
#include "get/response_printer.hpp"

namespace skua::cli {
namespace {

using Facts = RequestFacts;

constexpr std::string_view header_word = "header{";

std::string seconds(const std::optional<Duration>& time) {
  return base::fixed_text(std::chrono::duration<double>(time.value_or(Duration(0))).count(), 6);
}

std::string status_text(const Facts& facts) {
  std::array<char, 16> text;
  std::snprintf(text.data(), text.size(), "%03u", facts.status.value_or(0));
  return text.data();
}

std::string field_of(const Facts& facts, std::string_view name) {
  for (const auto& [known, value] : facts.fields) {
    if (ascii::equals_ignoring_case(known, name)) return value;
  }
  return {};
}

// All fields by their names in lower case, each with an array of its values.
std::string fields_json(const Facts& facts) {
  std::vector<std::string> names;
  std::string text = "{";
  for (const auto& [name, value] : facts.fields) {
    std::string lower = name;
    for (char& letter : lower) letter = ascii::to_lower(letter);
    if (std::ranges::find(names, lower) != names.end()) continue;
    text.append(names.empty() ? "" : ",");
    files::append_json(text, lower);
    std::string values;
    for (const auto& [other, its_value] : facts.fields) {
      if (!ascii::equals_ignoring_case(other, name)) continue;
      values.append(values.empty() ? "" : ",");
      files::append_json(values, its_value);
    }
    text.append(":[").append(values).append("]");
    names.push_back(std::move(lower));
  }
  return text + "}";
}

// `192.0.2.1:443`, `[::1]:443`, or the path of a Unix socket.
std::pair<std::string, std::string> split_address(const std::string& address) {
  const std::size_t colon = address.rfind(':');
  if (colon == address.npos || address.starts_with("unix:")) return {"", "0"};
  const bool is_bracketed = address.starts_with('[');
  const std::string host = is_bracketed ? address.substr(1, colon - 2) : address.substr(0, colon);
  return {host, address.substr(colon + 1)};
}

std::string bytes_per_second(std::uint64_t bytes, const Facts& facts) {
  const double time = std::chrono::duration<double>(facts.total).count();
  return std::to_string(time > 0 ? static_cast<std::uint64_t>(static_cast<double>(bytes) / time)
                                 : 0);
}

struct Word {
  std::string_view name;
  std::string (*text)(const Facts& facts);
};

constexpr Word known_words[] = {
    {"content_type", [](const Facts& facts) { return field_of(facts, "Content-Type"); }},
    {"errormsg", [](const Facts& facts) { return harmless(facts.error); }},
    {"exitcode", [](const Facts& facts) { return std::to_string(facts.exit_code); }},
    {"filename_effective", [](const Facts& facts) { return facts.file; }},
    {"header_json", fields_json},
    {"http_code", status_text},
    {"http_version",
     [](const Facts& facts) { return facts.version.empty() ? std::string("0") : facts.version; }},
    {"method",
     [](const Facts& facts) {
       return facts.hops.empty() ? facts.method : facts.hops.back().method;
     }},
    {"num_redirects", [](const Facts& facts) { return std::to_string(facts.redirects); }},
    {"num_retries", [](const Facts& facts) { return std::to_string(facts.retries); }},
    {"remote_ip", [](const Facts& facts) { return split_address(facts.remote_address).first; }},
    {"remote_port", [](const Facts& facts) { return split_address(facts.remote_address).second; }},
    {"response_code", status_text},
    {"size_download",
     [](const Facts& facts) { return std::to_string(facts.received_content_bytes); }},
    {"size_header", [](const Facts& facts) { return std::to_string(facts.received_head_bytes); }},
    {"size_request", [](const Facts& facts) { return std::to_string(facts.sent_head_bytes); }},
    {"size_upload", [](const Facts& facts) { return std::to_string(facts.sent_content_bytes); }},
    {"speed_download",
     [](const Facts& facts) { return bytes_per_second(facts.received_content_bytes, facts); }},
    {"speed_upload",
     [](const Facts& facts) { return bytes_per_second(facts.sent_content_bytes, facts); }},
    {"time_appconnect", [](const Facts& facts) { return seconds(facts.timings.secured); }},
    {"time_connect", [](const Facts& facts) { return seconds(facts.timings.connected); }},
    {"time_namelookup", [](const Facts& facts) { return seconds(facts.timings.resolved); }},
    {"time_pretransfer", [](const Facts& facts) { return seconds(facts.timings.sent); }},
    {"time_starttransfer", [](const Facts& facts) { return seconds(facts.timings.head); }},
    {"time_total", [](const Facts& facts) { return seconds(facts.total); }},
    {"url", [](const Facts& facts) { return facts.url; }},
    {"url_effective",
     [](const Facts& facts) { return facts.final_url.empty() ? facts.url : facts.final_url; }},
};

const Word* find_word(std::string_view name) {
  const auto* const found = std::ranges::find(known_words, name, &Word::name);
  return found == std::end(known_words) ? nullptr : found;
}

/// A piece of a format.
struct Piece {
  enum class Kind : std::uint8_t { Text, Word, Header, Open };
  Kind kind = Kind::Text;
  std::string_view text{};  ///< the characters, or the name
};

// Takes the piece at the front. A `%` or `\` that begins nothing is a character.
Piece take_piece(std::string_view& format) {
  const auto take = [&format](std::size_t count) {
    const std::string_view taken = format.substr(0, count);
    format.remove_prefix(taken.size());
    return taken;
  };
  const auto take_name = [&](std::size_t begin, Piece::Kind kind) {
    const std::size_t end = format.find('}');
    if (end == format.npos) return Piece{Piece::Kind::Open, take(format.size())};
    return Piece{kind, take(end + 1).substr(begin, end - begin)};
  };
  if (format.starts_with("%{")) return take_name(2, Piece::Kind::Word);
  if (format.substr(1).starts_with(header_word) && format.front() == '%') {
    return take_name(1 + header_word.size(), Piece::Kind::Header);
  }
  if (format.starts_with("%%")) return {Piece::Kind::Text, take(2).substr(1)};
  if (format.front() != '\\') return {Piece::Kind::Text, take(1)};
  constexpr std::array<std::pair<std::string_view, std::string_view>, 4> escapes = {
      {{"\\n", "\n"}, {"\\r", "\r"}, {"\\t", "\t"}, {"\\\\", "\\"}}};
  for (const auto& [escape, character] : escapes) {
    if (!format.starts_with(escape)) continue;
    take(escape.size());
    return {Piece::Kind::Text, character};
  }
  return {Piece::Kind::Text, take(1)};
}

}  // namespace

std::string write_out_problem(const std::string& format) {
  std::string_view rest = format;
  while (!rest.empty()) {
    const Piece piece = take_piece(rest);
    if (piece.kind == Piece::Kind::Open) {
      return "'" + std::string(piece.text) + "' has no closing brace";
    }
    if (piece.kind != Piece::Kind::Word || find_word(piece.text) != nullptr) continue;
    std::string text = "'%{" + std::string(piece.text) + "}' is unknown; there are";
    for (const Word& word : known_words) text.append(" ").append(word.name).append(",");
    return text + " and %header{NAME}";
  }
  return {};
}

std::string write_out_text(std::string_view format, const RequestFacts& facts) {
  std::string text;
  while (!format.empty()) {
    const Piece piece = take_piece(format);
    switch (piece.kind) {
      case Piece::Kind::Text:
      case Piece::Kind::Open: text += piece.text; break;
      case Piece::Kind::Header: text += field_of(facts, piece.text); break;
      case Piece::Kind::Word:
        if (const Word* const word = find_word(piece.text)) text += word->text(facts);
        break;
    }
  }
  return text;
}

}  // namespace skua::cli
