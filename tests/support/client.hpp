// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>

#include "net/socket.hpp"
#include "support/answer.hpp"
#include "support/http2_client.hpp"
#include "support/tls_wire.hpp"
#include "support/transport.hpp"

namespace skua::testing {

/// A blocking client that says exactly what it is told to, which is HTTP/1 as text. Over HTTP/2 the
/// text is translated (Http2Client). Every wait ends after 20 s with a failed test.
class Client {
 public:
  /// Connects to this port of the loopback interface.
  explicit Client(std::uint16_t port, Transport transport = testing::transport());
  /// `turn`: runs the server for a moment, where it is on this thread; otherwise it is waited for.
  explicit Client(net::Socket socket, Transport transport = Transport::Tcp,
                  std::function<void()> turn = {});

  /// The same with a TLS of its own.
  Client(std::uint16_t port, std::unique_ptr<TlsWire> tls);

  /// Waits for the end of the handshake, where there is one; send() does, too.
  void shake_hands();
  /// Sends everything; over HTTP/2 to a server on this thread as much as it lets.
  void send(std::string_view bytes);
  /// Sends what is taken at once; how much that was.
  std::size_t send_some(std::string_view bytes);
  /// No more will be sent (FIN).
  void end();
  /// Closes with a reset.
  void reset();

  /// The next response; nothing when it broke off, or the server closed before it was whole.
  std::optional<Answer> answer(bool to_head = false);
  /// Everything until the server closes; over HTTP/2 at most until it has answered a request with
  /// `Connection: close`.
  std::string rest();
  /// The next bytes; empty when the server has closed. Over HTTP/2 of the next response, its head
  /// in the form of HTTP/1.
  std::string some();
  /// What has come and was not looked at, as it is, without waiting; not over HTTP/2.
  std::string take_received();
  /// Whether the server has closed and nothing is left to be read.
  bool is_closed();
  /// The same for behind a refusal, after which HTTP/2 goes on.
  bool is_closed_by_refusal() { return http2_ != nullptr || is_closed(); }
  /// Whether there is something of a response, or the end; does not wait.
  bool is_readable();
  /// Whether rest() or answer() met a reset, or over TLS a mere end, instead of an orderly one.
  [[nodiscard]] bool was_reset() const noexcept { return was_reset_; }
  [[nodiscard]] int descriptor() const noexcept { return socket_.descriptor(); }
  /// What the server's counters see of what was sent.
  [[nodiscard]] std::uint64_t sent_bytes() const noexcept { return sent_bytes_; }
  /// Null without TLS.
  [[nodiscard]] const TlsWire* tls() const noexcept { return tls_.get(); }

 private:
  void connect(std::uint16_t port);
  void speak(Transport transport);
  void greet();
  void flush();
  void write(std::string_view plain);
  void write_wire(std::string_view bytes);
  bool receive();
  void receive_what_is_there();
  bool take(std::span<char> buffer, std::int64_t count);
  [[nodiscard]] bool can_turn() const { return turn_ && std::this_thread::get_id() == thread_; }

  net::Socket socket_;
  std::function<void()> turn_;
  std::thread::id thread_ = std::this_thread::get_id();
  std::unique_ptr<TlsWire> tls_;
  std::unique_ptr<Http2Client> http2_;
  std::string received_;
  std::uint64_t sent_bytes_ = 0;
  bool has_ended_ = false;
  bool was_reset_ = false;
  bool has_greeted_ = false;
  bool is_finished_ = false;  // by end()
};

/// Whether the server says that end() cut a request's content: with 400; over HTTP/2 by a reset.
bool says_truncated(Client& client);

/// `GET path` with a Host field, and more fields as given (each with CRLF).
std::string get(std::string_view path, std::string_view fields = {});

}  // namespace skua::testing
