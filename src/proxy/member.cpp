// SPDX-License-Identifier: MIT
// In: the end of a request. Out: what it says about the member of the group that had it.
#include "proxy/member.hpp"

#include <algorithm>
#include <chrono>

#include "crypto/keyed_hash.hpp"

namespace skua::proxy {
namespace {

constexpr double least_part = 0.1;  // of the weight, in a slow start
constexpr std::uint32_t load_of_failure = 8;
constexpr std::uint32_t most_failures = 16;  // that count as load
constexpr Duration half_life = 500ms;
constexpr Duration::rep half_lives = 8;  // after which nothing is left

// Its key is fixed, so that several gateways agree.
constexpr crypto::KeyedHash name_hash(0x736b75612d677721U, 0x75707374726561adU);

}  // namespace

bool is_failure(Outcome outcome) noexcept {
  switch (outcome) {
    case Outcome::Answered:
    case Outcome::ServerError:
    case Outcome::Local:
    case Outcome::Cancelled: return false;
    default: return true;
  }
}

Member::Member(std::size_t index, std::string text, std::optional<Address> at, unsigned times)
    : target(index), name(std::move(text)), address(at), weight(times), hash(name_hash(name)) {}

std::uint32_t Member::fail(loop::Instant now) noexcept {
  last_failure.store(now.time_since_epoch().count(), std::memory_order_relaxed);
  return failures.fetch_add(1, std::memory_order_relaxed) + 1;
}

std::uint32_t Member::load_of_failures(loop::Instant now) const noexcept {
  const std::uint32_t count = failures.load(std::memory_order_relaxed);
  if (count == 0) return 0;
  const Duration since =
      now - loop::Instant(Duration(last_failure.load(std::memory_order_relaxed)));
  const Duration::rep lives = std::max<Duration::rep>(since / half_life, 0);
  if (lives >= half_lives) return 0;
  return (std::min(count, most_failures) * load_of_failure) >> static_cast<unsigned>(lives);
}

bool Member::is_our_own(Error error) const noexcept {
  switch (error.code()) {
    case Errc::TooManyOpenFiles:
    case Errc::OutOfMemory: return true;
    case Errc::AddressUnavailable:
      return passed_checks.load(std::memory_order_relaxed) != 0 ||
             outcomes[static_cast<std::size_t>(Outcome::Answered)].load(
                 std::memory_order_relaxed) != 0;
    default: return false;
  }
}

double Member::weight_at(loop::Instant now, Duration slow_start) const noexcept {
  if (slow_start <= Duration::zero()) return weight;
  const Duration::rep since = std::max(back_since.load(std::memory_order_relaxed),
                                       ejected_until.load(std::memory_order_relaxed));
  const double in_service = static_cast<double>((now - loop::Instant(Duration(since))).count());
  const double part = in_service / static_cast<double>(slow_start.count());
  return weight * std::clamp(part, least_part, 1.0);
}

}  // namespace skua::proxy
