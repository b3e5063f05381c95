// SPDX-License-Identifier: MIT
#pragma once

#include "skua/release.hpp"  // first: checks the C++ version

#include <memory>
#include <string>

#include "skua/bytes.hpp"
#include "skua/config.hpp"
#include "skua/error.hpp"
#include "skua/redis.hpp"
#include "skua/shared_rates.hpp"
#include "skua/shared_texts.hpp"
#include "skua/task.hpp"

// State that servers share in Redis.

namespace skua::redis {

/// Options of what is stored in Redis.
struct StoreOptions {
  std::string prefix = "skua:";  ///< of all keys
  Duration timeout = 250ms;      ///< of a command, positive; then the store has failed
};

/// Counts of requests in Redis, by the clock of its server: one round trip for each. A key ends
/// with the pause that makes the whole burst available again.
class SKUA_API SharedRates final : public skua::SharedRates {
 public:
  /// Ends with: std::invalid_argument if the timeout is not positive.
  explicit SharedRates(PerThread redis, StoreOptions options = {});
  Task<Result<RateDecision, Problem>> count(std::string key, Rate rate) override;

 private:
  PerThread redis_;
  StoreOptions options_;
  Script script_;
};

/// Texts in Redis, for idempotency_keys(), RevokedSessions and auth::shared_digest().
class SKUA_API SharedTexts final : public skua::SharedTexts {
 public:
  /// Ends with: std::invalid_argument if the timeout is not positive.
  explicit SharedTexts(PerThread redis, StoreOptions options = {});
  Task<Found> get(std::string key) override;
  Task<Found> add(std::string key, std::string text, Duration lifetime) override;
  Task<Result<void, Problem>> replace(std::string key, std::string old, std::string text,
                                      Duration lifetime) override;

 private:
  PerThread redis_;
  StoreOptions options_;
  Script add_;
  std::shared_ptr<const Script> replace_;  // shared with steps that go on without their tasks
};

}  // namespace skua::redis
