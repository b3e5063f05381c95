// SPDX-License-Identifier: MIT
// Events in, a score out. The weights are set against the default mark: a burst of 200 resets, 100
// SETTINGS or 1,000 PINGs passes, as do 20, 10 and 100 a second for ever. Browsers that cancel a
// page, downloads and gRPC stay far below; see the tests.
#include "h2/abuse_guard.hpp"

#include <algorithm>
#include <limits>

namespace skua::h2 {

std::uint32_t AbuseGuard::weight(Abuse what) noexcept {
  switch (what) {
    case Abuse::PeerReset: return 100;
    case Abuse::ProvokedReset: return 200;
    case Abuse::RefusedStream: return 50;
    case Abuse::EmptyData: return 100;
    case Abuse::PaddedData: return 20;
    case Abuse::LateFrame: return 2;  // an upload that was on its way when we reset it
    case Abuse::Settings: return 200;
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
}

void AbuseGuard::leak(loop::Instant now) noexcept {
  if (score_ == 0 || limits_.leak_per_second == 0) {
    leaked_until_ = std::max(leaked_until_, now);
    return;
  }
  // What does not make a whole point yet is left for the next time.
  const auto per_point =
      std::max(Duration(1), Duration(std::chrono::seconds(1)) / limits_.leak_per_second);
  if (now < leaked_until_ + per_point) return;
  const auto points = static_cast<std::uint64_t>((now - leaked_until_) / per_point);
  forgive(static_cast<std::uint32_t>(
      std::min<std::uint64_t>(points, std::numeric_limits<std::uint32_t>::max())));
  leaked_until_ += per_point * static_cast<Duration::rep>(points);
}

}  // namespace skua::h2
