// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "base/intrusive_list.hpp"
#include "client/wire/client_stream.hpp"
#include "client/wire/exchange.hpp"
#include "client/wire/head_budget.hpp"
#include "client/wire/pool.hpp"
#include "h1/response_reader.hpp"
#include "h2/connection.hpp"
#include "loop/loop.hpp"
#include "net/close_detached.hpp"
#include "net/stream_pump.hpp"

namespace skua::client {

/// A client's HTTP/2 connection: as many concurrent requests as the server allows.
///
/// RFC:       9113
class H2Connection final : public HttpConnection, private net::StreamPumpUser, private h2::Events {
 public:
  /// Reports whether TLS negotiated HTTP/2. Without TLS, the caller has to know (RFC 9113 §3.3).
  [[nodiscard]] static bool was_agreed_on(const net::Stream& stream) noexcept {
    return stream.protocol() == "h2";
  }

  /// `owner` keeps alive everything it refers to; `stream` is connected, and any TLS handshake is
  /// done. For `stream_bytes` see ClientLimits.
  H2Connection(std::shared_ptr<void> owner, loop::Loop& loop, Pool& pool,
               net::OutputQueue::Blocks& blocks, HeadBudget& heads, net::HeldStream stream,
               const h1::ResponseLimits& limits, std::size_t stream_bytes);
  /// All exchanges must have ended.
  ~H2Connection() override;

  [[nodiscard]] std::size_t capacity() const noexcept override;
  /// Sends GOAWAY and closes, once the last exchange has ended.
  void close() override;
  /// Like HTTP/1, except that CONNECT is Unsupported without a protocol.
  Result<ExchangePointer> begin(const OutgoingRequest& request) override;
  /// Once the connection takes no more requests, begin() says so, and this does not matter.
  [[nodiscard]] Tunnels tunnels() const noexcept override;
  [[nodiscard]] net::Stream& stream() noexcept { return pump_.stream(); }

  // For its exchanges.

  [[nodiscard]] h2::Connection& session() noexcept { return session_; }
  [[nodiscard]] loop::Instant now() noexcept { return loop_.now(); }
  void settle_later() noexcept { pump_.settle_later(); }
  /// Lets the exchange advance at the end of the turn.
  void call(ClientStream& exchange) noexcept {
    if (!exchange.news().is_linked()) news_.push_back(exchange.news());
    settle_later();
  }
  /// The exchange has written to the output.
  void note_unsent(ClientStream& exchange) noexcept {
    exchange.unsent().unlink();
    unsent_.push_back(exchange.unsent());
  }
  /// Takes room for the head of a response. Returns false if others hold too much.
  [[nodiscard]] bool hold(std::size_t head_bytes) noexcept {
    return heads_.take(held_bytes_, head_bytes);
  }
  void give_back(std::size_t head_bytes) noexcept { heads_.give_back(held_bytes_, head_bytes); }
  /// Destroys an exchange that ended; `is_broken_off` if the server had not finished answering.
  void forget(ClientStream& exchange, bool is_broken_off) noexcept;
  /// Bytes written to the output so far, and sent from there to the stream.
  [[nodiscard]] std::uint64_t written_bytes() const noexcept { return written_bytes_; }
  [[nodiscard]] std::uint64_t sent_bytes() const noexcept { return sent_bytes_; }
  /// The time of the last send.
  [[nodiscard]] loop::Instant sent_at() const noexcept { return sent_at_; }

 private:
  enum class State : std::uint8_t {
    Open,
    Retired,  ///< takes no more requests; closes after the last exchange
  };

  void on_receive(std::span<char> bytes) override;
  void on_receive_end(Error error) override;
  void on_send_failed(Error error) override;
  void on_sent(std::uint64_t count) override;
  void settle() override;
  void on_out_of_memory() noexcept override { fail(Error(Errc::OutOfMemory, "connection")); }
  void on_closed() override;
  using h2::Events::on_closed;  // for servers only

  void on_response(h2::Stream& stream, std::unique_ptr<h2::ReceivedHead> head) override;
  void on_data(h2::Stream& stream, std::string_view data) override;
  void on_end(h2::Stream& stream, std::unique_ptr<h2::ReceivedHead> trailers) override;
  void on_failure(h2::Stream& stream, const h2::StreamFailure& failure) override;
  void on_goaway(h2::ErrorCode reason) override;
  void on_room() override;
  h2::BodyRead read_body(h2::Stream& stream, std::size_t max_bytes) override;
  void append(std::string_view bytes) override;
  void append_data(h2::Stream& stream, std::string_view head, std::size_t bytes) override;

  void fail(Error error) noexcept;
  void talk();
  void retire() noexcept;
  [[nodiscard]] bool can_send() const noexcept {
    return pump_.is_open() && !send_failure_ && !end_;
  }

  const std::shared_ptr<void> owner_;
  loop::Loop& loop_;
  Pool& pool_;
  net::OutputQueue::Blocks& blocks_;
  HeadBudget& heads_;
  std::size_t held_bytes_ = 0;  // taken from it
  net::StreamPump pump_;
  const std::uint64_t max_content_bytes_;
  base::IntrusiveList<ClientStream> exchanges_;     // owned by the callers of begin()
  base::IntrusiveList<ClientStream::Node> news_;    // of exchanges that may advance
  base::IntrusiveList<ClientStream::Node> unsent_;  // in the order of their output
  std::size_t exchange_count_ = 0;
  std::uint64_t written_bytes_ = 0;
  std::uint64_t sent_bytes_ = 0;
  loop::Instant sent_at_{};
  std::optional<Error> end_{};  // of the received data
  std::optional<Error> send_failure_{};
  /// Since when the server has been silent while requests were pending.
  std::optional<loop::Instant> unanswered_since_{};
  State state_ = State::Open;
  bool has_more_room_ = false;  // the pool has not been told yet
  h2::Workspace workspace_{32};
  h2::Connection session_;
};

}  // namespace skua::client
