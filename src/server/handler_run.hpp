// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "http/message/field.hpp"
#include "http/message/request_parts.hpp"
#include "router/tree.hpp"
#include "server/accounting.hpp"
#include "server/incoming_body.hpp"
#include "skua/attachments.hpp"
#include "skua/error.hpp"
#include "skua/method.hpp"
#include "skua/request.hpp"
#include "skua/response.hpp"
#include "skua/task.hpp"

namespace skua::net {
class Stream;
}

namespace skua::server {

struct Resources;

/// The target of a request, resolved to a route.
struct Target {
  Errc error;             ///< unless None, the other members are empty
  std::string_view path;  ///< canonical; in Resources::path_scratch if it had to be decoded
  std::string_view query;
  router::Match match;
  bool is_path_as_sent = false;  ///< see http::RequestParts
};

/// Resolves a request target. `path_and_query` is taken from a target in any form, or "*"; `host`
/// is a valid authority or empty.
Target find_target(Resources& resources, const net::Stream& connection, Method method,
                   std::string_view host, std::string_view path_and_query);

/// The protocol side of a run.
class HandlerRunOwner : public BodySender {
 public:
  /// Called when the handler has ended, from inside its last step: the run is still in use.
  virtual void handler_ended() noexcept = 0;

 protected:
  ~HandlerRunOwner() = default;
};

/// One request whose handler may suspend: its task and its content, independent of the protocol.
///
/// Destroying or resetting a run cancels its handler.
class HandlerRun final : private http::RunningHandler {
 public:
  explicit HandlerRun(Resources& resources) noexcept;
  HandlerRun(const HandlerRun&) = delete;
  HandlerRun& operator=(const HandlerRun&) = delete;
  ~HandlerRun() { reset(); }

  /// Makes the request. `match` is the match of its path, which is copied; everything else that
  /// `parts` refers to must outlive the run.
  void prepare(HandlerRunOwner& owner, const http::RequestParts& parts, const router::Match& match);
  /// Valid after prepare().
  // NOLINTNEXTLINE(bugprone-unchecked-optional-access): prepare() has made it
  [[nodiscard]] Request& request() noexcept { return *request_; }
  /// Collects the request's part of a record; the caller supplies `head` and `began`.
  [[nodiscard]] RequestInfo request_info(const http::Head& head,
                                         loop::Instant began) const noexcept {
    return server::request_info(head, began, request_ ? &*request_ : nullptr, match_.route,
                                body_.received_bytes());
  }
  /// Starts the handler inline. For a plain handler, only the guards run now; it runs itself in
  /// take_response() once its content is complete. Until then keeps_content() returns true.
  void start_handler();
  [[nodiscard]] bool keeps_content() const noexcept { return is_plain_ && !is_handler_done_; }
  [[nodiscard]] bool is_handler_done() const noexcept { return is_handler_done_; }
  /// Reports whether dropping the run now would cancel a handler.
  [[nodiscard]] bool is_running() const noexcept { return handler_ && !is_handler_done_; }
  /// Returns the handler's response, amended by the finishers. Call once.
  Response take_response();
  /// Returns the response with which the server refuses the request. Call it after prepare(),
  /// instead of take_response().
  [[nodiscard]] Response take_refusal(Errc code);
  /// Takes over the attachments of a request that its response outlives.
  void keep(Attachments&& attachments) noexcept {
    if (attachments.empty()) return;
    attachments_ = std::move(attachments);
    is_used_ = true;
  }
  /// Releases the request and its attachments after the end of the response.
  void release() noexcept;

  /// Returns when the handler is to be dropped, if it has not ended by then.
  [[nodiscard]] loop::Instant deadline() const noexcept { return deadline_; }

  [[nodiscard]] IncomingBody& body() noexcept { return body_; }
  [[nodiscard]] const IncomingBody& body() const noexcept { return body_; }
  /// Ends the body. `trailers` must outlive the run.
  void end_body(const http::Head& trailers) noexcept;

  /// Cancels the handler and prepares for another request.
  void reset() noexcept {
    if (is_used_) drop();
  }

 private:
  [[nodiscard]] Duration time_left() const noexcept override;
  void drop() noexcept;
  void run_guards() noexcept;
  static void on_handler_done(void* self) noexcept;

  Resources& resources_;
  HandlerRunOwner* owner_ = nullptr;
  std::string path_;
  http::RequestParts parts_;
  router::Match match_;
  // Declared in this order so that the handler is destroyed before the members it refers to.
  IncomingBody body_;
  std::optional<Request> request_;
  Attachments attachments_;        // of a completed request
  std::optional<Response> early_;  // from a guard of a plain handler
  std::size_t guard_ = 0;          // index of the next guard
  bool wants_content_ = false;     // whether the next guard needs the content
  std::optional<Task<Response>> handler_;
  std::exception_ptr failure_;
  loop::Instant deadline_ = loop::Instant::max();
  bool is_used_ = false;
  bool is_plain_ = false;
  bool is_handler_done_ = false;  // for a plain handler: ready to be called
};

}  // namespace skua::server
