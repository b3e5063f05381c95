// SPDX-License-Identifier: MIT
// In: permits that are given back. Out: a permit to the first that waits, on the loop that it waits
// on. Nobody who comes later can take it before.
#include "async/semaphore.hpp"

#include <mutex>
#include <new>
#include <utility>

#include "base/intrusive_list.hpp"
#include "loop/loop.hpp"
#include "loop/timed_wait.hpp"
#include "skua/waiter.hpp"

namespace skua::async {
namespace {

struct Waiting final : base::ListNode, std::enable_shared_from_this<Waiting> {
  explicit Waiting(std::shared_ptr<loop::Mailbox> of_loop) : mailbox(std::move(of_loop)) {}

  const std::shared_ptr<loop::Mailbox> mailbox;
  skua::detail::WaiterList changed{};  // only the loop's thread uses it
  bool has_permit = false;             // guarded by State::mutex
};

}  // namespace

struct Semaphore::State {
  explicit State(std::size_t count) noexcept : free(count) {}

  [[nodiscard]] bool try_take() noexcept {
    const std::lock_guard lock(mutex);
    if (free == 0) return false;
    --free;
    return true;
  }
  /// Takes a permit, or joins the end of the line.
  void take_or_wait(Waiting& waiting) noexcept {
    const std::lock_guard lock(mutex);
    if (free == 0) return line.push_back(waiting);
    --free;
    waiting.has_permit = true;
  }
  void give_back() noexcept {
    std::shared_ptr<Waiting> first;
    {
      const std::lock_guard lock(mutex);
      if (line.empty()) {
        ++free;
        return;
      }
      first = line.front().shared_from_this();
      first->unlink();
      first->has_permit = true;
    }
    // The task on a loop that is gone has been dropped, or will be, which gives the permit back.
    try {
      loop::Mailbox& mailbox = *first->mailbox;
      mailbox.post([first] { first->changed.wake_all(); });
    } catch (const std::bad_alloc&) {  // it finds the permit when its time is up
      return;
    }
  }

  std::mutex mutex;
  std::size_t free;                   // guarded by mutex, like the next; 0 while anybody waits
  base::IntrusiveList<Waiting> line;  // in the order of arrival
};

/// A task's place in the line.
class Semaphore::Place final {
 public:
  Place(State& state, const loop::Loop& loop)
      : state_(state), waiting_(std::make_shared<Waiting>(loop.mailbox())) {
    state_.take_or_wait(*waiting_);
  }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;
  ~Place() {
    if (leave()) state_.give_back();
  }

  [[nodiscard]] bool has_permit() const noexcept {
    const std::lock_guard lock(state_.mutex);
    return waiting_->has_permit;
  }
  [[nodiscard]] skua::detail::WaiterList& changed() noexcept { return waiting_->changed; }
  /// Leaves the line. Returns whether it had got a permit, which is the caller's from now on.
  bool leave() noexcept {
    const std::lock_guard lock(state_.mutex);
    waiting_->unlink();
    return std::exchange(waiting_->has_permit, false);
  }

 private:
  State& state_;
  const std::shared_ptr<Waiting> waiting_;  // shared with the post that is on its way
};

Semaphore::Semaphore(std::size_t count) : state_(std::make_shared<State>(count)) {}

Semaphore::Permit Semaphore::permit_of(const std::shared_ptr<State>& state) {
  return {state.get(), [state](const void*) { state->give_back(); }};
}

Semaphore::Permit Semaphore::try_acquire() const {
  return state_->try_take() ? permit_of(state_) : nullptr;
}

Task<Semaphore::Permit> Semaphore::acquire(Duration patience) const {
  return wait_for_permit(state_, patience);
}

Task<Semaphore::Permit> Semaphore::wait_for_permit(std::shared_ptr<State> state,
                                                   Duration patience) {
  loop::Loop& loop = loop::Loop::current();
  const loop::Instant deadline = later(loop.now(), patience);
  Place place(*state, loop);
  while (!place.has_permit()) {
    const Duration left = deadline - loop.now();
    if (left <= Duration(0)) break;
    co_await loop::TimedWait(loop, place.changed(), left);
  }
  co_return place.leave() ? permit_of(state) : nullptr;
}

}  // namespace skua::async
