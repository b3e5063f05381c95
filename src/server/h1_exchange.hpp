// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "body/outgoing_body.hpp"
#include "h1/framing.hpp"
#include "http/request_parts.hpp"
#include "loop/clock.hpp"
#include "net/output_queue.hpp"
#include "server/call.hpp"
#include "server/journal.hpp"
#include "server/session.hpp"
#include "skua/error.hpp"

namespace skua::server {

struct Inbox;
struct Resources;

/// One request and its response on an HTTP/1.x connection whose handler, or whose response, may
/// wait. From a worker's pool.
///
/// RFC:       9112 §6, §7, §9.3
class H1Exchange final : private CallOwner, private body::Framer {
 public:
  explicit H1Exchange(Resources& resources) noexcept;
  ~H1Exchange();

  /// Readies it for a connection.
  void open(SessionOwner& owner, net::OutputQueue& output) noexcept;
  /// Cancels what runs, and forgets everything.
  void reset() noexcept;

  /// Takes over a request whose head was parsed: `inbox` (where the head may lie) keeps it, `rest`
  /// is what follows the head. Then starts the handler, unless that ends in an error. Returns what
  /// of `rest` belongs to the next request.
  Result<std::string_view> start(const http::Head& head, const h1::Framing& framing,
                                 http::RequestParts parts, const router::Match& match,
                                 std::unique_ptr<Inbox> inbox, std::string_view rest);
  /// Bytes of this request's body, and what follows it.
  Result<void> receive(std::string_view input);
  /// Whether there is room again for input that had to wait.
  [[nodiscard]] bool can_resume_input() const noexcept {
    return body().is_held_back() && body().has_room();
  }
  Result<void> resume_input();
  /// Whether more bytes of the peer are welcome.
  [[nodiscard]] bool wants_input() const noexcept;
  /// What arrived behind this request.
  [[nodiscard]] std::string take_held() noexcept { return std::move(held_); }
  [[nodiscard]] bool has_held() const noexcept { return !held_.empty(); }

  /// Whether the handler is done, and its response has not been taken.
  [[nodiscard]] bool has_response() const noexcept;
  Response take_response() {
    response_state_ = ResponseState::Begun;
    return call_.take_response();
  }
  /// The response is about to be sent: whether the connection can be kept, for what the request
  /// leaves behind.
  [[nodiscard]] bool can_keep_alive() const noexcept;
  /// Takes over a response whose request is over, but which streams.
  void adopt(const http::Head& head, const h1::Framing& framing, std::unique_ptr<Inbox> inbox,
             Attachments&& attachments);
  /// A stream is about to begin, which may go on reading the request: a peer that waits for 100
  /// (Continue) is told now, as it cannot be told behind the head.
  void continue_request();
  /// The head of a response that streams has been written.
  void begin_stream() noexcept { response_state_ = ResponseState::Begun; }
  /// Begins to send its content; `record` may be null.
  void start_stream(Body&& content, bool is_chunked, Journal::Entry* record);
  /// No response content follows (any more); what is left of the request's body is read and
  /// dropped.
  void finish_response() noexcept {
    response_state_ = ResponseState::Finished;
    call_.release();
    call_.body().drop();
  }
  [[nodiscard]] bool has_started_response() const noexcept {
    return response_state_ != ResponseState::Awaited;
  }
  [[nodiscard]] bool has_finished_response() const noexcept {
    return response_state_ == ResponseState::Finished;
  }
  /// Whether the stream's end is to be written: see end_stream.
  [[nodiscard]] bool has_stream_end() const noexcept { return response_.is_made(); }
  /// Writes the end of the stream. False when it failed, so that the peer has to be told by
  /// closing.
  bool end_stream();
  /// Ends a stream that has no end of its own.
  void drain();
  /// The peer took some of the output.
  void output_drained() noexcept { response_.drained(); }

  /// Whether the handler may still ask for a body that has not arrived whole.
  [[nodiscard]] bool has_unread_body() const noexcept { return body().is_arriving(); }
  /// Whether a handler or a stream is at work.
  [[nodiscard]] bool is_running() const noexcept {
    return call_.is_running() || response_.is_making();
  }
  /// Whether request and response are over.
  [[nodiscard]] bool is_over() const noexcept {
    return has_finished_response() && !body().is_arriving();
  }
  /// When time runs out for the peer, or for the handler; and whose time that was.
  [[nodiscard]] loop::Instant deadline() const noexcept;
  [[nodiscard]] Errc overdue() const noexcept;

  [[nodiscard]] Request& request() noexcept { return call_.request(); }
  [[nodiscard]] const http::Head& head() const noexcept;
  [[nodiscard]] const h1::Framing& framing() const noexcept;
  [[nodiscard]] Asked asked() const noexcept;

 private:
  enum class ResponseState : std::uint8_t { Awaited, Begun, Finished };

  void body_wanted() override;
  void body_taken(std::size_t size_bytes) override;
  void call_ended() noexcept override { owner_->settle_later(); }
  void write_content(Body&& piece) override;
  [[nodiscard]] std::uint64_t waiting_bytes() const noexcept override {
    return output_->pressure_bytes();
  }
  void content_ended() noexcept override { owner_->settle_later(); }

  [[nodiscard]] std::uint64_t most_body_bytes(const h1::Framing& framing,
                                              const router::Match& match) const noexcept;
  Result<std::string_view> decode(std::string_view input);
  [[nodiscard]] bool is_handler_timed() const noexcept {
    return !has_started_response() && handler_deadline_ != loop::Instant::max();
  }
  [[nodiscard]] const IncomingBody& body() const noexcept { return call_.body(); }
  void finish_record(bool is_cut);

  Resources& resources_;
  SessionOwner* owner_ = nullptr;
  net::OutputQueue* output_ = nullptr;
  std::unique_ptr<Inbox> inbox_;  // head, framing and decoder
  Call call_;
  body::OutgoingBody response_;  // of a response that streams
  std::string held_;             // bytes that wait for room, or for the end of this exchange
  loop::Instant handler_deadline_ = loop::Instant::max();
  Journal::Entry* record_ = nullptr;  // of a response that streams, where one is kept
  bool is_chunked_ = false;
  ResponseState response_state_ = ResponseState::Awaited;
};

}  // namespace skua::server
