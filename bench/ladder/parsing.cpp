// SPDX-License-Identifier: MIT
//
// Rung 1, parsing. In: a request, in blocks. Out: the answer, one send(2) for each of its buffers.
// The idea: bytes arrive in one buffer and are looked at where they lie. The search for the end of
// the head goes on where it stopped, views replace copies, and from_chars() replaces sscanf().

#include "ladder.hpp"

#include <strings.h>
#include <sys/socket.h>

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>

namespace {

using ladder::Status;

/// Thrown if the peer has left, or was silent for too long. There is nobody to answer.
struct Gone {};

/// The parts of a head that matter. There are no views among them: those would dangle as soon as
/// the buffer grows for the body.
struct Head {
  bool is_post = false;
  bool has_length = false;
  std::size_t content_length = 0;
  bool expects_continue = false;
};

/// Bytes that have arrived, and room for more.
struct Buffer {
  std::string memory = std::string(std::size_t{16} * 1024, '\0');
  std::size_t filled = 0;

  [[nodiscard]] std::string_view received() const { return {memory.data(), filled}; }

  void receive(int fd) {
    const ssize_t size = recv(fd, memory.data() + filled, memory.size() - filled, 0);
    if (size <= 0) throw Gone{};
    filled += static_cast<std::size_t>(size);
  }
};

void send_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t size = send(fd, text.data(), text.size(), MSG_NOSIGNAL);
    if (size < 0) throw Gone{};
    text.remove_prefix(static_cast<std::size_t>(size));
  }
}

// Returns the size of the head, up to and including the empty line.
std::size_t read_head(int fd, Buffer& buffer) {
  std::size_t searched = 0;
  while (true) {
    buffer.receive(fd);
    const std::size_t end = buffer.received().find("\r\n\r\n", searched);
    const std::size_t size = end == std::string_view::npos ? buffer.filled : end + 4;
    // The limit is one of the head: bytes of the body behind it don't count.
    if (size > ladder::max_head_bytes) throw Status::HeadTooLarge;
    if (end != std::string_view::npos) return size;
    // The next block may begin in the middle of the empty line.
    searched = buffer.filled - std::min<std::size_t>(buffer.filled, 3);
    if (buffer.filled == buffer.memory.size()) buffer.memory.resize(2 * buffer.filled);
  }
}

// Cuts the first line off `text`, and returns it without its end. Searching for one byte at a time
// is fast: memchr() compares 32 at once.
std::string_view take_line(std::string_view& text) {
  const std::size_t end = text.find('\r');  // never npos: the text ends in an empty line
  const std::string_view line = text.substr(0, end);
  const bool is_split = text[end + 1] != '\n' || line.find('\n') != std::string_view::npos;
  if (is_split || line.find('\0') != std::string_view::npos) throw Status::BadRequest;
  text.remove_prefix(end + 2);
  return line;
}

std::string_view trim(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

bool is_named(std::string_view name, std::string_view other) {
  return name.size() == other.size() && strncasecmp(name.data(), other.data(), name.size()) == 0;
}

void parse_request_line(std::string_view line, Head& head) {
  const std::size_t first = line.find(' ');
  const std::size_t last = line.rfind(' ');
  // Three words with one blank between each two.
  if (first == std::string_view::npos || first == 0 || last == first + 1) throw Status::BadRequest;
  if (line.find(' ', first + 1) != last) throw Status::BadRequest;
  const std::string_view method = line.substr(0, first);
  const std::string_view version = line.substr(last + 1);
  if (version.size() != 8 || !version.starts_with("HTTP/")) throw Status::BadRequest;
  if (!version.starts_with("HTTP/1.")) throw Status::VersionNotSupported;
  if (method != "GET" && method != "POST") throw Status::MethodNotAllowed;
  head.is_post = method == "POST";
}

void parse_content_length(std::string_view value, Head& head) {
  const char* const end = value.data() + value.size();
  const auto [stopped, error] = std::from_chars(value.data(), end, head.content_length);
  if (error == std::errc::result_out_of_range) throw Status::ContentTooLarge;
  if (error != std::errc{} || stopped != end || head.has_length) throw Status::BadRequest;
  head.has_length = true;
  if (head.content_length > ladder::max_body_bytes) throw Status::ContentTooLarge;
}

void parse_field(std::string_view line, Head& head) {
  const std::size_t colon = line.find(':');
  const std::string_view name = line.substr(0, colon);
  if (colon == std::string_view::npos || name.empty()) throw Status::BadRequest;
  // A blank before the colon could hide a Content-Length from some servers, but not from others.
  if (name.find_first_of(" \t") != std::string_view::npos) throw Status::BadRequest;
  const std::string_view value = trim(line.substr(colon + 1));
  if (is_named(name, "Content-Length")) parse_content_length(value, head);
  if (is_named(name, "Transfer-Encoding")) throw Status::NotImplemented;
  if (is_named(name, "Expect")) head.expects_continue = is_named(value, "100-continue");
}

Head parse_head(std::string_view text) {
  Head head;
  parse_request_line(take_line(text), head);
  while (!text.starts_with("\r\n")) parse_field(take_line(text), head);
  return head;
}

// Returns the body, which stays in the buffer, behind the head.
std::string_view read_body(int fd, Buffer& buffer, std::size_t head_size, const Head& head) {
  const std::size_t end = head_size + head.content_length;
  if (buffer.filled < end && head.expects_continue) send_all(fd, ladder::please_continue);
  buffer.memory.resize(std::max(end, buffer.memory.size()));
  while (buffer.filled < end) buffer.receive(fd);
  return buffer.received().substr(head_size, head.content_length);
}

void answer(int fd, std::string_view content) {
  std::string head = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nConnection: close\r\n";
  head += "Content-Length: " + std::to_string(content.size()) + "\r\n\r\n";
  send_all(fd, head);
  send_all(fd, content);
}

void serve(int fd) {
  try {
    try {
      Buffer buffer;
      const std::size_t head_size = read_head(fd, buffer);
      const Head head = parse_head(buffer.received().substr(0, head_size));
      const std::string_view body = read_body(fd, buffer, head_size, head);
      if (head.is_post) {
        answer(fd, std::to_string(body.size()));
      } else {
        answer(fd, ladder::hello);
      }
    } catch (const Status why) {
      send_all(fd, ladder::refusal(why));
    }
  } catch (const Gone&) {
    // Nobody reads an answer.
  }
  ladder::close_gently(fd);
}

}  // namespace

int main(int count, char** arguments) {
  const int listener = ladder::open_listener(ladder::port_argument(count, arguments));
  ladder::announce(listener);
  while (true) serve(ladder::accept_connection(listener));
}
