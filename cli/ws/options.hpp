// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "configure.hpp"
#include "skua/bytes.hpp"
#include "skua/client.hpp"
#include "terminal.hpp"

namespace skua::cli {

/// Options of `skua ws`.
struct WsOptions {
  std::string url{};
  ClientOptions client{.proxy = {.from_environment = true}};
  WebSocketOptions socket{.message_bytes = 64_MiB};
  std::vector<std::pair<std::string, std::string>> fields{};
  std::optional<std::pair<std::string, std::string>> basic{};  ///< user and password
  std::string token{};
  std::vector<std::string> messages{};   ///< sent instead of standard input
  std::optional<std::uint64_t> count{};  ///< exits after receiving this many
  Duration wait = 2s;                    ///< for replies, after the last message
  Colour colour = Colour::Auto;
  bool listen = false;
  bool binary = false;
  bool json = false;
  bool quiet = false;
};

/// Adds the options, in groups, to the command; `options` must outlive the parser.
void declare(CLI::App& parser, WsOptions& options);

}  // namespace skua::cli
