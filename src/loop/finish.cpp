// SPDX-License-Identifier: MIT
// In: tasks that must not stop half-way. Out: their end, for which the owner of the loop
// waits; a line in the log about what failed unseen, or did not end in time.
#include "skua/finish.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "async/guarded.hpp"
#include "loop/current.hpp"
#include "loop/loop.hpp"

namespace skua::loop {
namespace {

void tell(const Loop& loop, LogLevel level, std::string_view text) {
  if (loop.log() != nullptr && *loop.log()) (*loop.log())(level, text);
}

/// The tasks of a loop.
struct FinishingTasks {
  explicit FinishingTasks(Loop& their_loop) noexcept : loop(their_loop) {}
  FinishingTasks(const FinishingTasks&) = delete;
  FinishingTasks& operator=(const FinishingTasks&) = delete;
  ~FinishingTasks() {
    if (tasks.size() == 0) return;
    async::guarded([this] {
      tell(loop, LogLevel::Error,
           "time was up for tasks of skua::finish() that had not ended: " +
               std::to_string(std::uint64_t{tasks.size()}));
    });
  }

  Loop& loop;
  Scope tasks;
};

/// Counts a task as one that the end of the loop waits for.
class Counted {
 public:
  explicit Counted(Loop::KeptTasks& tasks) noexcept : tasks_(tasks) { ++tasks_.count; }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;
  ~Counted() {
    if (--tasks_.count == 0 && tasks_.on_last_end != nullptr) tasks_.on_last_end(tasks_.context);
  }

 private:
  Loop::KeptTasks& tasks_;
};

Task<> run_counted(Loop::KeptTasks& tasks, Task<> task) {
  const Counted counted(tasks);
  Task<> running = std::move(task);  // NOLINT(misc-const-correctness): it runs
  co_await running;
}

}  // namespace
}  // namespace skua::loop

namespace skua::detail {

void keep_running(Task<> task) {
  loop::Loop& loop = loop::Loop::current();
  loop::Loop::KeptTasks& kept = loop.kept_tasks();
  if (kept.owner == nullptr) kept.owner = std::make_shared<loop::FinishingTasks>(loop);
  static_cast<loop::FinishingTasks*>(kept.owner.get())
      ->tasks.spawn(loop::run_counted(kept, std::move(task)));
}

void tell_of_lost(const std::exception_ptr& failure) noexcept {
  loop::Loop* const loop = loop::find_current();
  if (failure == nullptr || loop == nullptr) return;
  const auto rethrow = [&failure] { std::rethrow_exception(failure); };
  if (loop->log() == nullptr) return loop->call_user(rethrow);
  async::guarded(rethrow, [loop](std::string_view why) {
    async::guarded([&] {
      std::string line("a task that nobody awaits any more failed: ");
      loop::tell(*loop, LogLevel::Error, line.append(why));
    });
  });
}

}  // namespace skua::detail
