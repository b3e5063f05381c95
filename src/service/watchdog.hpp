// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "skua/bytes.hpp"
#include "skua/server.hpp"

namespace skua::service {

/// Calls a function again and again, while the threads of all servers make progress: each of them
/// has to come round to a task of ours in between. Servers that do not serve are not waited for.
class Watchdog final {
 public:
  /// `interval` passes between two calls of `tell`, which happen on a thread of this object. The
  /// servers must outlive it.
  Watchdog(std::vector<Server*> servers, Duration interval, std::function<void()> tell);
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;
  ~Watchdog();

 private:
  struct Round;

  void run();
  void ask();

  const std::vector<Server*> servers_;
  const Duration interval_;
  const std::function<void()> tell_;
  const std::shared_ptr<Round> round_;  // shared with tasks that may run later
  std::thread thread_;
};

}  // namespace skua::service
