// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "http/message/field.hpp"
#include "skua/error.hpp"
#include "skua/field_lines.hpp"
#include "skua/url.hpp"
#include "skua/websocket.hpp"
#include "ws/socket.hpp"

namespace skua::ws {

/// The client's side of the opening handshake: writes the request for a WebSocket and evaluates the
/// response.
///
/// RFC:       6455 §4.1, §4.2.2
class ClientHandshake final {
 public:
  enum class Step : std::uint8_t { NeedMore, Open, Refused };

  /// Sends `fields` along with its own; a Host among them replaces the one from `url`. `key` comes
  /// from make_key(). `options` must outlive the object.
  ClientHandshake(const Url& url, const FieldLines& fields, const WebSocketOptions& options,
                  std::string_view key);

  [[nodiscard]] const std::string& request() const noexcept SKUA_LIFETIMEBOUND { return request_; }

  /// Reads the server's output so far and removes the bytes used. After Open, the remaining bytes
  /// are frames. The outcome does not depend on how the response was split.
  Step read(std::string& received);

  /// Returns the agreement; called once, after Open.
  [[nodiscard]] Agreement take_agreement() noexcept { return std::move(agreement_); }
  /// After Refused: UpgradeRefused, or a parse error if the response is malformed, and an
  /// explanation.
  [[nodiscard]] const Problem& problem() const noexcept SKUA_LIFETIMEBOUND { return problem_; }

 private:
  Step read_head(const http::Head& head, std::string_view rest);
  Step refuse(Errc code, std::string text);

  const WebSocketOptions& options_;
  std::string request_;
  std::string expected_accept_;
  Agreement agreement_{};
  Problem problem_{};
  std::size_t interim_count_ = 0;
};

}  // namespace skua::ws
