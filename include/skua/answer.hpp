// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <utility>

#include "skua/config.hpp"
#include "skua/response.hpp"
#include "skua/task.hpp"

namespace skua {

namespace detail {
class LateState;
}  // namespace detail

/// The right to answer one request, from any thread, at any time.
///
/// It may outlive the client's connection and the server; the response is then discarded. If it is
/// destroyed without send(), the request is answered with 500, and the failure is logged.
class SKUA_API Answer final {
 public:
  Answer(Answer&&) noexcept = default;
  Answer& operator=(Answer&& other) noexcept;
  ~Answer();

  /// Sends the response. Later calls do nothing.
  void send(Response response);
  /// Reports whether the request still waits for a response.
  [[nodiscard]] bool is_wanted() const noexcept;

 private:
  friend class LateAnswer;
  explicit Answer(std::shared_ptr<detail::LateState> state) noexcept : state_(std::move(state)) {}
  std::shared_ptr<detail::LateState> state_;
};

/// The result of a handler whose response comes later, from elsewhere:
///
/// ```cpp
/// router.get("/report", [&](skua::Request&) {
///   skua::LateAnswer late;
///   jobs.push([answer = std::make_shared<skua::Answer>(late.answer())] { answer->send("done"); });
///   return late;
/// });
/// ```
class SKUA_API LateAnswer final {
 public:
  LateAnswer();

  /// Returns the right to answer. Call it once, before the handler returns.
  [[nodiscard]] Answer answer() { return std::move(answer_); }
  /// Returns the response; for coroutine handlers.
  ///
  /// Waits for: Answer::send().
  /// Ends with: std::runtime_error if the Answer is destroyed without it.
  Task<Response> wait() &&;

 private:
  std::shared_ptr<detail::LateState> state_;
  Answer answer_;  // until it is taken
};

}  // namespace skua
