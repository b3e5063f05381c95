// SPDX-License-Identifier: MIT
// In: case files. Out: cases. A heading begins a case, its code block holds the bytes, and the list
// after it holds the expectations. An unknown expectation is an error, so that no case is silently
// skipped.
#include "support/case_file.hpp"

#include <algorithm>
#include <charconv>
#include <stdexcept>

#include "support/case_text.hpp"

namespace skua::testing {
namespace {

[[noreturn]] void fail(const std::string& why) { throw std::runtime_error(why); }

std::size_t number(std::string_view text) {
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    fail("not a number: " + std::string(text));
  }
  return value;
}

int hex(char c) {
  const std::size_t value = std::string_view("0123456789abcdef").find(c);
  if (value == std::string_view::npos) fail("\\x wants two lower-case hex digits");
  return static_cast<int>(value);
}

/// Decodes one escape sequence. `at` is just past the backslash and moves past the sequence.
char unescape_one(std::string_view text, std::size_t& at) {
  if (at >= text.size()) fail("a backslash at the end");
  const char c = text[at++];
  switch (c) {
    case 'r': return '\r';
    case 'n': return '\n';
    case 't': return '\t';
    case '\\':
    case '"':
    case '{': return c;
    case 'x':
      if (at + 2 > text.size()) fail("\\x wants two hex digits");
      at += 2;
      return static_cast<char>(hex(text[at - 2]) * 16 + hex(text[at - 1]));
    default: fail(std::string("unknown escape \\") + c);
  }
}

/// Splits at spaces outside quotes: `a b="c d"` is two words.
std::vector<std::string> words(std::string_view text) {
  std::vector<std::string> found;
  std::string word;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"' && (i == 0 || text[i - 1] != '\\')) quoted = !quoted;
    if (text[i] == ' ' && !quoted) {
      if (!word.empty()) found.push_back(std::move(word));
      word.clear();
    } else {
      word += text[i];
    }
  }
  if (quoted) fail("a quote is not closed");
  if (!word.empty()) found.push_back(std::move(word));
  return found;
}

/// Returns the unescaped text of `key="text"`.
std::string quoted_value(std::string_view word, std::string_view key) {
  std::string_view value = word.substr(key.size());
  if (value.size() < 2 || value.front() != '"' || value.back() != '"') {
    fail(std::string(key) + " wants quotes");
  }
  return unescape(value.substr(1, value.size() - 2));
}

void read_attribute(const std::string& word, Expected& event) {
  if (word == "HTTP/1.0") {
    event.minor_version = 0;
  } else if (word == "close") {
    event.close = true;
  } else if (word == "expect-continue") {
    event.expect_continue = true;
  } else if (word == "upgrade") {
    event.upgrade = true;
  } else if (word.starts_with("body=")) {
    event.body = quoted_value(word, "body=");
  } else if (word.starts_with("host=")) {
    event.host = quoted_value(word, "host=");
    event.check_host = true;
  } else if (word.starts_with("rest=")) {
    event.rest = quoted_value(word, "rest=");
    event.check_rest = true;
  } else {
    fail("unknown attribute: " + word);
  }
}

std::pair<std::string, std::string> read_field(std::string_view text) {
  const std::size_t colon = text.find(": ");
  if (colon == std::string_view::npos) {
    if (!text.ends_with(':')) fail("a field wants a colon");
    return {std::string(text.substr(0, text.size() - 1)), ""};
  }
  return {std::string(text.substr(0, colon)), unescape(text.substr(colon + 2))};
}

/// Reads one line of the list after the bytes.
void read_event(std::string_view text, Case& current) {
  const std::vector<std::string> parts = words(text);
  if (parts.empty()) fail("an empty expectation");
  const std::string& what = parts[0];
  if (what == "field" || what == "trailer") {
    if (current.expected.empty()) fail(what + " belongs behind a message");
    Expected& message = current.expected.back();
    (what == "field" ? message.fields : message.trailers)
        .push_back(read_field(text.substr(what.size() + 1)));
    return;
  }
  Expected event;
  std::size_t next = 1;
  if (what == "request" && parts.size() >= 3) {
    event.method = parts[1];
    event.target = unescape(parts[2]);
    next = 3;
  } else if (what == "response" && parts.size() >= 2) {
    event.status = static_cast<int>(number(parts[1]));
    current.is_response = true;
    next = 2;
  } else if (what == "error" && parts.size() >= 3) {
    event.kind = Expected::Kind::Failure;
    event.error = parts[1];
    event.status = static_cast<int>(number(parts[2]));
    event.in_body = parts.size() == 5 && parts[3] == "in" && parts[4] == "body";
    next = event.in_body ? 5 : 3;
  } else if (what == "more") {
    event.kind = Expected::Kind::More;
  } else {
    fail("unknown expectation: " + std::string(text));
  }
  for (; next < parts.size(); ++next) read_attribute(parts[next], event);
  current.expected.push_back(std::move(event));
}

/// Reads a line before or after the bytes. A line that is not a setting is prose and is ignored.
void read_setting(std::string_view line, Case& current) {
  if (line.starts_with("RFC ")) {
    current.section = line;
  } else if (line.starts_with("limits: ")) {
    for (const std::string& word : words(line.substr(8))) {
      const std::size_t equals = word.find('=');
      if (equals == std::string::npos) fail("a limit wants name=number");
      current.limits.emplace_back(word.substr(0, equals), number(word.substr(equals + 1)));
    }
  } else if (line.starts_with("answer to: ")) {
    current.answer_to = line.substr(11);
    current.is_response = true;
  } else if (line == "a response") {
    current.is_response = true;
  } else if (line == "an upgrade was asked for") {
    current.offers_upgrade = true;
  } else if (line == "then: close") {
    current.then_close = true;
  }
}

void check_whole(const Case& current) {
  if (current.section.empty()) fail("a case wants its RFC section");
  if (current.expected.empty()) fail("a case wants an expectation");
}

Case read_case(const CaseText& text) {
  Case current;
  current.file = text.file;
  current.line = text.line;
  current.title = text.title;
  int number = text.line;
  try {
    current.bytes = unescape(text.bytes);
    for (const CaseText::Line& line : text.lines) {
      number = line.number;
      if (line.text.starts_with("- ")) {
        read_event(std::string_view(line.text).substr(2), current);
      } else {
        read_setting(line.text, current);
      }
    }
    check_whole(current);
  } catch (const std::runtime_error& error) {
    fail(text.file + ":" + std::to_string(number) + ": " + error.what());
  }
  return current;
}

}  // namespace

std::size_t Case::limit(std::string_view name, std::size_t fallback) const {
  for (const auto& [key, value] : limits) {
    if (key == name) return value;
  }
  return fallback;
}

std::string Case::where() const { return file + ":" + std::to_string(line) + ": " + title; }

std::string_view errc_name(Errc code) noexcept {
  switch (code) {
    case Errc::None: return "None";
    case Errc::MalformedStartLine: return "MalformedStartLine";
    case Errc::MalformedTarget: return "MalformedTarget";
    case Errc::MalformedField: return "MalformedField";
    case Errc::UnsupportedVersion: return "UnsupportedVersion";
    case Errc::UnknownMethod: return "UnknownMethod";
    case Errc::TargetTooLong: return "TargetTooLong";
    case Errc::FieldTooLong: return "FieldTooLong";
    case Errc::HeadTooLong: return "HeadTooLong";
    case Errc::TooManyFields: return "TooManyFields";
    case Errc::InvalidHost: return "InvalidHost";
    case Errc::InvalidContentLength: return "InvalidContentLength";
    case Errc::AmbiguousFraming: return "AmbiguousFraming";
    case Errc::InvalidTransferEncoding: return "InvalidTransferEncoding";
    case Errc::UnsupportedTransferCoding: return "UnsupportedTransferCoding";
    case Errc::UnknownExpectation: return "UnknownExpectation";
    case Errc::TooManyInterimResponses: return "TooManyInterimResponses";
    case Errc::UnexpectedUpgrade: return "UnexpectedUpgrade";
    case Errc::MalformedChunk: return "MalformedChunk";
    case Errc::ChunkExtensionTooLong: return "ChunkExtensionTooLong";
    case Errc::MalformedTrailer: return "MalformedTrailer";
    case Errc::TrailerTooLong: return "TrailerTooLong";
    case Errc::BodyTooLong: return "BodyTooLong";
    case Errc::TruncatedBody: return "TruncatedBody";
    case Errc::Closed: return "Closed";
    default: return "another error";
  }
}

std::string unescape(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at++];
    if (c == '\\') {
      out += unescape_one(text, at);
    } else if (c != '{') {
      out += c;
    } else {  // {text}*N
      const std::size_t close = text.find('}', at);
      if (close == std::string_view::npos || text.substr(close + 1, 1) != "*") {
        fail("a repetition is written {text}*N, a brace \\{");
      }
      const std::string repeated = unescape(text.substr(at, close - at));
      std::size_t end = close + 2;
      while (end < text.size() && text[end] >= '0' && text[end] <= '9') ++end;
      const std::size_t times = number(text.substr(close + 2, end - close - 2));
      for (std::size_t i = 0; i < times; ++i) out += repeated;
      at = end;
    }
  }
  return out;
}

std::string escape(std::string_view bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string out;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\r') {
      out += "\\r";
    } else if (c == '\n') {
      out += "\\n";
    } else if (byte < 0x20 || byte >= 0x7f) {
      out += {'\\', 'x', digits[byte >> 4], digits[byte & 15]};
    } else {
      out += c;
    }
  }
  return out;
}

std::vector<Case> read_case_file(const std::filesystem::path& path) {
  std::vector<Case> cases;
  for (const CaseText& text : read_case_texts(path)) cases.push_back(read_case(text));
  return cases;
}

std::vector<Case> read_case_files(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".md" && entry.path().filename() != "README.md") {
      paths.push_back(entry.path());
    }
  }
  std::sort(paths.begin(), paths.end());
  std::vector<Case> cases;
  for (const std::filesystem::path& path : paths) {
    for (Case& one : read_case_file(path)) cases.push_back(std::move(one));
  }
  return cases;
}

}  // namespace skua::testing
