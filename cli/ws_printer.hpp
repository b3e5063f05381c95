// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "skua/websocket.hpp"
#include "ws_options.hpp"

namespace skua::cli {

/// What `skua ws` says: messages on the standard output, all else on the standard error; with
/// --json everything is a line of the output.
///
/// Every function ends with std::runtime_error where the output cannot be written.
class WsPrinter final {
 public:
  WsPrinter(const WsOptions& options, bool is_interactive);

  void opened(const WebSocket& socket);
  void received(const Message& message);
  void received(WebSocketControl control, std::string_view payload);
  void closed(const CloseReason& reason);
  /// A line for a person: help, and what cannot be done.
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
