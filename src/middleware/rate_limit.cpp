// SPDX-License-Identifier: MIT
// In: a request. Out: 429 if its client sends too many, and for every response the fields that tell
// the client its remaining quota.
#include <algorithm>
#include <limits>
#include <stdexcept>

#include "middleware/client_key.hpp"
#include "middleware/rate_table.hpp"
#include "skua/middleware.hpp"

namespace skua {

middleware::RateTable::Settings middleware::rate_settings(const RateLimitOptions& options) {
  constexpr std::size_t most_keys = std::size_t{1} << 30U;  // 16 GiB of them
  if (options.requests == 0 || options.per <= Duration::zero()) {
    throw std::invalid_argument("rate_limit: requests and per must be positive");
  }
  if (options.max_keys == 0 || options.max_keys > most_keys) {
    throw std::invalid_argument("rate_limit: max_keys is zero or too large");
  }
  const auto per = static_cast<std::uint64_t>(options.per.count());
  const std::uint64_t interval = std::max<std::uint64_t>(per / options.requests, 1);
  const std::size_t burst = options.burst == 0 ? options.requests : options.burst;
  if (burst > std::numeric_limits<std::int64_t>::max() / 4 / interval) {
    throw std::invalid_argument("rate_limit: the burst is too large");
  }
  return {.interval = Duration(static_cast<Duration::rep>(interval)),
          .burst = burst,
          .max_keys = options.max_keys};
}

namespace {

using middleware::RateTable;
using middleware::RateVerdict;

std::shared_ptr<RateTable> make_table(const RateLimitOptions& options) {
  static const loop::SteadyClock clock;
  return std::make_shared<RateTable>(middleware::rate_settings(options), clock);
}

// Formats a structured-field String (RFC 9651 §3.3.3).
std::string quoted(std::string_view name) {
  const bool is_plain = std::all_of(name.begin(), name.end(), [](char c) {
    return c >= ' ' && c < '\x7f' && c != '"' && c != '\\';
  });
  if (!is_plain) throw std::invalid_argument("rate_limit: the policy is not plain ASCII");
  return "\"" + std::string(name) + "\"";
}

// Rounds up to whole seconds, so that a client that waits this long is not refused again.
std::string seconds_text(Duration wait) {
  return std::to_string(std::chrono::ceil<std::chrono::seconds>(wait).count());
}

}  // namespace

RateLimit::RateLimit(const RateLimitOptions& options) : RateLimit(options, make_table(options)) {}

RateLimit::RateLimit(RateLimitOptions options, std::shared_ptr<RateTable> table)
    : key_(std::move(options.key)), table_(std::move(table)) {
  if (options.policy.empty()) return;
  name_ = quoted(options.policy);
  policy_ = name_ + ";q=" + std::to_string(options.requests) + ";w=" + seconds_text(options.per);
}

std::optional<Response> RateLimit::guard(Request& request) const {
  std::string key = key_ ? key_(request) : middleware::client_key(request.peer());
  if (key.empty()) {
    if (key_) return std::nullopt;
    key = "gone";  // a connection that was reset has no peer address; all such peers share a limit
  }
  const RateVerdict verdict = table_->ask(key);
  request.attachments().set(verdict);
  if (verdict.is_allowed) return std::nullopt;
  Response response(Status::TooManyRequests);
  response.header("Retry-After", seconds_text(verdict.wait));
  return response;
}

void RateLimit::finish(const Request& request, Response& response) const {
  const RateVerdict* const verdict = request.attachments().find<RateVerdict>();
  // With nested limits, the last one consulted sets the fields.
  if (verdict == nullptr || verdict->table != table_.get() || name_.empty()) return;
  response.header("RateLimit-Policy", policy_);
  response.header("RateLimit", name_ + ";r=" + std::to_string(verdict->remaining) +
                                   ";t=" + seconds_text(verdict->wait));
}

}  // namespace skua
