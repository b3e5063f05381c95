// SPDX-License-Identifier: MIT
// In: events. Out: a score. The weights are set against the default mark: a burst of 200 resets,
// 500 SETTINGS or 1,000 unprovoked PINGs passes, as do 20, 50 and 100 a second forever. Real peers
// stay below a quarter of that: docs/decisions/0018-what-is-charged-as-abuse.md.
#include "h2/abuse_guard.hpp"

#include <algorithm>
#include <limits>

namespace skua::h2 {
namespace {

/// A smaller window update is not worth its frame.
constexpr std::uint32_t tiny_window_bytes = 1024;

}  // namespace

std::uint32_t AbuseGuard::weight(Abuse what) noexcept {
  switch (what) {
    case Abuse::PeerReset: return 100;
    case Abuse::ProvokedReset: return 200;
    case Abuse::RefusedStream: return 5;  // bursts are normal until our SETTINGS arrive
    case Abuse::EmptyData: return 100;
    case Abuse::PaddedData: return 20;
    case Abuse::LateFrame: return 1;  // an upload in flight when we reset it
    case Abuse::Settings: return 40;
    case Abuse::Ping: return 20;
    case Abuse::Priority: return 10;
    case Abuse::WindowUpdate: return 1;
    case Abuse::TinyWindowUpdate: return 20;
    case Abuse::Continuation: return 20;
    case Abuse::UnknownFrame: return 20;
  }
  return 0;
}

void AbuseGuard::charge(Abuse what, loop::Instant now) noexcept {
  leak(now);
  const std::uint32_t room = std::numeric_limits<std::uint32_t>::max() - score_;
  score_ += std::min(weight(what), room);
  last_ = what;
}

void AbuseGuard::take_window_update(std::uint32_t bytes, loop::Instant now) noexcept {
  if (free_update_bytes_ >= bytes_per_free_update) {
    free_update_bytes_ -= bytes_per_free_update;
    return;
  }
  charge(bytes < tiny_window_bytes ? Abuse::TinyWindowUpdate : Abuse::WindowUpdate, now);
}

void AbuseGuard::take_ping(loop::Instant now) noexcept {
  if (free_pings_ == 0) return charge(Abuse::Ping, now);
  --free_pings_;
}

const char* AbuseGuard::reason() const noexcept {
  switch (last_) {
    case Abuse::PeerReset: return "too many reset requests";
    case Abuse::ProvokedReset: return "too many stream errors";
    case Abuse::RefusedStream: return "too many streams over the limit";
    case Abuse::EmptyData: return "too many empty DATA frames";
    case Abuse::PaddedData: return "too much padding in DATA frames";
    case Abuse::LateFrame: return "too many frames on closed streams";
    case Abuse::Settings: return "too many SETTINGS frames";
    case Abuse::Ping: return "too many PING frames";
    case Abuse::Priority: return "too many PRIORITY frames";
    case Abuse::WindowUpdate: return "too many WINDOW_UPDATE frames";
    case Abuse::TinyWindowUpdate: return "too many tiny WINDOW_UPDATE frames";
    case Abuse::Continuation: return "too many CONTINUATION frames";
    case Abuse::UnknownFrame: return "too many useless frames";
  }
  return "too many cheap frames";
}

void AbuseGuard::leak(loop::Instant now) noexcept {
  if (score_ == 0 || limits_.leak_per_second == 0) {
    leaked_until_ = std::max(leaked_until_, now);
    return;
  }
  // Keep the time that does not add up to a whole point for the next call.
  const auto per_point =
      std::max(Duration(1), Duration(std::chrono::seconds(1)) / limits_.leak_per_second);
  if (now < leaked_until_ + per_point) return;
  const auto points = static_cast<std::uint64_t>((now - leaked_until_) / per_point);
  forgive(static_cast<std::uint32_t>(
      std::min<std::uint64_t>(points, std::numeric_limits<std::uint32_t>::max())));
  leaked_until_ += per_point * static_cast<Duration::rep>(points);
}

}  // namespace skua::h2
