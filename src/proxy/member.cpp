// SPDX-License-Identifier: MIT
// In: the end of a request. Out: what it says about the member of the group that had it.
#include "proxy/member.hpp"

#include <algorithm>
#include <chrono>

#include "base/keyed_hash.hpp"

namespace skua::proxy {
namespace {

constexpr double least_part = 0.1;  // of the weight, in a slow start

// Its key is fixed, so that several gateways agree.
constexpr KeyedHash name_hash(0x736b75612d677721U, 0x75707374726561adU);

}  // namespace

std::string_view name(Outcome outcome) noexcept {
  switch (outcome) {
    case Outcome::Answered: return "answered";
    case Outcome::ServerError: return "server_error";
    case Outcome::Unavailable: return "unavailable";
    case Outcome::ConnectFailed: return "connect_failed";
    case Outcome::ConnectTimeout: return "connect_timeout";
    case Outcome::TlsFailed: return "tls_failed";
    case Outcome::Timeout: return "timeout";
    case Outcome::Closed: return "closed";
    case Outcome::Malformed: return "malformed";
    case Outcome::Incomplete: return "incomplete";
    case Outcome::Local: return "local";
    case Outcome::Cancelled: return "cancelled";
  }
  return "";
}

bool is_failure(Outcome outcome) noexcept {
  switch (outcome) {
    case Outcome::Answered:
    case Outcome::ServerError:
    case Outcome::Local:
    case Outcome::Cancelled: return false;
    default: return true;
  }
}

Outcome outcome_of(Error error, const client::Reached& reached) noexcept {
  if (reached.is_fallback) return Outcome::Local;
  switch (error.code()) {
    case Errc::TooManyOpenFiles:
    case Errc::OutOfMemory:
    case Errc::Overloaded:
    case Errc::Cancelled: return Outcome::Local;
    case Errc::TimedOut:
      if (reached.is_connected) return Outcome::Timeout;
      return reached.has_tried ? Outcome::ConnectTimeout : Outcome::Local;
    default: break;
  }
  if (!reached.is_connected) {
    switch (error.code()) {
      case Errc::TlsConfiguration:
      case Errc::TlsHandshakeFailed:
      case Errc::TlsCertificate:
      case Errc::TlsFailed:
      case Errc::TlsTruncated:
      case Errc::PlainHttp: return Outcome::TlsFailed;
      default: return Outcome::ConnectFailed;
    }
  }
  switch (error.code()) {
    case Errc::Closed:
    case Errc::Reset:
    case Errc::Refused:
    case Errc::Unreachable:
    case Errc::TlsTruncated:
    case Errc::TlsFailed:
    case Errc::TruncatedBody:
    case Errc::SystemFailure: return Outcome::Closed;
    default: return Outcome::Malformed;
  }
}

Outcome outcome_of(std::uint16_t status) noexcept {
  if (status >= 502 && status <= 504) return Outcome::Unavailable;
  return status >= 500 ? Outcome::ServerError : Outcome::Answered;
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
