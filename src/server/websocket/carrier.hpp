// SPDX-License-Identifier: MIT
#pragma once

#include "loop/clock.hpp"
#include "loop/loop.hpp"
#include "server/resources.hpp"
#include "ws/message_coding.hpp"
#include "ws/wire.hpp"

namespace skua::server {

/// A connection, or a stream of one, that was taken over from HTTP, as seen by its user: a
/// WebSocket with its application, or a tunnel.
class Carrier : public ws::Wire {
 public:
  [[nodiscard]] virtual Resources& resources() const noexcept = 0;

  [[nodiscard]] loop::Instant now() noexcept final { return resources().loop.now(); }
  [[nodiscard]] ws::Poster poster() final { return resources().poster(); }
  [[nodiscard]] ws::Codecs& codecs() noexcept final { return resources().codecs; }

 protected:
  ~Carrier() = default;
};

}  // namespace skua::server
