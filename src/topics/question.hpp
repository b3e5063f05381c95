// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "loop/loop.hpp"
#include "skua/error.hpp"
#include "skua/task.hpp"
#include "skua/waiter.hpp"

namespace skua::topics {

/// A question of a task to another thread. The task waits until that answers.
///
/// Lifetime: shared by the task and the thread that answers.
template <class T>
class Question final : public std::enable_shared_from_this<Question<T>> {
 public:
  using Answer = Result<T, Problem>;

  /// Ends with: std::logic_error on a thread without a loop.
  Question() : mailbox_(loop::Loop::current().mailbox()) {}
  Question(const Question&) = delete;
  Question& operator=(const Question&) = delete;
  ~Question() = default;

  /// Waits for: the answer.
  static Task<Answer> wait(std::shared_ptr<Question> self) {
    const Interest interest(*self);
    while (!self->is_answered()) co_await self->answered_.wait();
    co_return self->take();
  }

  // Any thread.

  /// Answers; later answers are dropped.
  void answer(Answer answer) {
    const std::lock_guard lock(mutex_);
    if (answer_ || !is_wanted_) return;
    mailbox_->post([self = this->shared_from_this()] { self->answered_.wake_all(); });
    answer_.emplace(std::move(answer));
  }
  /// Reports whether a task still waits.
  [[nodiscard]] bool is_wanted() const {
    const std::lock_guard lock(mutex_);
    return is_wanted_ && !answer_;
  }

 private:
  /// The task that waits. If it is dropped, nobody wants an answer.
  class Interest {
   public:
    explicit Interest(Question& question) noexcept : question_(question) {}
    Interest(const Interest&) = delete;
    Interest& operator=(const Interest&) = delete;
    ~Interest() {
      const std::lock_guard lock(question_.mutex_);
      question_.is_wanted_ = false;
    }

   private:
    Question& question_;
  };

  [[nodiscard]] bool is_answered() const {
    const std::lock_guard lock(mutex_);
    return answer_.has_value();
  }
  Answer take() {
    const std::lock_guard lock(mutex_);
    // NOLINTNEXTLINE(bugprone-unchecked-optional-access): is_answered() is true
    return std::exchange(answer_, std::nullopt).value();
  }

  const std::shared_ptr<loop::Mailbox> mailbox_;
  skua::detail::WaiterList answered_;  // used by the loop's thread only
  mutable std::mutex mutex_;
  std::optional<Answer> answer_;  // guarded by mutex_, like the next
  bool is_wanted_ = true;
};

/// The duty to answer a question. If it is destroyed before that, the answer is Closed.
template <class T>
class Duty final {
 public:
  explicit Duty(std::shared_ptr<Question<T>> question) noexcept : question_(std::move(question)) {}
  Duty(const Duty&) = delete;
  Duty& operator=(const Duty&) = delete;
  ~Duty() {
    try {
      question_->answer(Problem::from(Error(Errc::Closed, "the bus of the topics")));
    } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch): its deadline remains
    }
  }

  void answer(Result<T, Problem> answer) { question_->answer(std::move(answer)); }
  [[nodiscard]] bool is_wanted() const { return question_->is_wanted(); }

 private:
  std::shared_ptr<Question<T>> question_;
};

}  // namespace skua::topics
