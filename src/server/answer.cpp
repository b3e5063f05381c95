// SPDX-License-Identifier: MIT
// In: a response from any thread. Out: a resumed coroutine on its loop. The two sides share a state
// under a lock; the mailbox ensures that only the loop's thread touches the loop's members.
#include "skua/answer.hpp"

#include <mutex>
#include <optional>
#include <stdexcept>
#include <utility>

#include "loop/loop.hpp"
#include "skua/waiter.hpp"

namespace skua {
namespace detail {

class LateState : public std::enable_shared_from_this<LateState> {
 public:
  /// Stores the response; nullopt means that none will be sent.
  void settle(std::optional<Response> response) {
    const std::lock_guard lock(mutex_);
    if (is_settled_) return;
    if (is_wanted_ && mailbox_ != nullptr) {
      mailbox_->post([state = shared_from_this()] {
        if (state->waiter_ != nullptr) state->waiter_->wake();
      });
    }
    is_settled_ = true;
    if (is_wanted_) response_ = std::move(response);  // else it ends here: the loop may be gone
  }
  /// Tells that no response will be sent, unless one has been.
  void give_up() noexcept try { settle(std::nullopt); } catch (const std::bad_alloc&) {
    return;  // the deadlines of the request remain
  }
  [[nodiscard]] bool is_wanted() {
    const std::lock_guard lock(mutex_);
    return is_wanted_ && !is_settled_;
  }

  // The following members are for the loop's thread only.

  [[nodiscard]] bool is_settled() {
    const std::lock_guard lock(mutex_);
    return is_settled_;
  }
  /// Returns false if the state has been settled in the meantime.
  bool park(Waiter& waiter, std::coroutine_handle<> caller) {
    const std::lock_guard lock(mutex_);
    if (is_settled_) return false;
    waiter.park(caller);
    waiter_ = &waiter;
    mailbox_ = loop::Loop::current().mailbox();
    return true;
  }
  void unpark() noexcept { waiter_ = nullptr; }
  void forget() {
    const std::lock_guard lock(mutex_);
    is_wanted_ = false;
  }
  std::optional<Response> take() {
    const std::lock_guard lock(mutex_);
    return std::move(response_);
  }

 private:
  Waiter* waiter_ = nullptr;  // used by the loop's thread only
  std::mutex mutex_;
  std::optional<Response> response_;  // guarded by mutex_, like all members below
  std::shared_ptr<loop::Mailbox> mailbox_;
  bool is_settled_ = false;
  bool is_wanted_ = true;
};

namespace {

/// The waiting side. Its destruction marks the response as unwanted.
class LateAwaiter {
 public:
  explicit LateAwaiter(std::shared_ptr<LateState> state) noexcept : state_(std::move(state)) {}
  LateAwaiter(const LateAwaiter&) = delete;
  LateAwaiter& operator=(const LateAwaiter&) = delete;
  ~LateAwaiter() {
    state_->unpark();
    state_->forget();
  }
  [[nodiscard]] bool await_ready() const { return state_->is_settled(); }
  bool await_suspend(std::coroutine_handle<> caller) { return state_->park(waiter_, caller); }
  std::optional<Response> await_resume() { return state_->take(); }

 private:
  std::shared_ptr<LateState> state_;
  Waiter waiter_;
};

Task<Response> wait_for(std::shared_ptr<LateState> state) {
  LateAwaiter awaiter(std::move(state));  // NOLINT(misc-const-correctness): co_await parks it
  std::optional<Response> response = co_await awaiter;
  if (!response) throw std::runtime_error("the Answer was destroyed before a response was sent");
  co_return *std::move(response);
}

}  // namespace
}  // namespace detail

Answer& Answer::operator=(Answer&& other) noexcept {
  if (this == &other) return *this;
  if (state_ != nullptr) state_->give_up();
  state_ = std::move(other.state_);
  return *this;
}

Answer::~Answer() {
  if (state_ != nullptr) state_->give_up();
}

void Answer::send(Response response) {
  if (state_ != nullptr) state_->settle(std::move(response));
}

bool Answer::is_wanted() const noexcept { return state_ != nullptr && state_->is_wanted(); }

LateAnswer::LateAnswer() : state_(std::make_shared<detail::LateState>()), answer_(state_) {}

Task<Response> LateAnswer::wait() && {
  const Answer not_taken = std::move(answer_);  // if nobody took it, nobody else can send
  return detail::wait_for(std::move(state_));
}

}  // namespace skua
