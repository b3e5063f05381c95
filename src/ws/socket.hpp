// SPDX-License-Identifier: MIT
#pragma once

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "loop/clock.hpp"
#include "skua/attachments.hpp"
#include "skua/body.hpp"
#include "skua/waiter.hpp"
#include "skua/websocket.hpp"
#include "ws/extension.hpp"
#include "ws/frame.hpp"
#include "ws/message_reader.hpp"
#include "ws/wire.hpp"

namespace skua::ws {

/// A queue of complete frames for a peer that does not keep up.
class SendQueue {
 public:
  void push(Body&& frame) {
    size_bytes_ += frame.size_bytes();
    frames_.push_back(std::move(frame));
  }
  Body pop() {
    Body frame = std::move(frames_.front());
    frames_.pop_front();
    size_bytes_ -= frame.size_bytes();
    return frame;
  }
  [[nodiscard]] bool empty() const noexcept { return frames_.empty(); }
  [[nodiscard]] std::uint64_t size_bytes() const noexcept { return size_bytes_; }

 private:
  std::deque<Body> frames_;
  std::uint64_t size_bytes_ = 0;
};

class Codecs;
class MessageCoding;
class RemoteSocket;
class Subscription;
class Topics;
class Publication;

/// The result of the opening handshake.
struct Agreement {
  std::optional<DeflateParameters> deflate{};
  std::string subprotocol{};
};

/// Limit on data in the connection's own output; anything beyond it waits as complete frames.
inline constexpr std::size_t wire_high_water_bytes = 64 * 1024;

/// Either end of a WebSocket: turns frames from the peer into messages and vice versa, and performs
/// the closing handshake. Independent of the kind of connection; sets no timers.
///
/// RFC:       6455 §5, §6, §7
class Socket final {
 public:
  /// `options` and `wire` must outlive the socket.
  Socket(Role role, const WebSocketOptions& options, Agreement&& agreement, Wire& wire);
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  ~Socket();

  // Called by the connection.

  /// Gives messages to Wire::on_message, instead of a receiving coroutine.
  void listen() noexcept { has_listener_ = true; }
  /// Processes bytes from the peer, unmasking them in place. Bytes that must wait are copied.
  void receive(std::span<char> input);
  /// Signals the end of input.
  void receive_end();
  /// Continues with input that had to wait.
  void resume();
  [[nodiscard]] bool can_resume() const noexcept {
    return (has_held() && may_read()) || (is_closed() && receiver_);
  }
  /// Reports whether more input should be read.
  [[nodiscard]] bool wants_input() const noexcept { return !has_held() && may_read(); }
  /// The peer has taken some of the output.
  void output_drained();
  /// Reports whether there is a deadline(): not while an open socket wants no input.
  [[nodiscard]] bool is_timed() const noexcept { return !is_open() || wants_input(); }
  /// Returns when time_out() is due.
  [[nodiscard]] std::optional<loop::Instant> deadline() const noexcept;
  /// Pings a silent peer, and gives up if it stays silent.
  void time_out();
  /// The connection is gone: a receiving coroutine sees the end.
  void cancel() noexcept;
  /// Memory ran out in a call that the connection does not guard: ends at the end of the turn.
  void give_up() noexcept;
  /// Reports whether there is nothing left to write.
  [[nodiscard]] bool is_finished() const noexcept { return is_closed() && !has_queue(); }
  [[nodiscard]] bool is_closed() const noexcept { return state_ == State::Closed; }
  [[nodiscard]] Wire& wire() const noexcept { return wire_; }
  /// Reports whether the socket closed longer than the `close` timeout ago.
  [[nodiscard]] bool is_overdue() const noexcept;

  // Called by the application; see WebSocket.

  [[nodiscard]] bool prepare_receive();
  void park_receiver(std::coroutine_handle<> receiver);
  void forget_receiver() noexcept { receiver_ = {}; }
  [[nodiscard]] std::optional<Message> take_message() noexcept;
  /// The application is done: releases the last message and removes the control callback. The
  /// socket alone handles further input.
  void release_message() noexcept;

  enum class Sent : std::uint8_t { Taken, MustWait, Refused };
  enum class Sending : std::uint8_t {
    Now,      ///< the sender cannot wait
    MayWait,  ///< the sender can wait on senders()
    Waited,   ///< the sender has waited
  };
  Sent send(MessageType type, std::string_view content, Sending sending);
  /// If memory runs out, this socket ends, and its topic's others are not affected.
  void publish_here(const Publication& publication) noexcept;
  [[nodiscard]] detail::WaiterList& senders();
  void ping(std::string_view payload);
  using ControlCallback = std::function<void(WebSocketControl, std::string_view)>;
  void on_control(ControlCallback call);
  void close(CloseCode code, std::string_view reason);
  /// Throws std::invalid_argument if close() would reject the arguments.
  static void check_close(CloseCode code, std::string_view reason);
  [[nodiscard]] bool is_open() const noexcept { return state_ == State::Open; }
  [[nodiscard]] const CloseReason& reason() const noexcept;
  [[nodiscard]] std::string_view subprotocol() const noexcept;
  [[nodiscard]] bool is_compressed() const noexcept { return coding_ != nullptr; }
  [[nodiscard]] std::uint64_t queued_bytes() const noexcept;
  [[nodiscard]] Attachments& attachments();
  void subscribe(std::string_view topic);
  void unsubscribe(std::string_view topic);
  void publish(std::string_view topic, MessageType type, std::string_view text);
  const std::shared_ptr<RemoteSocket>& remote();

 private:
  enum class State : std::uint8_t {
    Open,
    Closing,  ///< we have sent a Close, the peer has not
    Closed,
  };
  enum class Pending : std::uint8_t { None, Ready, Taken };

  /// State that few sockets need.
  struct Extras;

  /// Input and output that have to wait.
  struct Backlog {
    std::string held{};  ///< input that waits for the receiver
    std::size_t held_used = 0;
    SendQueue queue{};
  };

  [[nodiscard]] bool has_held() const noexcept {
    return backlog_ != nullptr && !backlog_->held.empty();
  }
  [[nodiscard]] bool has_queue() const noexcept {
    return backlog_ != nullptr && !backlog_->queue.empty();
  }
  Backlog& backlog();
  void drop_empty_backlog() noexcept;
  void drop_queue() noexcept;
  void take_reader();
  [[nodiscard]] bool has_senders() const noexcept;
  void wake_senders() noexcept;
  [[nodiscard]] bool may_read() const noexcept;
  void read(std::span<char>& input);
  void read_held();
  void handle_message();
  void handle_control(WebSocketControl control);
  void handle_close();
  void fail(const CloseReason& reason);
  void end(CloseCode code, std::string_view text) noexcept;
  void keep_reason(CloseCode code, std::string_view text) noexcept;
  void tell_end() noexcept;
  void listen_again() noexcept;
  void resume_receiver() noexcept;
  [[nodiscard]] bool has_room(std::size_t size_bytes) const noexcept;
  [[nodiscard]] bool make_room(std::size_t size_bytes);
  [[nodiscard]] bool wire_has_room() const noexcept {
    return wire_.pending_bytes() < wire_high_water_bytes;
  }
  void write_message(MessageType type, std::string_view content);
  void write_frame(Opcode opcode, bool is_compressed, std::string_view payload);
  [[nodiscard]] FrameHeader header_of(Opcode opcode, bool is_compressed, std::size_t payload_bytes);
  [[nodiscard]] std::string frame_of(Opcode opcode, bool is_compressed, std::string_view payload);
  void write_piece(Body&& frame);
  void write_close(CloseCode code, std::string_view reason);
  Extras& extras();

  Wire& wire_;
  const WebSocketOptions& options_;
  std::coroutine_handle<> receiver_{};
  std::unique_ptr<MessageReader> reader_;  // null between frames
  std::unique_ptr<Backlog> backlog_;
  std::unique_ptr<MessageCoding> coding_;
  std::unique_ptr<Extras> extras_;
  loop::Instant heard_;  // last input; once closing or closed, when that began
  Role role_;
  State state_ = State::Open;
  Pending pending_ = Pending::None;
  bool has_listener_ : 1 = false;
  bool is_reading_ : 1 = false;
  bool is_pinged_ : 1 = false;
  bool has_peer_ended_ : 1 = false;
  bool was_full_ : 1 = false;     // on_drained() is due
  bool is_blocked_ : 1 = false;   // reading paused for lack of room in the output
  bool had_senders_ : 1 = false;  // that waited; then they have to be looked for
};
static_assert(sizeof(void*) != 8 || sizeof(Socket) <= 72);

}  // namespace skua::ws
