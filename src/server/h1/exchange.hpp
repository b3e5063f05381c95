// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "body/outgoing_body.hpp"
#include "h1/framing.hpp"
#include "http/message/request_parts.hpp"
#include "loop/clock.hpp"
#include "net/output_queue.hpp"
#include "server/accounting.hpp"
#include "server/handler_run.hpp"
#include "server/protocol.hpp"
#include "skua/config.hpp"
#include "skua/error.hpp"

namespace skua::server {

struct PartialRequest;
struct Resources;

/// A request and its response on an HTTP/1.x connection that take more than one step. Pooled by the
/// worker.
///
/// RFC:       9112 §6, §7, §9.3
class H1Exchange final : private HandlerRunOwner, private body::Framer {
 public:
  explicit H1Exchange(Resources& resources) noexcept;
  ~H1Exchange();

  /// Prepares the exchange for a connection.
  void open(ProtocolOwner& owner, net::OutputQueue& output) noexcept;
  /// Cancels the handler and the stream, and clears all state.
  void reset() noexcept;

  /// Takes over a request with a parsed head and starts its handler, unless there is an error.
  /// `partial_request` stores the head (and may already hold it); `rest` is the input after the
  /// head. Returns the part of `rest` that belongs to the next request.
  Result<std::string_view> start(const http::Head& head, const h1::Framing& framing,
                                 http::RequestParts parts, const router::Match& match,
                                 std::unique_ptr<PartialRequest> partial_request,
                                 std::string_view rest);
  /// Takes bytes of this request's body, and of the requests after it.
  Result<void> receive(std::string_view input);
  /// Reports whether there is room again for input that had to wait.
  [[nodiscard]] bool can_resume_input() const noexcept {
    return body().is_held_back() && body().has_room();
  }
  Result<void> resume_input();
  /// Reports whether to read more from the peer.
  [[nodiscard]] bool wants_input() const noexcept;
  /// Takes the input that arrived after this request.
  [[nodiscard]] std::string take_held() noexcept { return std::move(held_); }
  [[nodiscard]] bool has_held() const noexcept { return !held_.empty(); }

  /// Reports whether the handler is done and its response has not been taken.
  [[nodiscard]] bool has_response() const noexcept;
  Response take_response() {
    response_state_ = ResponseState::Begun;
    return run_.take_response();
  }
  /// Returns the response with which the server refuses the request.
  [[nodiscard]] Response take_refusal(Errc code) { return run_.take_refusal(code); }
  /// Reports whether the connection can be kept alive despite the unread rest of the request. To be
  /// asked when the response is about to be sent.
  [[nodiscard]] bool can_keep_alive() const noexcept;
  /// Takes over a streaming response whose request is complete.
  void adopt(const http::Head& head, const h1::Framing& framing,
             std::unique_ptr<PartialRequest> partial_request, Attachments&& attachments);
  /// Sends 100 (Continue) if the peer waits for it. Due before a stream that may keep reading the
  /// request, because it cannot be sent after the response's head.
  void continue_request();
  /// Notes that the head of a streaming response has been written.
  void begin_stream() noexcept { response_state_ = ResponseState::Begun; }
  /// Starts sending the stream's content. `record` may be null.
  void start_stream(Body&& content, bool is_chunked, Accounting::Entry* record);
  /// Ends the response: no more content follows. The rest of the request's body is discarded.
  void finish_response() noexcept {
    response_state_ = ResponseState::Finished;
    run_.release();
    run_.body().drop();
  }
  [[nodiscard]] bool has_started_response() const noexcept {
    return response_state_ != ResponseState::Awaited;
  }
  [[nodiscard]] bool has_finished_response() const noexcept {
    return response_state_ == ResponseState::Finished;
  }
  /// Reports whether end_stream() is due.
  [[nodiscard]] bool has_stream_end() const noexcept { return response_.is_made(); }
  /// Writes the end of the stream, if it is Complete. Failed: only closing the connection can
  /// signal that. TimedOut: the peer is too slow to be sent what waits.
  ResponseEnd end_stream();
  /// Ends an endless stream.
  void drain();
  /// Called when the peer has taken some of the output.
  void output_drained() noexcept { response_.drained(); }

  /// Reports whether the body has not arrived completely.
  [[nodiscard]] bool has_unread_body() const noexcept { return body().is_arriving(); }
  /// Reports whether a handler or a stream is running.
  [[nodiscard]] bool is_running() const noexcept {
    return run_.is_running() || response_.is_making();
  }
  /// Reports whether request and response are complete.
  [[nodiscard]] bool is_over() const noexcept {
    return has_finished_response() && !body().is_arriving();
  }
  /// Returns when time runs out for the peer or the handler; overdue() tells whose time it was.
  [[nodiscard]] loop::Instant deadline() const noexcept;
  [[nodiscard]] Errc overdue() const noexcept;

  [[nodiscard]] Request& request() noexcept { return run_.request(); }
  [[nodiscard]] const http::Head& head() const noexcept;
  [[nodiscard]] const h1::Framing& framing() const noexcept;
  [[nodiscard]] RequestInfo request_info() const noexcept;

 private:
  enum class ResponseState : std::uint8_t { Awaited, Begun, Finished };

  void body_wanted() override;
  void body_taken(std::size_t size_bytes) override;
  void inform(Status status, const FieldLines& fields) override;
  void handler_ended() noexcept override { owner_->settle_later(); }
  void write_content(Body&& piece) override;
  SKUA_COLD void write_content_text(std::string_view text) override;
  [[nodiscard]] std::uint64_t waiting_bytes() const noexcept override {
    return output_->pressure_bytes();
  }
  void content_ended() noexcept override { owner_->settle_later(); }

  [[nodiscard]] std::uint64_t max_body_bytes(const h1::Framing& framing,
                                             const router::Match& match) const noexcept;
  Result<std::string_view> decode(std::string_view input);
  [[nodiscard]] bool is_handler_timed() const noexcept {
    return !has_started_response() && run_.deadline() != loop::Instant::max();
  }
  [[nodiscard]] const IncomingBody& body() const noexcept { return run_.body(); }
  void finish_record(ResponseEnd end);

  Resources& resources_;
  ProtocolOwner* owner_ = nullptr;
  net::OutputQueue* output_ = nullptr;
  std::unique_ptr<PartialRequest> partial_request_;  // head, framing and decoder
  HandlerRun run_;
  body::OutgoingBody response_;  // content of a streaming response
  std::string held_;             // input that waits for room, or for the end of this exchange
  Accounting::Entry* record_ = nullptr;  // of a streaming response, if it is recorded
  bool is_chunked_ = false;
  ResponseState response_state_ = ResponseState::Awaited;
};

}  // namespace skua::server
