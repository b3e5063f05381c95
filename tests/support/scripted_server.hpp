// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "net/address.hpp"
#include "net/listener.hpp"
#include "net/socket.hpp"
#include "support/client.hpp"

namespace skua::testing {

/// Takes one connection after the other, on a thread of its own, and says on each exactly what it
/// is told to.
class ScriptedServer {
 public:
  /// `talk` has the connection, which is closed after it.
  explicit ScriptedServer(std::function<void(Client&)> talk)
      : ScriptedServer(std::vector<std::function<void(Client&)>>{std::move(talk)}) {}
  /// One for each connection.
  explicit ScriptedServer(std::vector<std::function<void(Client&)>> talks);
  ScriptedServer(const ScriptedServer&) = delete;
  ScriptedServer& operator=(const ScriptedServer&) = delete;
  /// Waits for the end of `talk`; a server that nobody has connected to is let go.
  ~ScriptedServer();

  [[nodiscard]] std::uint16_t port() const;

 private:
  net::Socket listener_;
  std::thread thread_;
};

}  // namespace skua::testing
