// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "net/socket.hpp"

namespace skua::testing {

/// A response as a test looks at it.
struct Answer {
  int status = 0;
  std::string head{};  ///< with the empty line
  std::string body{};
  std::string trailers{};  ///< lines behind a chunked body
  /// The value of the first field with this name, whatever its case.
  [[nodiscard]] std::optional<std::string> field(std::string_view name) const;
};

/// Takes the first whole response off the front of `bytes`; `to_head` when it answers HEAD. Nothing
/// when it is not whole. It knows just as much of HTTP as skua's server writes, and nothing of
/// skua's own parser.
std::optional<Answer> take_answer(std::string& bytes, bool to_head = false);

/// A blocking TCP client that says exactly what it is told to. Every wait ends after 20 s with a
/// failed test.
class Client {
 public:
  /// Connects to this port of the loopback interface.
  explicit Client(std::uint16_t port);
  explicit Client(net::Socket socket);

  /// Sends everything.
  void send(std::string_view bytes);
  /// Sends what the socket takes at once; how much that was.
  std::size_t send_some(std::string_view bytes);
  /// No more will be sent (FIN).
  void end();
  /// Closes with a reset.
  void reset();

  /// The next response; nothing when the server closed before one was whole.
  std::optional<Answer> answer(bool to_head = false);
  /// Everything until the server closes.
  std::string rest();
  /// The next bytes; empty when the server has closed.
  std::string some();
  /// Whether the server has closed and nothing is left to be read.
  bool is_closed();
  /// Whether rest() or answer() met a reset instead of an orderly end.
  [[nodiscard]] bool was_reset() const noexcept { return was_reset_; }
  [[nodiscard]] int descriptor() const noexcept { return socket_.descriptor(); }

 private:
  bool receive();

  net::Socket socket_;
  std::string received_;
  bool was_reset_ = false;
};

/// `GET path` with a Host field, and more fields as given (each with CRLF).
std::string get(std::string_view path, std::string_view fields = {});

}  // namespace skua::testing
