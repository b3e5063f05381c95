// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "http/field.hpp"
#include "skua/error.hpp"
#include "skua/field_lines.hpp"
#include "skua/url.hpp"
#include "skua/websocket.hpp"
#include "ws/socket.hpp"

namespace skua::ws {

/// A client's side of the opening handshake: the request that asks for a WebSocket, and what the
/// response to it means.
///
/// RFC:       6455 §4.1, §4.2.2
class ClientHandshake final {
 public:
  enum class Step : std::uint8_t { NeedMore, Open, Refused };

  /// The target is that of `url`; `fields` are sent with ours, and their Host replaces ours. `key`
  /// is what make_key() gives. `options` outlive it.
  ClientHandshake(const Url& url, const FieldLines& fields, const WebSocketOptions& options,
                  std::string_view key);

  [[nodiscard]] const std::string& request() const noexcept SKUA_LIFETIMEBOUND { return request_; }

  /// Looks at all that the server has sent and takes away what is used up. Open: what is left are
  /// frames. A response in any number of pieces means the same.
  Step read(std::string& received);

  /// After Open, once.
  [[nodiscard]] Agreement take_agreement() noexcept { return std::move(agreement_); }
  /// After Refused: UpgradeRefused where the server has another answer, what is wrong with its
  /// response where that is malformed; and the reason in words.
  [[nodiscard]] const Problem& problem() const noexcept SKUA_LIFETIMEBOUND { return problem_; }

 private:
  Step read_head(const http::Head& head, std::string_view rest);
  Step refuse(Errc code, std::string text);

  const WebSocketOptions& options_;
  std::string request_;
  std::string expected_accept_;
  Agreement agreement_{};
  Problem problem_{};
};

}  // namespace skua::ws
