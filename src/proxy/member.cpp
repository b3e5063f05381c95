// SPDX-License-Identifier: MIT
// In: the end of a request. Out: what it says about the member of the group that had it.
#include "proxy/member.hpp"

#include <algorithm>
#include <chrono>

#include "crypto/keyed_hash.hpp"

namespace skua::proxy {
namespace {

constexpr double least_part = 0.1;  // of the weight, in a slow start

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

double Member::weight_at(loop::Instant now, Duration slow_start) const noexcept {
  if (slow_start <= Duration::zero()) return weight;
  const Duration::rep since = std::max(back_since.load(std::memory_order_relaxed),
                                       ejected_until.load(std::memory_order_relaxed));
  const double in_service = static_cast<double>((now - loop::Instant(Duration(since))).count());
  const double part = in_service / static_cast<double>(slow_start.count());
  return weight * std::clamp(part, least_part, 1.0);
}

}  // namespace skua::proxy
