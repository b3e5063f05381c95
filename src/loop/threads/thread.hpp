// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <thread>

#include "loop/loop.hpp"
#include "loop/worker_pool.hpp"

namespace skua::loop {

/// A loop that runs on a thread of its own, with a pool for calls that would block it.
///
/// Lifetime:  any thread but its own destroys it.
class Thread final {
 public:
  struct Options {
    std::size_t pool_threads = 1;
    std::size_t pool_queue = 64;  ///< calls that wait for a thread of the pool
  };

  /// Starts the thread. `begin` is the first that it runs, `end` the last, even if `begin` throws.
  ///
  /// Waits for: `begin`.
  /// Ends with: what it throws; Exception if the machine has no back end for a loop, or no thread.
  Thread(Options options, const std::function<void()>& begin, std::function<void()> end);
  Thread(const Thread&) = delete;
  Thread& operator=(const Thread&) = delete;
  /// Waits for what is running on the thread, and for `end`; drops what was posted after that.
  ~Thread();

  /// Where others post to. It rejects posts once the thread is gone.
  [[nodiscard]] const std::shared_ptr<Mailbox>& mailbox() const noexcept {
    return loop_->mailbox();
  }

 private:
  void stop();

  const std::function<void()> end_;
  const std::unique_ptr<Loop> loop_;
  WorkerPool pool_;
  std::thread thread_;
};

}  // namespace skua::loop
