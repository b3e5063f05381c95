// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <utility>

#include "net/log.hpp"
#include "skua/server.hpp"

namespace skua::server {

/// Drains servers as signals ask for it.
class Drains final {
 public:
  using Servers = std::initializer_list<std::reference_wrapper<Server>>;

  /// The servers, and the list, must outlive the object.
  explicit Drains(Servers servers) noexcept : servers_(servers) {}

  [[nodiscard]] bool have_begun() const noexcept { return have_begun_; }
  /// First drains; after that, skips Timeouts::drain_delay, or else ends everything at once.
  void advance() {
    const auto is_leaving = [](const Server& server) {
      return server.state() == ServerState::Leaving;
    };
    const bool is_to_drain =
        !std::exchange(have_begun_, true) || std::ranges::any_of(servers_, is_leaving);
    for (Server& server : servers_) is_to_drain ? server.begin_shutdown() : server.cancel();
  }

  /// Calls a callback of wait_and_drain(); what it throws goes to the log of the first server, and
  /// must not keep them from draining.
  template <class Call>
  void call(const char* name, const Call& callback) const noexcept {
    const net::Log none;
    net::call_guarded(callback, name, servers_.size() == 0 ? none : servers_.begin()->get().log());
  }

 private:
  const Servers servers_;
  bool have_begun_ = false;
};

}  // namespace skua::server
