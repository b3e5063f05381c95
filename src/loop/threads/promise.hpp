// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <utility>

#include "loop/loop.hpp"
#include "skua/error.hpp"
#include "skua/task.hpp"
#include "skua/waiter.hpp"

namespace skua::loop {

/// A result that a task on one loop waits for, and that any thread may provide. Copies are the same
/// promise. If the last is destroyed before it is resolved, the result is Closed.
///
/// ```cpp
/// Promise<int> promise("the counter");
/// auto waiting = promise.result();
/// counter_mailbox->post([promise = std::move(promise)] { promise.resolve(42); });
/// const Result<int, Problem> count = co_await waiting;
/// ```
template <class T>
class Promise final {
 public:
  using Outcome = Result<T, Problem>;

  /// For a task on the current loop. `context`, a literal, is that of Closed.
  ///
  /// Ends with: std::logic_error on a thread without a loop.
  explicit Promise(const char* context)
      : owner_(std::make_shared<const Owner>(std::make_shared<State>(Loop::current().mailbox()),
                                             context)) {}

  /// Once. Dropping the task tells is_wanted().
  ///
  /// Waits for: resolve().
  [[nodiscard]] Task<Outcome> result() const { return wait(Interest(owner_->state)); }

  // Any thread.

  /// Results after the first are dropped, and so are those that nobody wants.
  void resolve(Outcome outcome) const { owner_->state->resolve(std::move(outcome)); }
  /// Whether a task still waits.
  [[nodiscard]] bool is_wanted() const { return owner_->state->is_wanted(); }

 private:
  struct State final : std::enable_shared_from_this<State> {
    explicit State(std::shared_ptr<Mailbox> of_loop) noexcept : mailbox(std::move(of_loop)) {}

    void resolve(Outcome result) {
      const std::lock_guard lock(mutex);
      if (outcome || !has_interest) return;
      mailbox->post([self = this->shared_from_this()] { self->resolved.wake_all(); });
      outcome.emplace(std::move(result));
    }
    [[nodiscard]] bool is_wanted() const {
      const std::lock_guard lock(mutex);
      return has_interest && !outcome;
    }
    [[nodiscard]] std::optional<Outcome> take() {
      const std::lock_guard lock(mutex);
      return std::exchange(outcome, std::nullopt);
    }
    void lose_interest() noexcept {
      const std::lock_guard lock(mutex);
      has_interest = false;
    }

    const std::shared_ptr<Mailbox> mailbox;
    skua::detail::WaiterList resolved{};  // only the loop's thread uses it
    mutable std::mutex mutex;
    std::optional<Outcome> outcome{};  // guarded by mutex, like the next
    bool has_interest = true;
  };

  /// Shared by the copies of a promise.
  struct Owner final {
    Owner(std::shared_ptr<State> its_state, const char* its_context) noexcept
        : state(std::move(its_state)), context(its_context) {}
    Owner(const Owner&) = delete;
    Owner& operator=(const Owner&) = delete;
    ~Owner() {
      try {
        state->resolve(Problem::from(Error(Errc::Closed, context)));
      } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch): its deadline remains
      }
    }

    const std::shared_ptr<State> state;  // shared with the task that waits
    const char* const context;
  };

  /// The interest of the task that waits.
  class Interest final {
   public:
    explicit Interest(std::shared_ptr<State> state) noexcept : state_(std::move(state)) {}
    Interest(Interest&&) noexcept = default;
    Interest& operator=(Interest&&) = delete;
    ~Interest() {
      if (state_ != nullptr) state_->lose_interest();
    }
    [[nodiscard]] State& state() const noexcept { return *state_; }

   private:
    std::shared_ptr<State> state_;
  };

  static Task<Outcome> wait(Interest interest) {
    while (true) {
      std::optional<Outcome> outcome = interest.state().take();
      if (outcome) co_return *std::move(outcome);
      co_await interest.state().resolved.wait();
    }
  }

  std::shared_ptr<const Owner> owner_;
};

}  // namespace skua::loop
