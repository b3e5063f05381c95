// SPDX-License-Identifier: MIT
// In: a response. Out: bytes for programs, or formatted text for people.
#include "get/response_printer.hpp"

#include <algorithm>
#include <charconv>

#include "base/ascii.hpp"
#include "http/message/media_type.hpp"
#include "terminal.hpp"
#include "ws/utf8.hpp"

namespace skua::cli {
namespace {

using namespace colours;

std::string coloured(std::string_view text, std::string_view colour, bool has_colour) {
  std::string shown = harmless(text);
  if (has_colour) shown.insert(0, colour).append(plain);
  return shown;
}

std::string_view colour_of(Status status) noexcept {
  const auto number = static_cast<unsigned>(status);
  if (number >= 400) return red;
  return number >= 300 ? yellow : green;
}

bool ends_with_ignoring_case(std::string_view text, std::string_view end) {
  return text.size() >= end.size() &&
         ascii::equals_ignoring_case(text.substr(text.size() - end.size()), end);
}

// RFC 8259, RFC 6839 §3.1, and JSON Lines.
bool is_json_type(std::string_view field) {
  const auto type = http::parse_media_type(field);
  if (!type) return false;
  constexpr std::string_view subtypes[] = {"json", "x-ndjson", "ndjson", "jsonl", "x-json"};
  const bool is_known =
      std::any_of(std::begin(subtypes), std::end(subtypes), [&type](std::string_view known) {
        return ascii::equals_ignoring_case(type->subtype, known);
      });
  return is_known || ends_with_ignoring_case(type->subtype, "+json");
}

bool is_text_type(std::string_view field) {
  const auto type = http::parse_media_type(field);
  return type && ascii::equals_ignoring_case(type->type, "text");
}

std::string_view name_of(Version version) noexcept {
  switch (version) {
    case Version::Http10: return "HTTP/1.0";
    case Version::Http11: return "HTTP/1.1";
    case Version::Http2: break;
  }
  return "HTTP/2";
}

std::string status_line(std::string_view version, Status status, std::string_view told,
                        bool has_colour) {
  std::string line = std::to_string(static_cast<unsigned>(status));
  const std::string_view words = told.empty() ? reason(status) : told;
  if (!words.empty()) line.append(" ").append(words);
  std::string out(version);
  return out.append(" ").append(coloured(line, colour_of(status), has_colour)).append("\n");
}

void append_field(std::string& out, std::string_view name, std::string_view value,
                  bool has_colour) {
  out.append(coloured(name, cyan, has_colour)).append(": ").append(harmless(value)).append("\n");
}

// Judges by the first bytes, which may end inside a character.
bool is_text(std::string_view piece, std::string_view type) {
  const bool has_nul = piece.find('\0') != piece.npos;
  return !has_nul && (is_text_type(type) || ws::Utf8Validator().feed(piece));
}

}  // namespace

std::string_view next_line(std::string_view& lines) noexcept {
  const std::string_view line = lines.substr(0, lines.find("\r\n"));
  lines.remove_prefix(std::min(lines.size(), line.size() + 2));
  return line;
}

Mortal::Mortal() noexcept {
  for (std::size_t i = 0; i < saved_.size(); ++i) {
    saved_[i] = std::signal(ending_signals[i], SIG_DFL);
  }
}

Mortal::~Mortal() {
  for (std::size_t i = 0; i < saved_.size(); ++i) std::signal(ending_signals[i], saved_[i]);
}

std::string head_text(std::string_view lines, bool has_colour, std::string_view prefix) {
  std::string_view line = next_line(lines);
  const std::size_t space = std::min(line.find(' '), line.size());
  const std::string_view version = line.substr(0, space);
  line.remove_prefix(std::min(line.size(), space + 1));
  unsigned status = 0;
  std::from_chars(line.data(), line.data() + line.size(), status);
  std::string out = status_line(version, static_cast<Status>(status),
                                line.substr(std::min(line.size(), std::size_t{4})), has_colour);
  out.insert(0, prefix);
  while (!lines.empty()) {
    const std::string_view field = next_line(lines);
    const std::size_t colon = std::min(field.find(": "), field.size());
    append_field(out.append(prefix), field.substr(0, colon),
                 field.substr(std::min(field.size(), colon + 2)), has_colour);
  }
  return out;
}

std::string trailers_text(const ClientResponse& response, bool has_colour,
                          std::string_view prefix) {
  std::string out;
  for (std::size_t nth = 0; const auto field = response.trailer_line(nth); ++nth) {
    append_field(out.append(prefix), field->first, field->second, has_colour);
  }
  return out;
}

void print_head(const ClientResponse& response, Colour colour, std::string_view end) {
  const Mortal mortal;
  const bool has_colour = wants_colour(colour, standard_output);
  std::string out =
      status_line(name_of(response.version()), response.status(), response.reason(), has_colour);
  for (std::size_t nth = 0; const auto field = response.header_line(nth); ++nth) {
    append_field(out, field->first, field->second, has_colour);
  }
  write_all(standard_output, out.append(end));
}

void print_trailers(const ClientResponse& response, Colour colour) {
  const Mortal mortal;
  const std::string text = trailers_text(response, wants_colour(colour, standard_output));
  if (!text.empty()) write_all(standard_output, "\n" + text);
}

ContentPrinter::ContentPrinter(const GetOptions& options, const ClientResponse& response,
                               int descriptor)
    : descriptor_(descriptor),
      kind_(Kind::Bytes),
      type_(response.header("content-type").value_or("")),
      is_terminal_(is_terminal(descriptor)),
      json_({.colours = wants_colour(options.colour, descriptor), .for_terminal = true}) {
  if (options.output == "-") return;
  // With --colour always, a person reads the output, even behind a pipe.
  const bool is_for_person = is_terminal_ || options.colour == Colour::Always;
  if (is_for_person && !options.raw && is_json_type(type_)) {
    kind_ = Kind::Json;
  } else if (is_terminal_) {
    kind_ = Kind::Unknown;
  }
}

bool ContentPrinter::append(std::string_view piece) {
  if (piece.empty()) return true;
  if (kind_ == Kind::Unknown) {
    if (!is_text(piece, type_)) return false;
    kind_ = Kind::Text;
  }
  if (kind_ == Kind::Bytes) {
    write_all(descriptor_, piece);
    return true;
  }
  std::string out;
  if (kind_ == Kind::Json) {
    json_.append(piece, out);
  } else {
    text_.append(piece, out);
  }
  print(out);
  return true;
}

void ContentPrinter::finish() {
  if (kind_ == Kind::Bytes || kind_ == Kind::Unknown) return;
  std::string out;
  if (kind_ == Kind::Json) {
    json_.finish(out);
  } else {
    text_.finish(out);
  }
  print(out);
  if (last_ != '\n' && is_terminal_) print("\n");
}

void ContentPrinter::print(std::string_view text) {
  if (text.empty()) return;
  last_ = text.back();
  write_all(descriptor_, text);
}

}  // namespace skua::cli
