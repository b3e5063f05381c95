// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>

#include "loop/clock.hpp"
#include "loop/loop.hpp"
#include "server/resources.hpp"
#include "ws/message_coding.hpp"
#include "ws/wire.hpp"

namespace skua::server {

/// Returns when the next WebSocket ends in a drain, from its beginning. Clients that are sent away
/// at the same moment would come back at the same moment, so the times are evenly spread over
/// Timeouts::websocket_spread, however many there are: multiples of the golden ratio.
inline Duration next_drain_delay(Resources& resources) noexcept {
  constexpr double golden_ratio = 0.618033988749895;
  const auto spread = static_cast<double>(resources.options.timeouts.websocket_spread.count());
  const double turn = golden_ratio * resources.drained_sockets++;
  return Duration(static_cast<Duration::rep>(spread * (turn - std::floor(turn))));
}

/// A connection, or a stream of one, that was taken over from HTTP, as seen by its user: a
/// WebSocket with its application, or a tunnel.
class Carrier : public ws::Wire {
 public:
  [[nodiscard]] virtual Resources& resources() const noexcept = 0;

  [[nodiscard]] loop::Instant now() noexcept final { return resources().loop.now(); }
  [[nodiscard]] const skua::detail::OwnThread& thread() const noexcept final {
    return resources().loop.thread();
  }
  [[nodiscard]] ws::Poster poster() final { return resources().poster(); }
  [[nodiscard]] ws::Codecs& codecs() noexcept final { return resources().codecs; }

 protected:
  ~Carrier() = default;
};

}  // namespace skua::server
