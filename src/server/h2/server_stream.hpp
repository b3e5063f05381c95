// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/intrusive_list.hpp"
#include "body/content_queue.hpp"
#include "body/outgoing_body.hpp"
#include "h2/connection.hpp"
#include "http/message/request_parts.hpp"
#include "loop/clock.hpp"
#include "loop/timer_wheel.hpp"
#include "net/output_queue.hpp"
#include "net/stream.hpp"
#include "server/accounting.hpp"
#include "server/h2/held_heads.hpp"
#include "server/handler_run.hpp"
#include "server/kept_content.hpp"
#include "server/protocol.hpp"
#include "server/websocket/upgrades.hpp"
#include "skua/config.hpp"
#include "skua/error.hpp"
#include "skua/options.hpp"
#include "skua/response.hpp"

namespace skua::server {

struct Resources;

class ServerStream;

/// State that the exchanges of a connection share: the work that it has to do at the end of the
/// turn, and the heads that they hold.
struct H2Turn {
  struct Node : base::ListNode {
    explicit Node(ServerStream& its) noexcept : exchange(its) {}
    ServerStream& exchange;
  };

  base::IntrusiveList<Node> exchanges;  ///< woken exchanges; see ServerStream::finish_turn
  bool has_windows = false;             ///< shut windows may open; see ServerStream::open_window
  HeldHeads heads;
};

/// Returns the receive window of a stream, in bytes.
std::size_t stream_window_bytes(const Limits& limits) noexcept;

/// A request and its response on an HTTP/2 connection. Pooled by the worker.
///
/// RFC:       9113 §8
class ServerStream final : public base::ListNode,
                           public StreamOwner,
                           private loop::TimerNode,
                           private HandlerRunOwner,
                           private body::Framer {
 public:
  explicit ServerStream(Resources& resources) noexcept;
  ~ServerStream();

  /// Prepares the exchange for a stream of `connection`. All arguments must outlive its use.
  void open(ProtocolOwner& owner, const net::Stream& connection, h2::Connection& protocol,
            h2::Stream& stream, H2Turn& turn) noexcept;
  /// Cancels the handler and the stream, and clears all state.
  void reset() noexcept;
  [[nodiscard]] h2::Stream& stream() const noexcept { return *stream_; }

  // The request; called by the protocol.

  /// Called when the head is complete: answers the request, or begins to read its content.
  void begin(bool is_end);
  void receive(std::string_view data);
  void receive_end(std::unique_ptr<h2::ReceivedHead> trailers);
  /// Called when the peer sends no more on any stream.
  void receive_nothing_more();
  /// Returns how much content is kept until the end of the request. The connection decides when to
  /// open its window.
  [[nodiscard]] std::size_t kept_bytes() const noexcept { return run_.body().kept_bytes(); }
  [[nodiscard]] bool has_shut_window() const noexcept { return withheld_bytes_ != 0; }
  void open_window();

  // The response; called by the protocol, except wake().

  /// Schedules the exchange for the end of the turn.
  void wake() noexcept override;
  /// Advances as far as possible, which may end the exchange.
  void take_turn();
  /// Unless there is more to do, leaves the turn and starts the timer of deadline().
  void finish_turn() noexcept;
  [[nodiscard]] h2::BodyRead read_body(std::size_t max_bytes) noexcept;
  /// Writes the head of a DATA frame and the next bytes of the content, as many as read_body()
  /// returned.
  void write_data(net::OutputQueue& output, std::string_view head, std::size_t size_bytes);
  /// Called when the response was sent before the request was complete: waits for the peer to
  /// notice, at most Timeouts::linger.
  void linger();

  /// Ends an endless stream, or the WebSocket.
  void drain();
  /// Called when the stream or the connection ends. `is_complete`: both sides sent everything.
  void close(bool is_complete) noexcept;
  /// Reports whether the handler wants the connection to end.
  [[nodiscard]] bool closes_connection() const noexcept { return closes_connection_; }

 private:
  enum class Phase : std::uint8_t {
    Closed,
    Request,  ///< no response has been sent
    Response,
    Lingering,  ///< the response is complete, but the request is not
  };
  enum class Content : std::uint8_t {
    Open,
    Ended,   ///< content_ holds the rest of the response
    Failed,  ///< the response cannot be completed
  };

  void body_wanted() override;
  void body_taken(std::size_t size_bytes) override;
  void inform(Status status, const FieldLines& fields) override;
  void handler_ended() noexcept override { wake(); }
  void write_content(Body&& piece) override;
  // Not inlined, or the thunk for this base would be a copy.
  [[gnu::noinline]] SKUA_COLD void write_content_text(std::string_view text) override;
  [[nodiscard]] std::uint64_t waiting_bytes() const noexcept override {
    return content_.pressure_bytes();
  }
  void content_ended() noexcept override { wake(); }

  /// Reports whether the handler or the content's producer has ended since the last advance().
  [[nodiscard]] bool can_advance() const noexcept;
  void advance();
  static void on_timer(void* node) noexcept;
  /// Returns when the peer must have sent or taken something; Instant::max() while it need not.
  [[nodiscard]] loop::Instant deadline() const noexcept;
  SKUA_COLD void time_out();
  [[nodiscard]] h2::ResponseHead head_of(const Response& response);
  [[nodiscard]] const h2::RequestHead& request() const noexcept { return stream_->request(); }
  /// Reports whether this is an extended CONNECT: data on its stream is not request content.
  [[nodiscard]] bool is_for_tunnel() const noexcept { return !request().protocol.empty(); }
  void serve(bool is_end);
  [[nodiscard]] bool hold(std::size_t bytes) noexcept;
  void forget_head() noexcept;
  /// Reports whether neither a handler nor a producer can read the request's head any more.
  [[nodiscard]] bool has_useless_head() const noexcept {
    const bool has_producer = has_run_ && content_state_ == Content::Open;
    return has_response() && !has_producer && stream_->head_bytes() != 0;
  }
  [[nodiscard]] Target find();
  [[nodiscard]] http::RequestParts parts(const Target& target) const noexcept;
  void start_run(const Target& target, bool has_no_content);
  void drop(std::size_t size_bytes);
  void forget_kept() noexcept;
  void update_hold_back() noexcept;
  void answer(const Target& target);
  void open_socket(const RequestInfo& request_info, Request& request, Response&& response);
  void begin_record(const RequestInfo& request_info, Errc error = Errc::None);
  void finish_record(ResponseEnd end);
  void respond(const h2::ResponseHead& head, bool has_content);
  void refuse(Errc code);
  /// `error` is the reason if the request was refused.
  void send(const RequestInfo& request_info, Response&& response, Errc error = Errc::None);
  SKUA_COLD void send_stream(const h2::ResponseHead& head, Body&& content);
  SKUA_COLD void end_stream();
  SKUA_COLD void fail_stream(const std::exception_ptr& failure);
  /// Ends the response without what the peer has not taken in time.
  SKUA_COLD void cut_off();
  void keep(Body&& piece);
  [[nodiscard]] bool has_response() const noexcept { return phase_ >= Phase::Response; }
  [[nodiscard]] bool is_body_wanted() const noexcept {
    return (!has_response() || response_.is_started()) && !run_.body().is_dropped();
  }
  [[nodiscard]] loop::Instant body_deadline() const noexcept {
    return is_body_wanted() ? run_.body().deadline() : loop::Instant::max();
  }

  Resources& resources_;
  ProtocolOwner* owner_ = nullptr;
  const net::Stream* transport_ = nullptr;
  h2::Connection* h2_ = nullptr;
  h2::Stream* stream_ = nullptr;
  H2Turn* turn_ = nullptr;  // of the connection
  H2Turn::Node turn_node_{*this};
  HandlerRun run_;
  std::unique_ptr<h2::ReceivedHead> trailers_;  // of the request
  std::unique_ptr<SocketStream> socket_;        // set once the stream is a WebSocket
  KeptContent early_data_;                      // data for a tunnel that is not open yet
  body::ContentQueue content_;                  // response content the connection has not asked for
  body::OutgoingBody response_;                 // response content made while it is sent
  loop::Instant content_deadline_{};
  loop::Instant lingers_until_{};
  loop::Instant arrived_{};              // when the head was complete
  Accounting::Entry* record_ = nullptr;  // of the response, if it is recorded
  std::size_t held_bytes_ = 0;           // of the head and the trailers, taken from turn_->heads
  std::size_t withheld_bytes_ = 0;       // kept, and not given back to the peer's window
  std::size_t dropped_bytes_ = 0;        // received but unwanted
  Status status_ = Status::Ok;
  ResponseEnd end_ = ResponseEnd::Complete;  // why the response is cut, if that is known
  bool has_run_ = false;                     // the request is handled by run_
  bool is_timer_due_ = false;
  bool closes_connection_ = false;  // the handler wants the connection to end
  Phase phase_ = Phase::Closed;
  Content content_state_ = Content::Open;
  h2::ErrorCode failed_with_ = h2::ErrorCode::InternalError;  // once its content has Failed
};

}  // namespace skua::server
