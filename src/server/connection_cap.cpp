// SPDX-License-Identifier: MIT
#include "server/connection_cap.hpp"

#include <algorithm>
#include <thread>

namespace skua::server {
namespace {

// A listener, its spare descriptor, the loop's own two, and a file that is being read.
constexpr std::size_t descriptors_per_thread = 5;
constexpr std::size_t least_reserve = 16;
constexpr std::size_t most_reserve = 1024;

}  // namespace

std::size_t connection_cap(const ServerOptions& options, std::size_t open_files,
                           std::size_t taken) noexcept {
  const std::size_t threads =
      options.threads != 0 ? options.threads : std::max(1U, std::thread::hardware_concurrency());
  const std::size_t needed = taken + threads * descriptors_per_thread;
  if (open_files <= needed) return 0;
  const std::size_t left = open_files - needed;
  const std::size_t reserve = std::min({least_reserve + open_files / 16, most_reserve, left / 2});
  return std::min(options.limits.connections, left - reserve);
}

}  // namespace skua::server
