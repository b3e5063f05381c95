// SPDX-License-Identifier: MIT
// In: failures of a request. Out: how long to wait before it is sent again, if that is safe. The
// waits double, and are partly random, so that the clients of a restarted server do not return all
// at once.
#include "get/retry.hpp"

#include <algorithm>
#include <charconv>
#include <system_error>

#include "base/http_date.hpp"
#include "client/request_spec.hpp"
#include "crypto/random.hpp"
#include "get/report.hpp"

namespace skua::cli {
namespace {

constexpr Duration longest_backoff = 60s;
// A server could stop the command for years.
constexpr Duration longest_asked = 10min;

bool is_idempotent_method(const std::string& method) {
  return client::is_idempotent(parse_method(method).value_or(Method::Other));
}

double random_share() { return static_cast<double>(crypto::random_word() >> 11U) * 0x1p-53; }

Duration scaled(Duration time, double factor) {
  return std::chrono::duration_cast<Duration>(time * factor);
}

}  // namespace

bool is_transient(Errc code) noexcept {
  using enum Errc;
  switch (code) {
    case NameNotResolved:
    case Refused:
    case Unreachable:
    case Reset:
    case Closed:
    case TimedOut:
    case TruncatedBody:
    case TlsTruncated: return true;
    default: return false;
  }
}

bool is_transient(Status status) noexcept {
  switch (status) {
    case Status::RequestTimeout:
    case Status::TooEarly:
    case Status::TooManyRequests:
    case Status::InternalServerError:
    case Status::BadGateway:
    case Status::ServiceUnavailable:
    case Status::GatewayTimeout: return true;
    default: return false;
  }
}

std::optional<Duration> parse_retry_after(std::string_view field, std::chrono::sys_seconds now) {
  constexpr std::uint32_t most = 1'000'000'000;  // seconds
  const bool is_number =
      !field.empty() && field.find_first_not_of("0123456789") == std::string_view::npos;
  if (is_number) {
    std::uint32_t seconds = 0;
    const auto parsed = std::from_chars(field.data(), field.data() + field.size(), seconds);
    if (parsed.ec != std::errc()) seconds = most;
    return std::chrono::seconds(std::min(seconds, most));
  }
  const auto date = parse_http_date(field, now);
  if (!date) return std::nullopt;
  return std::clamp(*date - now, std::chrono::seconds(0), std::chrono::seconds(most));
}

Attempts::Attempts(const GetOptions& options, bool has_repeatable_content, loop::Instant now)
    : options_(options.retry),
      last_(later(now, options_.max_time)),
      backoff_(options_.delay),
      is_repeatable_(has_repeatable_content && is_idempotent_method(options.method)) {}

std::optional<Retry> Attempts::after(const Result<ClientResponse, Problem>& outcome,
                                     loop::Instant now) {
  if (!outcome) return after(outcome.error(), now);
  std::optional<Duration> asked;
  if (const auto field = outcome->header("retry-after")) {
    asked = parse_retry_after(
        *field, std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now()));
  }
  return after(outcome->status(), asked, now);
}

std::optional<Retry> Attempts::after(const Problem& problem, loop::Instant now) {
  if (!is_transient(problem.code()) || !may_repeat()) return std::nullopt;
  return next(std::nullopt, problem.text, now);
}

std::optional<Retry> Attempts::after(Status status, std::optional<Duration> asked,
                                     loop::Instant now) {
  if (!is_transient(status) || !may_repeat()) return std::nullopt;
  std::string said = "the server answered " + std::to_string(code(status));
  said.append(" ").append(reason(status));
  return next(asked, said, now);
}

std::optional<Retry> Attempts::next(std::optional<Duration> asked, std::string_view why,
                                    loop::Instant now) {
  if (count_ == options_.count || asked > longest_asked) return std::nullopt;
  const Duration wait =
      asked ? scaled(*asked, 1 + random_share() / 10) : scaled(backoff_, 0.5 + random_share() / 2);
  if (last_ - now < wait) return std::nullopt;
  ++count_;
  backoff_ = std::max(backoff_, std::min(2 * backoff_, longest_backoff));
  std::string said = "retrying in " + milliseconds_text(wait) + " (" + std::to_string(count_) +
                     " of " + std::to_string(options_.count) + "): ";
  return Retry{wait, complaint(said.append(why))};
}

}  // namespace skua::cli
