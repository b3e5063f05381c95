// SPDX-License-Identifier: MIT
// A test client: HTTP/1 text over a socket, optionally translated to HTTP/2 and over TLS.
#include "support/client.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace skua::testing {
namespace {

constexpr Duration patience = 20s;
constexpr int turns_of_patience = 20'000;
constexpr int turns_for_a_window = 100;  // a handler that does not read never opens one

using Buffer = std::array<char, 65536>;

}  // namespace

Client::Client(std::uint16_t port, Transport transport) {
  connect(port);
  speak(transport);
}

Client::Client(std::uint16_t port, std::unique_ptr<TlsWire> tls) : tls_(std::move(tls)) {
  connect(port);
  write_wire(tls_->take_output());
}

void Client::connect(std::uint16_t port) {
  auto connected = TcpSocket::connect_to(*Address::parse("127.0.0.1", port), patience);
  ASSERT_TRUE(connected) << connected.error().text;
  socket_ = *std::move(connected);
  net::set_no_delay(descriptor());
}

Client::Client(Socket socket, Transport transport, std::function<void()> turn)
    : socket_(std::move(socket)) {
  EXPECT_EQ(bsd::set_flags(descriptor()), 0);
  if (transport != Transport::Tcp) turn_ = std::move(turn);
  speak(transport);
}

void Client::speak(Transport transport) {
  if (speaks_http2(transport)) http2_ = make_http2_client(is_secure(transport));
  if (!is_secure(transport)) return;
  tls_ = std::make_unique<TlsWire>(protocols(transport));
  write_wire(tls_->take_output());
}

// Sending -----------------------------------------------------------------------------------------

void Client::continue_handshake() {
  while (tls_ != nullptr && !tls_->is_established() && receive()) continue;
}

// Lets a server on this thread see the ACK of its SETTINGS before the test moves its clock.
void Client::greet() {
  continue_handshake();
  if (http2_ == nullptr || std::exchange(has_greeted_, true)) return;
  flush();
  if (!can_turn()) return;
  while (!http2_->has_settings() && receive()) continue;
  flush();
  turn_();
}

void Client::send(std::string_view bytes) {
  greet();
  if (http2_ == nullptr) return write(bytes);
  http2_->say(bytes);
  flush();
  if (!can_turn()) {
    while (!http2_->is_all_sent() && receive()) continue;
    return;
  }
  for (int i = 0; i < turns_for_a_window && !http2_->is_all_sent(); ++i) {
    turn_();
    receive_what_is_there();
  }
}

std::size_t Client::send_some(std::string_view bytes) {
  if (tls_ == nullptr && http2_ == nullptr) {
    const ssize_t sent = bsd::send(descriptor(), bytes.data(), bytes.size(), bsd::no_signal);
    return sent < 0 ? 0 : static_cast<std::size_t>(sent);
  }
  greet();
  receive_what_is_there();
  const bool has_room = socket_.wait_writable(Duration(0)).has_value();
  if (!has_room || (http2_ != nullptr && !http2_->is_all_sent())) return 0;
  const std::string_view piece = bytes.substr(0, 16'384);
  if (http2_ == nullptr) {
    write(piece);
  } else {
    http2_->say(piece);
    flush();
  }
  return piece.size();
}

void Client::flush() {
  if (http2_ != nullptr && has_greeted_ && !is_finished_) write(http2_->take_output());
}

void Client::write(std::string_view plain) {
  sent_bytes_ += plain.size();
  if (tls_ == nullptr) return write_wire(plain);
  tls_->write(plain);
  write_wire(tls_->take_output());
}

void Client::write_wire(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = bsd::send(descriptor(), bytes.data(), bytes.size(), bsd::no_signal);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && errno == EAGAIN) {
      ASSERT_TRUE(socket_.wait_writable(patience));
      continue;
    }
    if (sent < 0) {  // the server may have closed; its last bytes can still be read
      EXPECT_TRUE(errno == EPIPE || errno == ECONNRESET) << std::strerror(errno);
      return;
    }
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
}

void Client::end() {
  is_finished_ = true;
  if (tls_ != nullptr) {
    tls_->end();
    write_wire(tls_->take_output());
  }
  bsd::shutdown(descriptor(), SHUT_WR);
}

void Client::reset() {
  const linger hard{.l_onoff = 1, .l_linger = 0};
  bsd::setsockopt(descriptor(), SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
  socket_.close();
}

// Receiving ---------------------------------------------------------------------------------------

std::optional<Answer> Client::answer(bool to_head) {
  if (http2_ == nullptr) {
    while (true) {
      if (auto answer = take_answer(received_, to_head)) return answer;
      if (!receive()) return std::nullopt;
    }
  }
  http2_->read(Http2Client::Reading::Next);
  Http2Client::Next next = http2_->next();
  while (next == Http2Client::Next::Waits && receive()) next = http2_->next();
  http2_->read(Http2Client::Reading::None);
  flush();
  if (next != Http2Client::Next::Whole) return std::nullopt;
  return http2_->take();
}

std::string Client::rest() {
  if (http2_ == nullptr) {
    while (receive()) continue;
    return std::exchange(received_, {});
  }
  http2_->read(Http2Client::Reading::All);
  while (!http2_->has_last() && receive()) continue;
  return http2_->take_rest();
}

std::string Client::take_received() {
  receive_what_is_there();
  return std::exchange(received_, {});
}

std::string Client::some() {
  if (http2_ != nullptr) {
    std::string text = http2_->take_some();
    while (text.empty() && !http2_->has_ended() && receive()) text = http2_->take_some();
    flush();
    return text.empty() ? http2_->take_some() : text;
  }
  while (received_.empty() && receive()) continue;
  return std::exchange(received_, {});
}

bool Client::is_closed() {
  while (http2_ == nullptr ? received_.empty() : !http2_->has_news()) {
    if (!receive()) return true;
  }
  return false;
}

bool Client::is_readable() {
  if (tls_ == nullptr && http2_ == nullptr) {
    return socket_.wait_readable(Duration(0)).has_value();
  }
  receive_what_is_there();
  return has_ended_ || !received_.empty() || (http2_ != nullptr && http2_->has_news());
}

bool Client::receive() {
  flush();
  if (has_ended_) return false;
  Buffer buffer;
  ssize_t count = -1;
  for (int i = 0; i < turns_of_patience; ++i) {
    count = bsd::recv(descriptor(), buffer.data(), buffer.size(), 0);
    if (count >= 0) break;
    if (errno == EINTR) continue;  // an io_uring on this thread interrupts
    if (errno != EAGAIN) break;
    if (can_turn()) {
      turn_();
    } else if (!socket_.wait_readable(patience)) {
      break;
    }
  }
  return take(buffer, count);
}

void Client::receive_what_is_there() {
  flush();
  while (!has_ended_) {
    Buffer buffer;
    const ssize_t count = bsd::recv(descriptor(), buffer.data(), buffer.size(), 0);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) return;
    take(buffer, count);
  }
}

bool Client::take(std::span<char> buffer, std::int64_t count) {
  if (count < 0) {
    was_reset_ = errno == ECONNRESET;
    EXPECT_TRUE(was_reset_) << "recv: " << std::strerror(errno);
  }
  if (count <= 0) {
    has_ended_ = true;
    if (tls_ != nullptr && !tls_->has_ended()) was_reset_ = true;
    return false;
  }
  const std::string_view wire(buffer.data(), static_cast<std::size_t>(count));
  const std::string plain = tls_ != nullptr ? tls_->read(wire) : std::string(wire);
  if (tls_ != nullptr) write_wire(tls_->take_output());
  if (http2_ == nullptr) {
    received_.append(plain);
  } else {
    http2_->receive(plain);
    flush();
  }
  return true;
}

bool says_truncated(Client& client) {
  const std::optional<Answer> answer = client.answer();
  return speaks_http2() ? !answer : answer && answer->status == 400;
}

std::string get(std::string_view path, std::string_view fields) {
  std::string out("GET ");
  out.append(path).append(" HTTP/1.1\r\nHost: test\r\n").append(fields).append("\r\n");
  return out;
}

}  // namespace skua::testing
