// SPDX-License-Identifier: MIT
#pragma once

#include "skua/release.hpp"  // first: checks the C++ version

#include <exception>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "skua/async.hpp"
#include "skua/config.hpp"
#include "skua/mistakes.hpp"
#include "skua/task.hpp"
#include "skua/waiter.hpp"

namespace skua {
namespace detail {

/// Starts a task that belongs to this thread's loop until it ends; the loop's server waits for it.
///
/// Ends with: std::logic_error on a thread without a loop.
SKUA_API void keep_running(Task<> task);
/// Tells of a failure that nobody awaits.
SKUA_API void tell_of_lost(const std::exception_ptr& failure) noexcept;

/// The result of a task whose awaiter may be dropped before the task ends.
template <class T>
class Finishing {
 public:
  // A result that nobody takes is told of when both the task and its awaiter are gone.
  Finishing() = default;
  Finishing(const Finishing&) = delete;
  Finishing& operator=(const Finishing&) = delete;
  ~Finishing() {
    if (!is_taken_ && is_over_) tell_of_lost(failure());
  }

  static Task<> run(std::shared_ptr<Finishing> self, Task<T> task) {
    Task<T> running = std::move(task);  // gone before its result is told of
    try {
      if constexpr (std::is_void_v<T>) {
        co_await running;
      } else {
        T value = co_await running;
        self->value_.emplace(std::move(value));
      }
    } catch (...) {
      self->thrown_ = std::current_exception();
    }
    self->is_over_ = true;
    self->ended_.wake_all();
  }
  [[nodiscard]] bool is_over() const noexcept { return is_over_; }
  [[nodiscard]] WaiterList::Awaiter wait() noexcept { return ended_.wait(); }
  T take() {
    is_taken_ = true;
    if (thrown_) std::rethrow_exception(thrown_);
    // NOLINTNEXTLINE(bugprone-unchecked-optional-access): it ended without throwing
    if constexpr (!std::is_void_v<T>) return *std::move(value_);
  }

 private:
  [[nodiscard]] std::exception_ptr failure() const noexcept {
    if constexpr (requires { typename T::error_type; }) {
      try {
        if (value_ && !value_->has_value()) throw Exception(value_->error());
      } catch (...) {
        return std::current_exception();
      }
    }
    return thrown_;
  }

  std::optional<OrNothing<T>> value_{};
  std::exception_ptr thrown_{};
  WaiterList ended_;
  bool is_over_ = false;
  bool is_taken_ = false;
};

}  // namespace detail

/// Runs a task to its end, even if its awaiter is dropped meanwhile, as handlers are whose clients
/// leave: for steps that must not stop half-way, such as a charge and its booking.
///
/// ```cpp
/// router.post("/orders", [](skua::Request& request) -> skua::Task<skua::Response> {
///   std::string order = co_await request.text();
///   auto paying = skua::finish(charge_and_book(std::move(order)));  // has parameters by value
///   const bool is_paid = co_await paying;
///   co_return is_paid ? skua::Status::Created : skua::Status::PaymentRequired;
/// });
/// ```
///
/// From its start on, the task belongs to the server, or else to the loop of its thread. A server
/// that drains waits for it until the deadline, after which it is dropped; a loop drops it when it
/// is destroyed itself.
///
/// Waits for: the task.
/// Ends with: what the task throws. If nobody awaits the task any more, an exception or an error in
///            a Result is a line in the server's log; on a loop without a server, it ends
///            Loop::run() like that of any other task.
/// Lifetime:  the task must own all that it uses: the handler, its locals and its request may be
///            gone before it ends.
template <class T>
Task<T> finish(Task<T> task) {
  const auto finishing = std::make_shared<detail::Finishing<T>>();
  detail::keep_running(detail::Finishing<T>::run(finishing, std::move(task)));
  while (!finishing->is_over()) co_await finishing->wait();
  co_return finishing->take();
}
template <class T>
  requires(!detail::is_task<std::remove_cvref_t<T>>)
auto finish(T&&) {
  static_assert(detail::never<T>,
                "skua::finish() takes a task: call the coroutine, as in skua::finish(work())");
  return sleep(Duration());
}

}  // namespace skua
