// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <string>

#include "http/field.hpp"
#include "http/request_parts.hpp"
#include "router/match.hpp"
#include "server/incoming_body.hpp"
#include "server/journal.hpp"
#include "skua/attachments.hpp"
#include "skua/request.hpp"
#include "skua/response.hpp"
#include "skua/task.hpp"

namespace skua::server {

struct Resources;

/// The protocol on the other side of a call.
class CallOwner : public BodySender {
 public:
  /// The handler has ended. Told from inside its last step: the call is still in use.
  virtual void call_ended() noexcept = 0;

 protected:
  ~CallOwner() = default;
};

/// One request whose handler may wait: its task, and its content. It knows no protocol.
///
/// Destroying or resetting it cancels what runs.
class Call final {
 public:
  explicit Call(Resources& resources) noexcept;
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  ~Call() { reset(); }

  /// Makes the request. What `parts` refers to outlives the call, but for the path, which is
  /// copied; `match` is that path's.
  void prepare(CallOwner& owner, const http::RequestParts& parts, const router::Match& match);
  /// After prepare().
  // NOLINTNEXTLINE(bugprone-unchecked-optional-access): prepare() has made it
  [[nodiscard]] Request& request() noexcept { return *request_; }
  /// What a record tells of the request, of which `head` and `began` are known elsewhere.
  [[nodiscard]] Asked asked(const http::Head& head, loop::Instant began) const noexcept {
    return server::asked(head, began, request_ ? &*request_ : nullptr, match_.route);
  }
  /// Starts the handler, inline. A plain one runs in take_response(), when its content is whole;
  /// until then keeps_content(). Its guards run now.
  void start_handler();
  [[nodiscard]] bool keeps_content() const noexcept { return is_plain_ && !is_handler_done_; }
  [[nodiscard]] bool is_handler_done() const noexcept { return is_handler_done_; }
  /// Whether dropping it now would cancel a handler.
  [[nodiscard]] bool is_running() const noexcept { return handler_ && !is_handler_done_; }
  /// What the handler's end comes to: the response, amended by the finishers. Once.
  Response take_response();
  /// Takes over the attachments of a request whose response goes on without it.
  void keep(Attachments&& attachments) noexcept {
    if (attachments.empty()) return;
    attachments_ = std::move(attachments);
    is_used_ = true;
  }
  /// The response is over: so is the request, with its attachments.
  void release() noexcept;

  [[nodiscard]] IncomingBody& body() noexcept { return body_; }
  [[nodiscard]] const IncomingBody& body() const noexcept { return body_; }
  /// There is no more of it; `trailers` outlive the call.
  void end_body(const http::Head& trailers) noexcept;

  /// Drops what runs; ready for another request.
  void reset() noexcept {
    if (is_used_) drop();
  }

 private:
  void drop() noexcept;
  void run_guards() noexcept;
  static void on_handler_done(void* self) noexcept;

  Resources& resources_;
  CallOwner* owner_ = nullptr;
  std::string path_;
  http::RequestParts parts_;
  router::Match match_;
  // What runs is destroyed before what it refers to.
  IncomingBody body_;
  std::optional<Request> request_;
  Attachments attachments_;        // of a request that is over
  std::optional<Response> early_;  // of a guard of a plain handler
  std::size_t guard_ = 0;          // the next one
  bool wants_content_ = false;     // before that one runs
  std::optional<Task<Response>> handler_;
  std::exception_ptr failure_;
  bool is_used_ = false;
  bool is_plain_ = false;
  bool is_handler_done_ = false;  // of a plain one: that it can be called
};

}  // namespace skua::server
