// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <utility>

#include "skua/response.hpp"
#include "skua/task.hpp"

namespace skua {

namespace detail {
class LateState;
}  // namespace detail

/// The right to answer one request, from any thread, whenever that is.
///
/// It may be kept longer than the client stays, and than the server lives: then the answer goes
/// nowhere. Destroyed without send(), it answers 500 and leaves a line in the log.
class Answer final {
 public:
  Answer(Answer&&) noexcept = default;
  Answer& operator=(Answer&& other) noexcept;
  ~Answer();

  /// Answers. Once; later calls do nothing.
  void send(Response response);
  /// Whether somebody still waits for it.
  [[nodiscard]] bool is_wanted() const noexcept;

 private:
  friend class LateAnswer;
  explicit Answer(std::shared_ptr<detail::LateState> state) noexcept : state_(std::move(state)) {}
  std::shared_ptr<detail::LateState> state_;
};

/// What a handler returns when the answer will come from somewhere else:
///
/// ```cpp
/// router.get("/report", [&](skua::Request&) {
///   skua::LateAnswer late;
///   jobs.push([answer = std::make_shared<skua::Answer>(late.answer())] { answer->send("done"); });
///   return late;
/// });
/// ```
class LateAnswer final {
 public:
  LateAnswer();

  /// The right to answer: to be taken once, before the handler returns.
  [[nodiscard]] Answer answer() { return std::move(answer_); }
  /// For coroutine handlers.
  ///
  /// Waits for: Answer::send.
  /// Ends with: std::runtime_error where the Answer was destroyed without it.
  Task<Response> wait() &&;

 private:
  std::shared_ptr<detail::LateState> state_;
  Answer answer_;  // until it is taken
};

}  // namespace skua
