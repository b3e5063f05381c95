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

/// A blocking client that sends exactly the given HTTP/1 text; for HTTP/2 the text is translated
/// (Http2Client). Every wait fails the test after 20 s.
class Client {
 public:
  /// Connects to this port of the loopback interface.
  explicit Client(std::uint16_t port, Transport transport = testing::transport());
  /// `turn`: runs a server on this thread for a moment; without it, the client just blocks.
  explicit Client(Socket socket, Transport transport = Transport::Tcp,
                  std::function<void()> turn = {});

  /// Connects over the given TLS.
  Client(std::uint16_t port, std::unique_ptr<TlsWire> tls);

  /// Waits until a TLS handshake has ended, as send() does too.
  void continue_handshake();
  /// Sends everything; over HTTP/2 to a server on this thread, as much as its windows allow.
  void send(std::string_view bytes);
  /// Sends as much as possible without blocking, and returns the number of bytes.
  std::size_t send_some(std::string_view bytes);
  /// Ends the sending side (FIN).
  void end();
  /// Closes the connection with a reset.
  void reset();

  /// Returns the next response, or nullopt if it was cut short by a close or a reset.
  std::optional<Answer> answer(bool to_head = false);
  /// Reads until the server closes; over HTTP/2, at most until it has answered a request with
  /// `Connection: close`.
  std::string rest();
  /// Returns the next bytes; empty if the server has closed. Over HTTP/2 they belong to the next
  /// response, with its head as HTTP/1 text.
  std::string some();
  /// Returns all unread bytes without waiting; not for HTTP/2.
  std::string take_received();
  /// Waits, and reports whether the server closed without sending anything more.
  bool is_closed();
  /// Like `is_closed()`, for use after a refusal, which does not close an HTTP/2 connection.
  bool is_closed_by_refusal() { return http2_ != nullptr || is_closed(); }
  /// Reports without waiting whether part of a response or the end has arrived.
  bool is_readable();
  /// Reports whether a read met a reset, or over TLS an end without close_notify.
  [[nodiscard]] bool was_reset() const noexcept { return was_reset_; }
  [[nodiscard]] int descriptor() const noexcept { return socket_.descriptor(); }
  /// Bytes sent as the server's counters see them: without TLS overhead.
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

  Socket socket_;
  std::function<void()> turn_;
  std::thread::id thread_ = std::this_thread::get_id();
  std::unique_ptr<TlsWire> tls_;
  std::unique_ptr<Http2Client> http2_;
  std::string received_;
  std::uint64_t sent_bytes_ = 0;
  bool has_ended_ = false;
  bool was_reset_ = false;
  bool has_greeted_ = false;
  bool is_finished_ = false;  // end() was called
};

/// Reports whether the server rejects a request cut short by end(): 400, or a reset over HTTP/2.
bool says_truncated(Client& client);

/// Returns a `GET path` request with a Host field and the given fields (each with CRLF).
std::string get(std::string_view path, std::string_view fields = {});

}  // namespace skua::testing
