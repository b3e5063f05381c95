// SPDX-License-Identifier: MIT
#pragma once

#include "ladder.hpp"

#include <thread>
#include <vector>

namespace ladder {

/// Runs `serve(listener)`, which does not return, in a thread per core. Each thread has a listener
/// of its own on the same port (SO_REUSEPORT): the kernel deals new connections out, and the
/// threads share nothing, neither a lock nor a line of cache.
template <typename Serve>
void run_on_every_core(std::uint16_t port, Serve serve) {
  const int first = open_listener(port, true);
  std::vector<std::thread> threads;
  for (unsigned i = 1; i < std::thread::hardware_concurrency(); ++i) {
    threads.emplace_back(serve, open_listener(port_of(first), true));
  }
  announce(first);
  serve(first);
}

}  // namespace ladder
