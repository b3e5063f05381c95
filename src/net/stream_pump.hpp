// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <utility>

#include "loop/loop.hpp"
#include "net/output_queue.hpp"
#include "net/stream.hpp"

namespace skua::net {

/// The user of a stream through a pump. Calls come on the loop's thread; if one runs out of
/// memory, on_out_of_memory() follows.
class StreamPumpUser {
 public:
  /// Like those of StreamSink, while the pump is open.
  virtual void on_established() {}
  virtual void on_receive(std::span<char> bytes) = 0;
  virtual void on_receive_end(Error error) = 0;
  virtual void on_send_failed(Error error) = 0;
  /// `count` bytes arrived after the pump ceased to be open, and were dropped.
  virtual void on_dropped(std::size_t /*count*/) {}
  /// `count` bytes of the output were sent; also called inside flush() and send_now().
  virtual void on_sent(std::uint64_t count) = 0;
  /// The timer has expired; while is_sending(), because the peer takes nothing.
  virtual void on_time_out() {}
  /// The place to flush(). Called after on_receive_end(), a finished send, on_time_out() and an
  /// on_receive() that left much output, and at the end of a turn with a settle_later().
  virtual void settle() = 0;
  virtual void on_out_of_memory() noexcept = 0;
  /// The pump starts to close, for whatever reason: release what still waits.
  virtual void on_closing() noexcept {}
  /// The stream is closed. This is the last call; it may destroy the pump.
  virtual void on_closed() = 0;

 protected:
  ~StreamPumpUser() = default;
};

/// A stream with its output queue. Sends the output once a turn, turns receiving on and off,
/// times out a peer that takes nothing, and ends both sides in order. It knows no protocol.
///
/// Lifetime:  once it has a stream, it must live until StreamPumpUser::on_closed.
class StreamPump final : private StreamSink, private loop::TimerNode, private loop::TurnEnd {
 public:
  enum class State : std::uint8_t {
    Open,
    Ending,     ///< the output is final; received bytes are dropped
    Lingering,  ///< the output was sent; received bytes are dropped until the peer ends
    Closing,
    Closed,
  };

  /// The pumps that share blocks are on one loop.
  StreamPump(StreamPumpUser& user, loop::Loop& loop, OutputQueue::Blocks& blocks) noexcept;
  ~StreamPump() {
    if (is_pending()) [[unlikely]]
      loop().forget(*this);
  }

  /// Takes over a stream without a sink. Call it before anything else.
  void take(std::unique_ptr<Stream> stream) noexcept;
  [[nodiscard]] Stream& stream() const noexcept { return *stream_; }
  /// Stops receiving and returns the stream of an open pump that has sent all, which ends the pump:
  /// no call to the user follows.
  [[nodiscard]] std::unique_ptr<Stream> give_up() noexcept;
  [[nodiscard]] loop::Loop& loop() const noexcept { return *output_.blocks().loop_; }
  [[nodiscard]] State state() const noexcept { return state_; }
  [[nodiscard]] bool is_open() const noexcept { return state_ == State::Open; }

  /// Runs `work`; if it runs out of memory, calls on_out_of_memory().
  template <class Work>
  void guarded(Work&& work) noexcept;

  // Receiving.

  /// Starts or stops receiving. Returns whether that changed anything; nothing changes once
  /// input has ended.
  bool set_receiving(bool wanted);
  /// Whether the peer has ended its side, or an error has.
  [[nodiscard]] bool has_input_ended() const noexcept { return input_ == Input::Ended; }
  /// Ends the input as if the stream had reported it, for a caller that learned of it earlier.
  void end_input(Error error);

  // Sending.

  [[nodiscard]] OutputQueue& output() noexcept { return output_; }
  [[nodiscard]] const OutputQueue& output() const noexcept { return output_; }
  /// Whether the stream has not yet taken all that was sent.
  [[nodiscard]] bool is_sending() const noexcept {
    return sending_ == Sending::Pending || sending_ == Sending::Held;
  }
  /// Whether the stream has taken all output, and passed it on.
  [[nodiscard]] bool has_sent_all() const noexcept { return output_.empty() && !is_sending(); }
  /// Calls settle() at the end of the turn, so that all output of the turn leaves at once.
  void settle_later() noexcept {
    if (state_ >= State::Closing) return;
    is_settled_ = false;
    loop().defer(*this);
  }
  /// Sends as much output as the stream takes now.
  void flush();
  /// Flushes, and again while `go_on` reports progress. After 16 rounds it settles later
  /// instead, so that other connections get their turn.
  template <class GoOn>
  void flush_while(GoOn&& go_on);
  /// Sends what the stream takes of the output, if that is one segment, and of at most
  /// `max_slices_now` slices at once, without copying. Returns the number of bytes sent of
  /// `slices`, which on_sent() does not report.
  SKUA_COLD std::size_t send_now(std::span<const Slice> slices);

  static constexpr std::size_t max_slices_now = 16;

  // Time.

  void start_timer(Duration delay) noexcept { loop().timers().start(*this, delay); }
  void stop_timer() noexcept { TimerNode::stop(); }
  /// Returns what is left of `patience`, which starts anew when the peer takes something;
  /// nullopt if no send is pending.
  [[nodiscard]] std::optional<Duration> left_to_send(Duration patience) noexcept {
    if (!is_sending()) [[likely]]
      return std::nullopt;
    const auto since_epoch = loop().now().time_since_epoch();
    const auto now = static_cast<std::uint32_t>(
        std::chrono::duration_cast<std::chrono::milliseconds>(since_epoch).count());
    if (!is_sending_timed_) sending_since_ = now;
    is_sending_timed_ = true;
    return patience - std::chrono::milliseconds(now - sending_since_);
  }

  // The end.

  /// Makes the current output the last.
  void end() noexcept;
  /// Whether end() was called and all output was sent.
  [[nodiscard]] bool has_ended() const noexcept {
    return state_ == State::Ending && has_sent_all();
  }
  enum class ShutdownOrder : std::uint8_t { OursFirst, PeersFirst };
  /// Closes once the peer has ended its side, at the latest after `patience`. `OursFirst` ends our
  /// side now, `PeersFirst` when the peer ends its own.
  void linger(Duration patience, ShutdownOrder order = ShutdownOrder::OursFirst);
  /// Stops sending and receiving for good.
  void cut_off() noexcept;
  /// Closes at once, whatever is in progress.
  void close() noexcept;

 private:
  enum class Input : std::uint8_t { Stopped, Receiving, Ended };
  enum class Sending : std::uint8_t {
    Nothing,
    Pending,
    Held,  // by the stream, which has counted all of it: TLS does once it is encrypted
    Impossible,
  };

  void on_established() override;
  void on_receive(std::span<char> bytes) override;
  void on_receive_end(Error error) override { end_input(error); }
  void on_sent(std::size_t count) override;
  void on_send_failed(Error error) override;
  void on_closed() override;

  void settle();
  void note_sent(std::uint64_t count);
  [[nodiscard]] std::uint64_t held_bytes() const noexcept;
  static void on_turn_end(void* turn_end) noexcept;
  static void on_time_out(void* node) noexcept;

  static constexpr int rounds_per_turn = 16;

  StreamPumpUser& user_;
  std::unique_ptr<Stream> stream_;
  OutputQueue output_;
  State state_ = State::Open;
  Input input_ = Input::Stopped;
  Sending sending_ = Sending::Nothing;
  bool is_sending_timed_ : 1 = false;
  bool is_settled_ : 1 = false;      // since the last settle_later()
  std::uint32_t sending_since_ = 0;  // when the peer last took something, in ms
};

static_assert(sizeof(void*) != 8 || sizeof(StreamPump) <= 96);

template <class Work>
void StreamPump::guarded(Work&& work) noexcept {
  try {
    std::forward<Work>(work)();
  } catch (const std::bad_alloc&) {
    user_.on_out_of_memory();
  }
}

template <class GoOn>
void StreamPump::flush_while(GoOn&& go_on) {
  flush();
  for (int round = 0; round < rounds_per_turn; ++round) {
    if (!go_on()) return;
    flush();
  }
  settle_later();
}

}  // namespace skua::net
