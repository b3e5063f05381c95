// SPDX-License-Identifier: MIT
// State that servers share: what has to be one step is a script, so that it is one round trip.
#include "skua/redis_stores.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <utility>

#include "loop/threads/promise.hpp"
#include "skua/async.hpp"
#include "skua/finish.hpp"

namespace skua::redis {
namespace {

// The generic cell rate algorithm, see middleware/rate_limit.cpp, in microseconds. The script reads
// the clock of the server, as those of its clients differ.
constexpr const char* count_script = R"(
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local interval = tonumber(ARGV[1])
local tolerance = tonumber(ARGV[2])
local full_at = math.max(tonumber(redis.call('GET', KEYS[1]) or 0), now)
if full_at > now + tolerance then -- the clock was set back, or the limit lowered
  full_at = now + tolerance
  redis.call('SET', KEYS[1], string.format('%.0f', full_at), 'PX', math.ceil(tolerance / 1000))
end
full_at = full_at + interval
local used = full_at - now
if used > tolerance then
  return {0, 0, used - tolerance}
end
redis.call('SET', KEYS[1], string.format('%.0f', full_at), 'PX', math.ceil(used / 1000))
return {1, math.floor((tolerance - used) / interval), used}
)";

// `SET NX GET` would do, but needs Redis 7.
constexpr const char* add_script = R"(
local found = redis.call('GET', KEYS[1])
if not found then
  redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
end
return found
)";

constexpr const char* replace_script = R"(
if redis.call('GET', KEYS[1]) ~= ARGV[1] then
  return 0
end
if ARGV[2] == '' then
  redis.call('DEL', KEYS[1])
else
  redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
end
return 1
)";

Problem malformed() {
  return {.error = Error(Errc::MalformedReply, "redis"), .text = "the script's reply is malformed"};
}

// A century; Lua's numbers are exact up to 2^53, of which the time of day takes 2^51.
constexpr std::int64_t max_microseconds = std::int64_t{100} * 365 * 24 * 3600 * 1'000'000;

std::int64_t microseconds_of(Duration duration) noexcept {
  const std::int64_t whole = std::chrono::ceil<std::chrono::microseconds>(duration).count();
  return std::clamp<std::int64_t>(whole, 1, max_microseconds);
}

// Returns how long a burst takes.
std::int64_t tolerance_of(std::int64_t interval, std::size_t burst) noexcept {
  const auto most = static_cast<std::size_t>(max_microseconds / interval);
  return interval * static_cast<std::int64_t>(std::min(burst, most));
}

StoreOptions checked(StoreOptions options) {
  if (options.timeout <= Duration::zero()) {
    throw std::invalid_argument("redis::StoreOptions: timeout has to be positive");
  }
  return options;
}

std::int64_t milliseconds_of(Duration duration) noexcept {
  return std::max<std::int64_t>(std::chrono::ceil<std::chrono::milliseconds>(duration).count(), 1);
}

skua::SharedTexts::Found found_in(const Result<Reply, Problem>& reply) {
  if (!reply) return reply.error();
  if (reply->is_null()) return std::optional<std::string>();
  const auto text = reply->string();
  if (!text) return malformed();
  return std::optional<std::string>(*text);
}

Task<> eval_for(loop::Promise<Reply> promise, PerThread redis, std::shared_ptr<const Script> script,
                ScriptCall call) {
  static_cast<void>(script);  // the call needs it
  try {
    Result<Reply, Problem> reply = co_await redis->eval(std::move(call));
    promise.resolve(std::move(reply));
  } catch (const std::bad_alloc&) {
    promise.resolve(Problem{.error = Error(Errc::OutOfMemory, "redis")});
  }
}

}  // namespace

SharedRates::SharedRates(PerThread redis, StoreOptions options)
    : redis_(std::move(redis)), options_(checked(std::move(options))), script_(count_script) {}

Task<Result<RateDecision, Problem>> SharedRates::count(std::string key, Rate rate) {
  const std::int64_t interval = microseconds_of(rate.interval);
  const std::int64_t tolerance = tolerance_of(interval, rate.burst);
  ScriptCall call(script_, Keys(options_.prefix + "rate:" + key));
  call.add(interval).add(tolerance).within(options_.timeout);
  const Result<Reply, Problem> reply = co_await redis_->eval(std::move(call));
  if (!reply) co_return reply.error();
  const auto is_allowed = (*reply)[0].boolean();
  const auto remaining = (*reply)[1].integer();
  const auto wait = (*reply)[2].integer();
  if (!is_allowed || !remaining || !wait || *remaining < 0 || *wait < 0) co_return malformed();
  RateDecision decision;
  decision.is_allowed = *is_allowed;
  decision.remaining = static_cast<std::size_t>(*remaining);
  decision.wait = std::chrono::microseconds(std::min(*wait, max_microseconds));
  co_return decision;
}

SharedTexts::SharedTexts(PerThread redis, StoreOptions options)
    : redis_(std::move(redis)),
      options_(checked(std::move(options))),
      add_(add_script),
      replace_(std::make_shared<const Script>(replace_script)) {}

Task<SharedTexts::Found> SharedTexts::get(std::string key) {
  Command command("GET", options_.prefix + key);
  command.within(options_.timeout);
  const Result<Reply, Problem> reply = co_await redis_->command(std::move(command));
  co_return found_in(reply);
}

Task<SharedTexts::Found> SharedTexts::add(std::string key, std::string text, Duration lifetime) {
  ScriptCall call(add_, Keys(options_.prefix + key));
  call.add(text).add(milliseconds_of(lifetime)).within(options_.timeout);
  const Result<Reply, Problem> reply = co_await redis_->eval(std::move(call));
  co_return found_in(reply);
}

Task<Result<void, Problem>> SharedTexts::replace(std::string key, std::string old, std::string text,
                                                 Duration lifetime) {
  ScriptCall call(*replace_, Keys(options_.prefix + key));
  call.add(old).add(text).add(milliseconds_of(lifetime)).within(options_.timeout);
  loop::Promise<Reply> promise("redis");
  auto waiting = promise.result();
  // It goes on if this task is dropped.
  skua::detail::keep_running(eval_for(std::move(promise), redis_, replace_, std::move(call)));
  const Result<Reply, Problem> reply = co_await waiting;
  if (!reply) co_return reply.error();
  co_return Result<void, Problem>();
}

}  // namespace skua::redis
