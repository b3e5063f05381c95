// SPDX-License-Identifier: MIT
// A client for tests, kept simple enough to be right by inspection.
#include "support/client.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>

namespace skua::testing {
namespace {

constexpr timeval patience{.tv_sec = 20, .tv_usec = 0};

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

bool equal_names(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](char x, char y) { return lower(x) == lower(y); });
}

std::size_t number(std::string_view text, int base) {
  std::size_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value, base);
  return value;
}

// The content of a chunked body at the front of `bytes`, and how many bytes it took; 0 when it is
// not whole.
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

Client::Client(std::uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int rc =
      ::connect(descriptor(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
  EXPECT_EQ(rc, 0) << "connect: " << std::strerror(errno);
  net::set_no_delay(descriptor());
  ::setsockopt(descriptor(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  ::setsockopt(descriptor(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
}

Client::Client(net::Socket socket) : socket_(std::move(socket)) {}

void Client::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(descriptor(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) {  // the server may have closed already: what it said is still to be read
      EXPECT_TRUE(errno == EPIPE || errno == ECONNRESET) << std::strerror(errno);
      return;
    }
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
}

std::size_t Client::send_some(std::string_view bytes) {
  const ssize_t sent =
      ::send(descriptor(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  return sent < 0 ? 0 : static_cast<std::size_t>(sent);
}

void Client::end() { ::shutdown(descriptor(), SHUT_WR); }

void Client::reset() {
  const linger hard{.l_onoff = 1, .l_linger = 0};
  ::setsockopt(descriptor(), SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
  socket_.reset();
}

std::optional<Answer> Client::answer(bool to_head) {
  while (true) {
    if (auto answer = take_answer(received_, to_head)) return answer;
    if (!receive()) return std::nullopt;
  }
}

std::string Client::rest() {
  while (receive()) continue;
  return std::exchange(received_, {});
}

std::string Client::some() {
  if (received_.empty()) receive();
  return std::exchange(received_, {});
}

bool Client::is_closed() { return received_.empty() && !receive(); }

bool Client::receive() {
  std::array<char, 65536> buffer;
  ssize_t count = 0;
  do {  // an io_uring of the same thread interrupts
    count = ::recv(descriptor(), buffer.data(), buffer.size(), 0);
  } while (count < 0 && errno == EINTR);
  if (count < 0) {
    was_reset_ = errno == ECONNRESET;
    EXPECT_TRUE(was_reset_) << "recv: " << std::strerror(errno);
  }
  if (count <= 0) return false;
  received_.append(buffer.data(), static_cast<std::size_t>(count));
  return true;
}

std::string get(std::string_view path, std::string_view fields) {
  std::string out("GET ");
  out.append(path).append(" HTTP/1.1\r\nHost: test\r\n").append(fields).append("\r\n");
  return out;
}

}  // namespace skua::testing
