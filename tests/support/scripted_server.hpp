// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "net/listener.hpp"
#include "net/socket.hpp"
#include "skua/address.hpp"
#include "support/client.hpp"

namespace skua::testing {

/// A server on its own thread that accepts one connection at a time and runs a script on each.
class ScriptedServer {
 public:
  /// Runs `talk` on the first connection, then closes it.
  explicit ScriptedServer(std::function<void(Client&)> talk)
      : ScriptedServer(std::vector<std::function<void(Client&)>>{std::move(talk)}) {}
  /// Runs one script per connection.
  explicit ScriptedServer(std::vector<std::function<void(Client&)>> talks);
  ScriptedServer(const ScriptedServer&) = delete;
  ScriptedServer& operator=(const ScriptedServer&) = delete;
  /// Waits until the current script has ended; stops waiting for further connections.
  ~ScriptedServer();

  [[nodiscard]] std::uint16_t port() const;

 private:
  Socket listener_;
  std::atomic<bool> is_ending_ = false;
  std::thread thread_;
};

}  // namespace skua::testing
