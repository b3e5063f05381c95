// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "skua/websocket.hpp"
#include "ws/options.hpp"

namespace skua::cli {

/// The output of `skua ws`: messages on standard output, everything else on standard error. With
/// --json, every event is a line on standard output.
///
/// Every function throws std::system_error if the output cannot be written.
class WsPrinter final {
 public:
  WsPrinter(const WsOptions& options, bool is_interactive);

  void opened(const WebSocket& socket);
  void received(const Message& message);
  void received(WebSocketControl control, std::string_view payload);
  void closed(const CloseReason& reason);
  /// Prints a note for the user, such as help or a refused command; --quiet suppresses it.
  void note(std::string_view text);

 private:
  void write(std::string_view text);
  [[nodiscard]] std::string coloured(std::string_view text, std::string_view colour) const;

  const std::string url_;
  const bool is_json_;
  const bool is_quiet_;
  const bool is_interactive_;
  const bool is_terminal_;
  const bool has_colour_;
};

}  // namespace skua::cli
