// SPDX-License-Identifier: MIT
// In: a request. Out: 429 if its client sends too many to all servers. The local limit decides when
// the store does not.
#include "skua/shared_rates.hpp"

#include <optional>
#include <string>
#include <utility>

#include "middleware/rate_limit.hpp"
#include "middleware/store_pause.hpp"

namespace skua {

struct SharedRateLimit::Local {
  Local(const RateLimitOptions& options, std::shared_ptr<SharedRates> store)
      : limit(options), rates(std::move(store)), name(options.policy) {
    const middleware::RateTable::Settings settings = middleware::rate_settings(options);
    rate = {.interval = settings.interval, .burst = settings.burst};
  }

  RateLimit limit;
  std::shared_ptr<SharedRates> rates;  // shared by limits
  std::string name;
  Rate rate;
  mutable middleware::StorePause pause;
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
    if (local->pause.asks()) {
      const std::string shared_key = local->name + ":" + key;
      const Result<RateDecision, Problem> counted =
          co_await local->rates->count(shared_key, local->rate);
      if (counted) decision = *counted;
      local->pause.note(counted.has_value());
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
