// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "base/later.hpp"
#include "loop/clock.hpp"
#include "server/resources.hpp"

namespace skua::server {

/// When a connection that begins now has been open for long enough: Timeouts::connection_age, +-10
/// %, so that the connections of one moment do not all end in one moment.
inline loop::Instant end_of_age(Resources& resources, const void* seed) noexcept {
  const Duration age = resources.options.timeouts.connection_age;
  const auto spread =
      static_cast<Duration::rep>(reinterpret_cast<std::uintptr_t>(seed) >> 6 & 0xFF);
  return later(later(resources.loop.now(), age / 10 * 9), age / (5 * 255) * spread);
}

}  // namespace skua::server
