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
#include "skua/body_reader.hpp"
#include "skua/body_writer.hpp"
#include "skua/field_lines.hpp"
#include "skua/request.hpp"
#include "skua/response.hpp"
#include "skua/task.hpp"

namespace skua::server {

struct Resources;

/// The protocol on the other side of a call.
class CallOwner {
 public:
  /// The handler waits for content, and none has arrived.
  virtual void call_wants_body() noexcept = 0;
  /// The handler took so many bytes of what had arrived: there is room for more.
  virtual void call_took_body(std::size_t size_bytes) noexcept = 0;
  /// Of what it took it keeps so many bytes until the call is reset.
  virtual void call_keeps_body(std::size_t size_bytes) noexcept = 0;
  /// A piece of the response's content.
  virtual void call_writes(Body&& piece) = 0;
  /// Whether the peer keeps up with what is written.
  [[nodiscard]] virtual bool call_may_write() const noexcept = 0;
  /// The handler or the stream has ended. Told from inside its last step: the call is still in use.
  virtual void call_ended() noexcept = 0;

 protected:
  ~CallOwner() = default;
};

/// One request whose handler may wait: its task, the content that it reads, and then the content
/// that it writes. It knows no protocol.
///
/// Destroying or resetting it cancels what runs.
class Call final {
 public:
  explicit Call(Resources& resources) noexcept;
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  ~Call() { reset(); }

  /// Makes the request. `parts` but for its path, and what it refers to, outlive the call; the path
  /// is copied.
  void prepare(CallOwner& owner, const http::RequestParts& parts);
  /// After prepare().
  // NOLINTNEXTLINE(bugprone-unchecked-optional-access): prepare() has made it
  [[nodiscard]] Request& request() noexcept { return *request_; }
  /// Starts the handler, inline.
  void start_handler();
  [[nodiscard]] bool is_handler_done() const noexcept { return is_handler_done_; }
  /// Whether dropping it now would cancel a handler or a stream.
  [[nodiscard]] bool is_running() const noexcept {
    return (handler_ && !is_handler_done_) || (producer_ && !is_stream_done_);
  }
  /// What the handler's end comes to: the response, amended by the finishers. Once.
  Response take_response() noexcept;

  /// Runs what makes the content of a response, inline at first.
  void start_stream(CallOwner& owner, std::shared_ptr<const BodyStream> stream);
  [[nodiscard]] bool has_stream() const noexcept { return stream_ != nullptr; }
  [[nodiscard]] bool is_stream_done() const noexcept { return is_stream_done_; }
  /// Whether the stream ended as it should; where not, the reason has been logged. Once done.
  bool take_stream_end() noexcept;
  [[nodiscard]] bool is_endless() const noexcept {
    return stream_ != nullptr && stream_->is_endless;
  }
  /// Drops what makes the content: that is its end.
  void stop_stream() noexcept;
  [[nodiscard]] const FieldLines& trailers_to_send() const noexcept { return trailers_to_send_; }

  // The content of the request, from the protocol.

  void arrived(std::string_view data);
  /// There is no more; `trailers` outlive the call.
  void arrived_all(const http::Head& trailers) noexcept;
  /// Whether more of it is welcome.
  [[nodiscard]] bool has_room() const noexcept;
  /// How much of it the handler keeps to have it whole.
  [[nodiscard]] std::size_t kept_bytes() const noexcept { return kept_bytes_; }

  /// The peer keeps up again.
  void may_write() noexcept { writers_.wake_all(); }

  /// Drops what runs; ready for another request.
  void reset() noexcept;

 private:
  /// The request's view of us.
  struct Source final : detail::BodySource {
    explicit Source(Call& its_call) noexcept : call(its_call) {}
    [[nodiscard]] bool has_piece() const noexcept override;
    std::optional<Bytes> take() override;
    void wait(detail::Waiter& waiter, std::coroutine_handle<> reader) override;
    [[nodiscard]] const http::Head& trailers() const noexcept override;
    [[nodiscard]] std::size_t most_kept_bytes() const noexcept override;
    [[nodiscard]] bool keep(std::size_t bytes) noexcept;
    Call& call;
  };
  /// The writer's view of us.
  struct Sink final : detail::BodySink {
    explicit Sink(Call& its_call) noexcept : call(its_call) {}
    void write(Body&& piece) override;
    void add_trailer(std::string_view name, std::string_view value) override;
    [[nodiscard]] bool has_room() const noexcept override;
    void wait(detail::Waiter& waiter, std::coroutine_handle<> writer) override;
    Call& call;
  };

  static void on_handler_done(void* self) noexcept;
  static void on_stream_done(void* self) noexcept;

  Resources& resources_;
  CallOwner* owner_ = nullptr;
  Source source_{*this};
  Sink sink_{*this};
  std::string path_;
  http::RequestParts parts_;
  router::Match match_;
  // What runs is destroyed before what it refers to.
  std::optional<Request> request_;
  std::shared_ptr<const BodyStream> stream_;
  BodyWriter writer_{sink_};
  detail::WaiterList readers_;
  detail::WaiterList writers_;
  std::optional<Task<Response>> handler_;
  std::optional<Task<>> producer_;
  std::exception_ptr failure_;
  std::string arrived_;  // content that nobody has read
  std::string handed_;   // what the handler looks at
  const http::Head* trailers_ = nullptr;
  FieldLines trailers_to_send_;
  std::uint64_t left_bytes_ = 0;  // of a stream whose length was told
  std::size_t kept_bytes_ = 0;    // counted by the server's budget
  bool has_arrived_all_ = false;
  bool is_handler_done_ = false;
  bool is_stream_done_ = false;
  bool is_stream_stopped_ = false;
};

}  // namespace skua::server
