// SPDX-License-Identifier: MIT
// Parses HTTP/1 responses for tests. Simple enough to verify by reading.
#include "support/answer.hpp"

#include <algorithm>
#include <charconv>

#include "support/transport.hpp"

namespace skua::testing {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

bool equal_names(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](char x, char y) { return lower(x) == lower(y); });
}

std::size_t number(std::string_view text, int base) {
  std::size_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value, base);
  return value;
}

// Appends the chunked content at the front of `bytes` to `body`. Returns the bytes consumed, or 0
// if the content is incomplete.
std::size_t take_chunks(std::string_view bytes, std::string& body, std::string& trailers) {
  std::size_t at = 0;
  while (true) {
    const std::size_t end = bytes.find("\r\n", at);
    if (end == bytes.npos) return 0;
    const std::size_t size = number(bytes.substr(at, end - at), 16);
    at = end + 2;
    if (size == 0) break;
    if (bytes.size() < at + size + 2) return 0;
    body.append(bytes.substr(at, size));
    at += size + 2;
  }
  while (true) {
    const std::size_t end = bytes.find("\r\n", at);
    if (end == bytes.npos) return 0;
    if (end == at) return at + 2;
    trailers.append(bytes.substr(at, end + 2 - at));
    at = end + 2;
  }
}

}  // namespace

std::optional<std::string> Answer::field(std::string_view name) const {
  std::string_view rest = head;
  while (true) {
    const std::size_t line_end = rest.find("\r\n");
    if (line_end == rest.npos) return std::nullopt;
    rest.remove_prefix(line_end + 2);
    const std::size_t colon = rest.find(':');
    if (colon == rest.npos || rest.starts_with("\r\n")) return std::nullopt;
    if (!equal_names(rest.substr(0, colon), name)) continue;
    return std::string(rest.substr(colon + 2, rest.find("\r\n") - colon - 2));
  }
}

std::optional<std::string> Answer::trailer(std::string_view name) const {
  return Answer{.head = "\r\n" + trailers}.field(name);
}

std::optional<Answer> take_answer(std::string& bytes, bool to_head) {
  const std::size_t head_end = bytes.find("\r\n\r\n");
  if (head_end == bytes.npos) return std::nullopt;
  Answer answer;
  answer.head = bytes.substr(0, head_end + 4);
  answer.status = static_cast<int>(number(std::string_view(bytes).substr(9, 3), 10));
  std::size_t used = answer.head.size();
  const bool has_body =
      !to_head && answer.status >= 200 && answer.status != 204 && answer.status != 304;
  if (has_body && answer.field("Transfer-Encoding") == "chunked") {
    const std::size_t taken =
        take_chunks(std::string_view(bytes).substr(used), answer.body, answer.trailers);
    if (taken == 0) return std::nullopt;
    used += taken;
  } else if (const auto length = answer.field("Content-Length"); has_body && length) {
    const std::size_t size = number(*length, 10);
    if (bytes.size() < used + size) return std::nullopt;
    answer.body = bytes.substr(used, size);
    used += size;
  }
  bytes.erase(0, used);
  return answer;
}

bool says_last(const Answer& answer) {
  const auto connection = answer.field("Connection");
  return speaks_http2() ? !connection : connection == "close";
}

std::optional<std::string> chunked() {
  return speaks_http2() ? std::nullopt : std::optional<std::string>("chunked");
}

}  // namespace skua::testing
