// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
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
  /// Calls `on_switch` when another server has become the master.
  Sentinels(std::shared_ptr<const Settings> settings, std::function<void()> on_switch);
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
  Task<Result<Connection::Self, Problem>> connect();
  void on_push(const Reply& push);

  std::shared_ptr<const Settings> settings_;  // shared with all of the client
  std::function<void()> on_switch_;
  std::vector<Endpoint> known_;  // the last one that answered comes first
  Connection::Self link_{};      // that is subscribed; null: none
  std::optional<Endpoint> master_{};
  Backoff backoff_;
  skua::detail::WaiterList closed_;  // the link is
  bool is_watching_ = false;
  Scope tasks_;  // the last member: its task uses the others
};

}  // namespace skua::redis
