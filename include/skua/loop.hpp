// SPDX-License-Identifier: MIT
#pragma once

#include "skua/release.hpp"  // first: checks the C++ version

#include <cstddef>
#include <functional>
#include <initializer_list>
#include <memory>
#include <type_traits>
#include <utility>

#include "skua/async.hpp"
#include "skua/backend.hpp"
#include "skua/bytes.hpp"
#include "skua/config.hpp"
#include "skua/error.hpp"
#include "skua/task.hpp"

// Event loops for programs with sockets of their own. Streams, timers and the like belong to the
// loop on which they are made: the one that runs a turn on this thread (also a server's, and that
// of skua::run), or else the Loop that was created on it. They must be destroyed before that loop,
// on its thread.

namespace skua {

/// Options of a loop.
struct LoopOptions {
  BackendChoice backend = BackendChoice::Auto;
  unsigned offload_threads = 4;      ///< for offload() calls; started when needed
  std::size_t offload_queue = 1024;  ///< offload() calls that may wait; more end with Overloaded
};

/// An event loop, which belongs to the thread that creates it: descriptors, timers, tasks, and
/// calls posted by other threads.
///
/// ```cpp
/// const auto loop = skua::Loop::create().value();
/// loop->spawn(serve_clients());
/// loop->run();
/// ```
///
/// An exception that leaves a task or a callback ends run() or poll(), which rethrow it. Only
/// post() and stop() may be called on other threads.
class SKUA_API Loop final {
 public:
  /// Ends with: Unsupported if the machine lacks the back end; TooManyOpenFiles and the like.
  static Result<std::unique_ptr<Loop>> create(const LoopOptions& options = {});
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;
  /// Drops the tasks that were spawned, and calls that have not run.
  ~Loop();

  /// Runs turns until stop().
  void run();
  /// Makes the current run() return after its turn, or the next one at once. Any thread, and signal
  /// handlers.
  void stop() noexcept;
  /// Runs a task to completion and returns its result; stop() has no effect on that.
  ///
  /// Ends with: what the task throws; std::logic_error in a turn of a loop.
  template <class T>
  T run(Task<T> task) {
    Task<T> running = std::move(task);
    detail::drive(
        *this, [](const void* it) noexcept { return static_cast<const Task<T>*>(it)->is_done(); },
        [](void* it) { static_cast<Task<T>*>(it)->start(nullptr, nullptr); }, &running);
    return running.result();
  }

  // For programs that wait in a loop of their own:
  //
  //   pollfd entry{.fd = loop->descriptor(), .events = POLLIN};
  //   ::poll(&entry, 1, milliseconds(loop->wait_limit()));
  //   loop->poll();

  /// Runs one turn, which waits at most `max_wait` for something to do.
  void poll(Duration max_wait = Duration::zero());
  /// Returns a descriptor that is readable when poll() has something to do; -1 if the back end has
  /// none (BackendChoice::Poll).
  [[nodiscard]] int descriptor() const noexcept;
  /// Returns how long poll() may be put off while descriptor() is not readable: until the next
  /// timer, or zero; Duration::max() if none runs.
  [[nodiscard]] Duration wait_limit() noexcept;

  /// Runs `call` on the loop's thread, in the order of posting. Any thread.
  void post(std::function<void()> call);
  /// Starts a task at once. The loop owns it until it ends.
  void spawn(Task<> task);
  /// Starts a task, and calls `on_done` with its result: for programs without coroutines.
  ///
  /// ```cpp
  /// loop->spawn(skua::TcpStream::connect("example.com", 80), [&](auto connected) { ... });
  /// ```
  template <class T, class F>
    requires std::is_invocable_v<F&, T>
  void spawn(Task<T> task, F on_done) {
    spawn(call_with_result(std::move(task), std::move(on_done)));
  }

  [[nodiscard]] BackendChoice backend() const noexcept;

 private:
  struct Impl;

  explicit Loop(std::unique_ptr<Impl> impl) noexcept;
  friend void detail::drive(Loop& loop, bool (*is_done)(const void* task) noexcept,
                            void (*start)(void* task), void* task);
  template <class T, class F>
  static Task<> call_with_result(Task<T> task, F on_done) {
    T result = co_await task;
    on_done(std::move(result));
  }

  std::unique_ptr<Impl> impl_;
};

/// A timer that calls a function. Coroutines use sleep() instead.
///
/// It may be started, stopped, moved or destroyed at any time, also in its own callback.
class SKUA_API Timer final {
 public:
  /// Ends with: std::logic_error on a thread without a loop.
  explicit Timer(std::function<void()> callback);
  Timer(Timer&&) noexcept;
  Timer& operator=(Timer&&) noexcept;
  ~Timer();

  /// Calls the callback once, when `delay` has passed, and up to a few milliseconds later. A
  /// running timer starts anew.
  ///
  /// Ends with: std::logic_error on another thread than its loop's.
  void start(Duration delay);
  void stop() noexcept;
  [[nodiscard]] bool is_running() const noexcept;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;  // shared with the running callback
};

/// Signals of the process (SIGINT, SIGTERM, SIGHUP, ...) as events of a loop.
///
/// While the object exists, the signals have no other effect; afterwards their dispositions are
/// restored.
class SKUA_API Signals final {
 public:
  /// Ends with: Unsupported if something else watches one of the signals, or it cannot be caught.
  static Result<Signals> watch(std::initializer_list<int> signals);
  Signals(Signals&&) noexcept;
  Signals& operator=(Signals&&) noexcept;
  ~Signals();

  /// Returns the number of the next signal. Signals that arrive meanwhile wait for the next call.
  ///
  /// Waits for: a signal.
  Task<int> next();
  /// Calls `callback` for each signal from now on, instead of next(); an empty function stops that.
  void on_signal(std::function<void(int signal)> callback);

 private:
  struct Impl;
  explicit Signals(std::shared_ptr<Impl> impl) noexcept;
  std::shared_ptr<Impl> impl_;  // shared with tasks that wait, and the running callback
};

namespace loop {
class Watch;
}

/// Waits for a descriptor that something else owns: a library's socket, a pipe, an eventfd.
///
/// It uses a duplicate, so that the same descriptor can be watched more than once. Destroy it
/// before the descriptor is closed: the duplicate keeps its file open.
class SKUA_API DescriptorWatch final {
 public:
  /// Ends with: the system's error.
  static Result<DescriptorWatch> create(int descriptor);
  DescriptorWatch(DescriptorWatch&&) noexcept;
  DescriptorWatch& operator=(DescriptorWatch&&) noexcept;
  ~DescriptorWatch();

  /// Wait until an operation on the descriptor would not block: it is ready, has ended or failed.
  ///
  /// Waits for: at most `patience`.
  /// Ends with: TimedOut; Closed if the watch is destroyed; Unsupported and the like if the system
  ///            cannot wait for such a descriptor, as for a regular file.
  Task<Result<void>> readable(Duration patience = Duration::max());
  Task<Result<void>> writable(Duration patience = Duration::max());

  /// Calls `callback` in each turn in which the descriptor is readable; an empty function stops
  /// that.
  void on_readable(std::function<void()> callback);

 private:
  explicit DescriptorWatch(std::shared_ptr<loop::Watch> watch) noexcept;
  std::shared_ptr<loop::Watch> watch_;  // shared with tasks that wait, and the back end
};

}  // namespace skua
