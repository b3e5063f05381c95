// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "http/field.hpp"
#include "http/request_parts.hpp"
#include "router/match.hpp"
#include "server/journal.hpp"
#include "server/kept_content.hpp"
#include "skua/attachments.hpp"
#include "skua/body_reader.hpp"
#include "skua/request.hpp"
#include "skua/response.hpp"
#include "skua/task.hpp"

namespace skua::server {

struct Resources;

/// The protocol on the other side of a call.
class CallOwner {
 public:
  /// The handler waits for content, and none has arrived.
  virtual void call_wants_body() = 0;
  /// The handler took so many bytes of what had arrived: there is room for more.
  virtual void call_took_body(std::size_t size_bytes) = 0;
  /// Of what it took it keeps so many bytes until the call is reset.
  virtual void call_keeps_body(std::size_t size_bytes) noexcept = 0;
  /// The handler has ended. Told from inside its last step: the call is still in use.
  virtual void call_ended() noexcept = 0;

 protected:
  ~CallOwner() = default;
};

/// One request whose handler may wait: its task, and the content that it reads. It knows no
/// protocol.
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

  // The content of the request, from the protocol.

  /// Overloaded or OutOfMemory where it cannot be kept.
  [[nodiscard]] Errc arrived(std::string_view data);
  /// There is no more; `trailers` outlive the call.
  void arrived_all(const http::Head& trailers) noexcept;
  /// Whether more of it is welcome.
  [[nodiscard]] bool has_room() const noexcept;

  /// Drops what runs; ready for another request.
  void reset() noexcept {
    if (is_used_) drop();
  }

 private:
  /// The request's view of us.
  struct Source final : detail::BodySource {
    explicit Source(Call& its_call) noexcept : call(its_call) {}
    [[nodiscard]] bool has_piece() const noexcept override;
    std::optional<Bytes> take() override;
    void wait(detail::Waiter& waiter, std::coroutine_handle<> reader) override;
    [[nodiscard]] const http::Head& trailers() const noexcept override;
    [[nodiscard]] std::size_t most_kept_bytes() const noexcept override;
    [[nodiscard]] std::optional<std::uint64_t> left_bytes() const noexcept override;
    [[nodiscard]] bool keep(std::size_t bytes) noexcept override;
    Call& call;
  };
  void drop() noexcept;
  void run_guards() noexcept;
  static void on_handler_done(void* self) noexcept;

  Resources& resources_;
  CallOwner* owner_ = nullptr;
  Source source_{*this};
  std::string path_;
  http::RequestParts parts_;
  router::Match match_;
  // What runs is destroyed before what it refers to.
  KeptContent content_;  // of a plain handler
  std::optional<Request> request_;
  Attachments attachments_;        // of a request that is over
  std::optional<Response> early_;  // of a guard of a plain handler
  std::size_t guard_ = 0;          // the next one
  bool wants_content_ = false;     // before that one runs
  detail::WaiterList readers_;
  std::optional<Task<Response>> handler_;
  std::exception_ptr failure_;
  std::string arrived_;  // content that nobody has read
  std::string handed_;   // what the handler looks at
  const http::Head* trailers_ = nullptr;
  std::uint64_t taken_bytes_ = 0;  // of the request's content, by the handler
  std::size_t kept_bytes_ = 0;     // by a coroutine, counted by the server's budget
  bool is_used_ = false;
  bool has_arrived_all_ = false;
  bool is_plain_ = false;
  bool is_handler_done_ = false;  // of a plain one: that it can be called
};

}  // namespace skua::server
