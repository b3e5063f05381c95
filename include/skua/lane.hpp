// SPDX-License-Identifier: MIT
#pragma once

#include "skua/release.hpp"  // first: checks the C++ version

#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

#include "skua/async.hpp"
#include "skua/config.hpp"
#include "skua/task.hpp"

namespace skua {

namespace loop {
class WorkerPool;
}

/// Options of a lane.
struct LaneOptions {
  unsigned threads = 1;           ///< started when needed; zero is one
  std::size_t queued_calls = 64;  ///< that may wait for a thread; more end with Overloaded
};

/// Threads for some of the calls of offload(), so that however many of these there are, they do not
/// hold up the others: password hashes, reports, and whatever else strangers can order.
///
/// ```cpp
/// skua::Lane hashes;  // one thread
/// router.post("/login", [&hashes](skua::Request& request) -> skua::Task<skua::Response> {
///   const std::string password = co_await request.text();
///   const auto check = [password] { return is_right(password); };
///   auto checking = skua::offload(hashes, check);
///   const bool may_enter = co_await checking;
///   co_return may_enter ? skua::Status::Ok : skua::Status::Unauthorized;
/// });
/// ```
///
/// Any thread may use it. Its calls are not among those that Server::counters() counts.
///
/// Lifetime:  outlives the tasks that wait for its calls. The destructor waits for calls that have
///            begun.
class SKUA_API Lane final {
 public:
  explicit Lane(const LaneOptions& options = {});
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;
  ~Lane();

  /// Reports whether a call would be refused now.
  [[nodiscard]] bool is_full() const noexcept;

 private:
  friend class detail::OffloadAwaiter;
  std::unique_ptr<loop::WorkerPool> pool_;
};

/// Like offload(), on the threads of a lane.
///
/// Lifetime:  the lane outlives the task.
template <class F>
Task<std::invoke_result_t<std::decay_t<F>&>> offload(Lane& lane, F&& function) {
  static_assert(!detail::is_task<std::invoke_result_t<std::decay_t<F>&>>,
                "a coroutine cannot be offloaded: co_await it, and offload the blocking calls in "
                "it");
  static_assert(SafeInAwait<F>,
                "store a closure with captures in a variable before passing it to offload(): "
                "GCC 12 destroys a temporary one twice");
  return detail::offload_kept<std::decay_t<F>>(std::forward<F>(function), &lane);
}

}  // namespace skua
