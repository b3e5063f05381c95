// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "redis/backoff.hpp"
#include "redis/connection.hpp"
#include "redis/settings.hpp"
#include "skua/async.hpp"
#include "skua/error.hpp"
#include "skua/task.hpp"
#include "skua/waiter.hpp"

namespace skua::redis {

/// The Sentinels that watch a master: tells where it is, and when that changes.
///
/// https://redis.io/docs/latest/develop/reference/sentinel-clients/
class Sentinels final {
 public:
  using OnSwitch = std::function<void(const Endpoint& master)>;

  /// Calls `on_switch` when another server may have become the master.
  Sentinels(std::shared_ptr<const Settings> settings, OnSwitch on_switch);
  Sentinels(const Sentinels&) = delete;
  Sentinels& operator=(const Sentinels&) = delete;
  ~Sentinels();

  /// Asks the Sentinels, one after the other, for the master. From the first call on, one of them
  /// is watched.
  ///
  /// Waits for: each at most Options::connect.
  /// Ends with: the problem of the last one; NotFound if none knows the master.
  Task<Result<Endpoint, Problem>> locate();
  void close() noexcept;

 private:
  Task<Result<Endpoint, Problem>> ask(Connection::Self link);
  Task<> watch();
  Task<> watch_one();
  Task<bool> subscribe(Connection::Self link);
  Task<Result<Connection::Self, Problem>> connect();
  void on_push(const Reply& push);

  std::shared_ptr<const Settings> settings_;  // shared with all of the client
  OnSwitch on_switch_;                        // null: closed
  std::vector<Endpoint> known_;               // the last one that answered comes first
  Connection::Self link_{};                   // that is watched; null: none
  Backoff backoff_;
  skua::detail::WaiterList changed_;  // the link is closed, or subscribed
  bool is_subscribed_ = false;        // the link is
  bool is_refused_ = false;           // it cannot be
  bool is_watching_ = false;
  Scope tasks_;  // the last member: its task uses the others
};

}  // namespace skua::redis
