// SPDX-License-Identifier: MIT
#include "server/connection_cap.hpp"

#include <algorithm>
#include <thread>

#include "files/file_body.hpp"

namespace skua::server {
namespace {

// A listener, its spare descriptor, the loop's own two, and a file being read.
constexpr std::size_t descriptors_per_thread = 5;

}  // namespace

std::size_t connection_cap(const ServerOptions& options, std::size_t open_files,
                           std::size_t taken) noexcept {
  const std::size_t threads =
      options.threads != 0 ? options.threads : std::max(1U, std::thread::hardware_concurrency());
  const std::size_t needed = taken + threads * descriptors_per_thread;
  if (open_files <= needed) return 0;
  const std::size_t left = open_files - needed;
  // Half of the reserve is for files that responses hold open.
  const std::size_t reserve = std::min(2 * files::held_files_at_most(open_files), left / 2);
  return std::min(options.limits.connections, left - reserve);
}

}  // namespace skua::server
