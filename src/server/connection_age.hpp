// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "base/later.hpp"
#include "loop/clock.hpp"
#include "server/resources.hpp"

namespace skua::server {

/// Returns when a connection that begins now reaches Timeouts::connection_age. Varied by up to 10%
/// either way, so that connections opened together do not all end together.
inline loop::Instant end_of_age(Resources& resources, const void* seed) noexcept {
  const Duration age = resources.options.timeouts.connection_age;
  const auto spread =
      static_cast<Duration::rep>(reinterpret_cast<std::uintptr_t>(seed) >> 6 & 0xFF);
  return later(later(resources.loop.now(), age / 10 * 9), age / (5 * 255) * spread);
}

}  // namespace skua::server
