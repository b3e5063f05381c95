// SPDX-License-Identifier: MIT
// In: a response head. Out: its bytes. Texts known at compile time are copied with constant sizes,
// which compilers turn into a few stores.
#include "h1/message_writer.hpp"

#include <array>
#include <bit>
#include <cstring>

#include "http/message/start_line.hpp"
#include "skua/config.hpp"

namespace skua::h1 {
namespace {

constexpr unsigned first_code = 100;
constexpr unsigned last_code = 511;
constexpr std::size_t line_room = 47;

/// `HTTP/1.1 200 OK\r\n`. RFC 9112 §4
struct StatusLine {
  std::array<char, line_room> text{};
  std::uint8_t size_bytes = 0;
};

constexpr std::size_t put(StatusLine& line, std::size_t at, std::string_view text) {
  for (const char c : text) line.text[at++] = c;
  return at;
}

constexpr char digit(unsigned number) { return static_cast<char>('0' + number % 10); }

constexpr StatusLine make_line(unsigned code, std::string_view reason) {
  StatusLine line;
  const char digits[] = {digit(code / 100), digit(code / 10), digit(code)};
  std::size_t at = put(line, 0, "HTTP/1.1 ");
  at = put(line, at, {digits, 3});
  at = put(line, at, " ");
  at = put(line, at, reason);
  line.size_bytes = static_cast<std::uint8_t>(put(line, at, "\r\n"));
  return line;
}

constexpr std::size_t count_registered() {
  std::size_t count = 0;
  for (unsigned c = first_code; c <= last_code; ++c) {
    count += http::reason_phrase(Status(static_cast<std::uint16_t>(c))).empty() ? 0 : 1;
  }
  return count;
}

struct Lines {
  std::array<StatusLine, count_registered() + 1> lines{};  // the first is for unregistered codes
  std::array<std::uint8_t, last_code + 1> index{};
};

consteval Lines make_lines() {
  Lines made{};
  std::size_t next = 1;
  for (unsigned c = first_code; c <= last_code; ++c) {
    const std::string_view reason = http::reason_phrase(Status(static_cast<std::uint16_t>(c)));
    if (reason.empty()) continue;
    made.index[c] = static_cast<std::uint8_t>(next);
    made.lines[next++] = make_line(c, reason);
  }
  return made;
}

constexpr Lines status_lines = make_lines();

constexpr const StatusLine& find_line(Status status) noexcept {
  const unsigned c = code(status);
  return status_lines.lines[c <= last_code ? status_lines.index[c] : 0];
}

/// Copies a literal without its terminating NUL.
template <std::size_t N>
inline char* put(char* out, const char (&literal)[N]) noexcept {
  std::memcpy(out, literal, N - 1);
  return out + (N - 1);
}

inline char* put(char* out, std::string_view text) noexcept {
  std::memcpy(out, text.data(), text.size());
  return out + text.size();
}

inline char* put_status_line(Status status, char* out) noexcept {
  const StatusLine& line = find_line(status);
  if (line.size_bytes == 0) [[unlikely]] {
    // RFC 9112 §4: the space is required even without a reason phrase.
    const StatusLine made = make_line(code(status), "");
    return put(out, {made.text.data(), made.size_bytes});
  }
  std::memcpy(out, line.text.data(), line_room);  // any excess is overwritten later
  return out + line.size_bytes;
}

}  // namespace

char* write_decimal(std::uint64_t number, char* out) noexcept {
  char digits[20];
  char* p = digits + sizeof digits;
  while (number >= 100) {
    p -= 2;
    put_pair(number % 100, p);
    number /= 100;
  }
  if (number >= 10) {
    p -= 2;
    put_pair(number, p);
  } else {
    *--p = static_cast<char>('0' + number);
  }
  const auto size = static_cast<std::size_t>(digits + sizeof digits - p);
  std::memcpy(out, p, size);
  return out + size;
}

std::string_view status_line(Status status) noexcept {
  const StatusLine& line = find_line(status);
  return {line.text.data(), line.size_bytes};
}

char* write_head(const ResponseHead& head, char* out) noexcept {
  out = put_status_line(head.status, out);
  if (!head.standard_fields.empty()) out = put(out, head.standard_fields);
  if (!head.content_type.empty()) {
    out = put(out, "Content-Type: ");
    out = put(out, head.content_type);
    out = put(out, "\r\n");
  }
  if (head.body == BodyField::Length) {
    out = put(out, "Content-Length: ");
    out = put_decimal(head.length_bytes, out);
    out = put(out, "\r\n");
  } else if (head.body == BodyField::Chunked) {
    out = put(out, "Transfer-Encoding: chunked\r\n");
  }
  if (head.connection != ConnectionField::Default) {
    out = head.connection == ConnectionField::Close ? put(out, "Connection: close\r\n")
                                                    : put(out, "Connection: keep-alive\r\n");
  }
  if (!head.fields.empty()) out = put(out, head.fields);
  return put(out, "\r\n");
}

void append_head(const ResponseHead& head, std::string& out) {
  const std::size_t before = out.size();
  out.resize(before + head_bytes_at_most(head));
  const char* const end = write_head(head, out.data() + before);
  out.resize(static_cast<std::size_t>(end - out.data()));
}

// In: chunk sizes and trailer lines. Out: the framing of a chunked body. Content is never copied:
// it is sent from where it lies.

char* write_chunk_header(std::uint64_t size_bytes, char* out) noexcept {
  SKUA_ASSERT(size_bytes != 0);
  const int digits = (static_cast<int>(std::bit_width(size_bytes)) + 3) / 4;
  for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4) {
    *out++ = "0123456789abcdef"[size_bytes >> shift & 15];
  }
  *out++ = '\r';
  *out++ = '\n';
  return out;
}

char* write_last_chunk(std::string_view trailers, char* out) noexcept {
  std::memcpy(out, "0\r\n", 3);
  out += 3;
  if (!trailers.empty()) std::memcpy(out, trailers.data(), trailers.size());
  out += trailers.size();
  std::memcpy(out, "\r\n", 2);
  return out + 2;
}

}  // namespace skua::h1
