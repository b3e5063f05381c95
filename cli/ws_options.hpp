// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "command.hpp"
#include "skua/bytes.hpp"
#include "skua/client.hpp"
#include "terminal.hpp"

namespace skua::cli {

/// What `skua ws` is told.
struct WsOptions {
  std::string url{};
  ClientOptions client{};
  WebSocketOptions socket{.message_bytes = 64_MiB};
  std::vector<std::pair<std::string, std::string>> fields{};
  std::optional<std::pair<std::string, std::string>> basic{};  ///< a name and a password
  std::string token{};
  std::vector<std::string> messages{};   ///< sent at once, instead of what is read
  std::optional<std::uint64_t> count{};  ///< of messages to receive before it ends
  Duration wait = 2s;                    ///< for answers, after the last was sent
  Colour colour = Colour::Auto;
  bool listen = false;
  bool binary = false;
  bool json = false;
  bool quiet = false;
};

/// Adds the options, grouped, to the command; `options` outlives the parser.
void declare(CLI::App& parser, WsOptions& options);

}  // namespace skua::cli
