// SPDX-License-Identifier: MIT
#pragma once

#include "skua/release.hpp"  // first: checks the C++ version

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "skua/bytes.hpp"
#include "skua/config.hpp"
#include "skua/error.hpp"
#include "skua/middleware.hpp"
#include "skua/next.hpp"
#include "skua/task.hpp"

namespace skua {

/// A rate: a request each `interval` on average, up to `burst` at once.
struct Rate {
  Duration interval{};
  std::size_t burst = 1;
};

/// Counts of requests that several servers share; see redis::SharedRates.
class SharedRates {
 public:
  SharedRates() = default;
  SharedRates(const SharedRates&) = delete;
  SharedRates& operator=(const SharedRates&) = delete;
  virtual ~SharedRates() = default;

  /// Counts a request of a key. Any thread with a loop.
  virtual Task<Result<RateDecision, Problem>> count(std::string key, Rate rate) = 0;
};

/// Answers 429 to clients that send too many requests to several servers.
class SKUA_API SharedRateLimit final {
 public:
  /// See Router::use().
  static constexpr bool ignores_path = true;

  SharedRateLimit(const RateLimitOptions& options, std::shared_ptr<SharedRates> rates);
  Task<Response> operator()(Request& request, Next next) const;

 private:
  struct Local;
  static Task<Response> run(std::shared_ptr<const Local> local, Request& request, Next next);

  std::shared_ptr<const Local> local_;  // shared by the copies, and the requests in progress
};

/// Limits how many requests each client may send to all servers that share the counts:
///
/// ```cpp
/// const skua::redis::PerThread redis("redis://cache.example.com");
/// router.use(skua::shared_rate_limit({.requests = 100, .per = 1min},
///                                    std::make_shared<skua::redis::SharedRates>(redis)));
/// ```
///
/// While the store does not answer, each server counts by itself, and asks the store again each
/// second. Limits with the same policy name share their counts.
///
/// Ends with: std::invalid_argument, see rate_limit().
[[nodiscard]] inline SharedRateLimit shared_rate_limit(const RateLimitOptions& options,
                                                       std::shared_ptr<SharedRates> rates) {
  return {options, std::move(rates)};
}

}  // namespace skua
