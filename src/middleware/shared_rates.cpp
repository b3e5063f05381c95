// SPDX-License-Identifier: MIT
// In: a request. Out: 429 if its client sends too many to all servers. The local limit decides when
// the store does not.
#include "skua/shared_rates.hpp"

#include <atomic>
#include <optional>
#include <string>
#include <utility>

#include "loop/clock.hpp"
#include "middleware/rate_limit.hpp"

namespace skua {
namespace {

// A store that has failed is not asked again before this.
constexpr Duration pause_after_failure = 1s;

const loop::Clock& wall() noexcept {
  static const loop::SteadyClock clock;
  return clock;
}

}  // namespace

struct SharedRateLimit::Local {
  Local(const RateLimitOptions& options, std::shared_ptr<SharedRates> store)
      : limit(options), rates(std::move(store)), name(options.policy) {
    const middleware::RateTable::Settings settings = middleware::rate_settings(options);
    rate = {.interval = settings.interval, .burst = settings.burst};
  }

  /// Returns false while a failed store is left alone.
  [[nodiscard]] bool is_store_due() const noexcept {
    const loop::Instant::rep due = next_attempt.load(std::memory_order_relaxed);
    return wall().now().time_since_epoch().count() >= due;
  }
  void leave_store() const noexcept {
    const loop::Instant next = later(wall().now(), pause_after_failure);
    next_attempt.store(next.time_since_epoch().count(), std::memory_order_relaxed);
  }

  RateLimit limit;
  std::shared_ptr<SharedRates> rates;  // shared by limits
  std::string name;
  Rate rate;
  mutable std::atomic<loop::Instant::rep> next_attempt{0};
};

SharedRateLimit::SharedRateLimit(const RateLimitOptions& options,
                                 std::shared_ptr<SharedRates> rates)
    : local_(std::make_shared<const Local>(options, std::move(rates))) {}

Task<Response> SharedRateLimit::operator()(Request& request, Next next) const {
  return run(local_, request, next);
}

Task<Response> SharedRateLimit::run(std::shared_ptr<const Local> local, Request& request,
                                    Next next) {
  const std::string key = local->limit.key_of(request);
  std::optional<Response> refusal;
  if (!key.empty()) {
    std::optional<RateDecision> decision;
    if (local->is_store_due()) {
      const std::string shared_key = local->name + ":" + key;
      const Result<RateDecision, Problem> counted =
          co_await local->rates->count(shared_key, local->rate);
      if (counted) decision = *counted;
      if (!counted) local->leave_store();
    }
    refusal = decision ? local->limit.judge(request, *decision) : local->limit.count(request, key);
  }
  if (refusal) {
    local->limit.finish(request, *refusal);
    co_return *std::move(refusal);
  }
  Response response = co_await next(request);
  local->limit.finish(request, response);
  co_return response;
}

}  // namespace skua
