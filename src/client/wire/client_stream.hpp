// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/intrusive_list.hpp"
#include "body/content_queue.hpp"
#include "body/outgoing_body.hpp"
#include "client/wire/exchange.hpp"
#include "h2/connection.hpp"
#include "net/output_queue.hpp"

namespace skua::client {

class H2Connection;
class H2Tunnel;

/// One request and its response on an HTTP/2 connection.
///
/// Lifetime:  until end(), which destroys it; the connection outlives it.
/// RFC:       9113 §8
class ClientStream final : public base::ListNode, public Exchange, private body::Framer {
 public:
  /// More content than `max_content_bytes` is BodyTooLong.
  ClientStream(H2Connection& connection, net::OutputQueue::Blocks& blocks, loop::Instant now,
               std::uint64_t max_content_bytes);
  ~ClientStream();

  Result<Step> read() override;
  [[nodiscard]] skua::detail::WaiterList& changed() noexcept override { return changed_; }
  [[nodiscard]] loop::Instant progress() const noexcept override;
  [[nodiscard]] const http::Head& head() const noexcept override { return head_->head; }
  [[nodiscard]] const http::Head& trailers() const noexcept override;
  [[nodiscard]] bool has_begun() const noexcept override { return has_begun_; }
  [[nodiscard]] bool is_unprocessed() const noexcept override { return is_unprocessed_; }
  [[nodiscard]] bool is_all_sent() const noexcept override;
  [[nodiscard]] bool is_starved() const noexcept override;
  [[nodiscard]] std::uint64_t sent_bytes() const noexcept override { return sent_bytes_; }
  void continue_now() override;
  Result<SwitchedStream> take_stream(ExchangePointer self, Pool::Lease lease) override;
  void end() noexcept override;

  // For the connection.

  /// Its place in one of the connection's lists.
  struct Node : base::ListNode {
    explicit Node(ClientStream& of) noexcept : stream(of) {}
    ClientStream& stream;
  };
  /// Linked if advance() may have something to do.
  [[nodiscard]] Node& news() noexcept { return news_; }
  /// Linked if the connection has not sent all that was written.
  [[nodiscard]] Node& unsent() noexcept { return unsent_; }

  /// Attaches the stream. With `expects_continue`, the content waits for 100 (Continue).
  void start(h2::Stream& stream, Body&& content, bool expects_continue);
  /// Attaches the stream of an extended CONNECT.
  void start_tunnel(h2::Stream& stream);
  /// Reports whether content may begin, or its producer has ended, since the last advance(), or
  /// whether the tunnel has news.
  [[nodiscard]] bool can_advance() const noexcept;
  void advance();
  void take_head(std::unique_ptr<h2::ReceivedHead> head);
  void take_data(std::string_view data);
  void take_end(std::unique_ptr<h2::ReceivedHead> trailers);
  /// The stream has failed and is gone.
  void fail(const h2::StreamFailure& failure);
  [[nodiscard]] h2::BodyRead read_body(std::size_t max_bytes) const noexcept;
  /// Writes the head of a DATA frame and the next bytes of the content, as many as read_body()
  /// returned.
  void write_data(net::OutputQueue& output, std::string_view head, std::size_t size_bytes);
  /// The offset in the connection's output at which that of the stream ends so far.
  [[nodiscard]] std::uint64_t ends_at() const noexcept { return ends_at_; }
  /// Bytes came, went, or made room.
  void note_progress() noexcept;
  /// Reports whether some content is still to be produced.
  [[nodiscard]] bool is_making() const noexcept { return content_state_ != Content::Over; }
  /// Drops the rest of the content, which cannot be sent; the response may still come.
  void stop_sending();

  // For its tunnel.

  [[nodiscard]] H2Connection& connection() const noexcept { return connection_; }
  [[nodiscard]] bool has_data() const noexcept { return !received_.empty(); }
  /// Takes what was received, for which the server may send as much again.
  std::string take_data();
  /// Reports whether the server sends no more than has_data(), and why.
  [[nodiscard]] std::optional<Error> end_of_data() const noexcept;
  [[nodiscard]] const std::optional<Error>& failure() const noexcept { return failure_; }
  /// Reports whether to send more.
  [[nodiscard]] bool has_room() const noexcept;
  void send(std::string_view bytes);
  /// Sends nothing after this.
  void end_output();
  void leave_tunnel() noexcept { tunnel_ = nullptr; }

 private:
  /// The state of the request's content.
  enum class Content : std::uint8_t {
    Waiting,  ///< for 100, or continue_now()
    Allowed,  ///< 100 has arrived
    Sending,
    Tunnel,  ///< in its place, bytes of another protocol
    Over,    ///< nothing is left to produce
  };

  void write_content(Body&& piece) override;
  [[nodiscard]] std::uint64_t waiting_bytes() const noexcept override {
    return queue_.pressure_bytes();
  }
  void content_ended() noexcept override;

  void begin_content();
  void end_content();
  void give_back_data();
  [[nodiscard]] bool hold(const h2::ReceivedHead& head) noexcept;
  void drop_head() noexcept;
  void give_up(Error error);
  [[nodiscard]] bool has_sent_queue() const noexcept;
  void tell_tunnel() noexcept;

  H2Connection& connection_;
  Node news_{*this};
  Node unsent_{*this};
  h2::Stream* stream_ = nullptr;  // null once it is released
  const std::uint64_t max_content_bytes_;
  // The response:
  std::deque<std::unique_ptr<h2::ReceivedHead>> heads_;  // not read yet
  std::unique_ptr<h2::ReceivedHead> head_;
  std::unique_ptr<h2::ReceivedHead> trailers_;
  std::size_t held_bytes_ = 0;  // of all of these, taken from the connection
  std::string looked_at_;       // backs Data
  std::string received_;        // since then
  std::uint64_t content_bytes_ = 0;
  std::optional<Error> failure_{};
  loop::Instant progress_;
  skua::detail::WaiterList changed_;
  bool has_begun_ = false;
  bool is_whole_ = false;
  bool is_unprocessed_ = false;
  // The request:
  Body content_;  // while it waits
  body::OutgoingBody body_;
  body::ContentQueue queue_;  // content that the session has not asked for yet
  std::uint64_t sent_bytes_ = 0;
  std::uint64_t ends_at_ = 0;  // offset in the connection's output
  std::exception_ptr exception_{};
  Content content_state_ = Content::Over;
  // An extended CONNECT:
  H2Tunnel* tunnel_ = nullptr;  // once the server has accepted it and it was taken
  bool is_accepted_ = false;    // the head that read() has returned is a 2xx
};

}  // namespace skua::client
