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

/// Who uses a stream through a pump. Calls come on the loop's thread. What of them runs out of
/// memory ends in on_lack_of_memory().
class StreamPumpUser {
 public:
  /// The same as of StreamSink, as long as the pump is open.
  virtual void on_established() {}
  virtual void on_receive(std::span<char> bytes) = 0;
  virtual void on_receive_end(Error error) = 0;
  virtual void on_send_failed(Error error) = 0;
  /// So many bytes came when the pump was open no more.
  virtual void on_dropped(std::size_t /*count*/) {}
  /// So many bytes of the output have left; also inside of flush().
  virtual void on_sent(std::uint64_t count) = 0;
  /// The timer has run out; while is_sending(), on a peer that takes nothing.
  virtual void on_time_out() {}
  /// Something has happened: behind every call above but on_established(), on_receive() and
  /// on_send_failed(), and at the end of a turn in which settle_later() was called. The place to
  /// flush().
  virtual void settle() = 0;
  virtual void on_lack_of_memory() noexcept = 0;
  /// The pump begins to close, whoever wanted it: lets go of what still waits.
  virtual void on_closing() noexcept {}
  /// The stream is closed: the last call; it may destroy the pump.
  virtual void on_closed() = 0;

 protected:
  ~StreamPumpUser() = default;
};

/// A stream with what is still to be sent on it: sends that once a turn, turns receiving on and
/// off, watches over a peer that takes nothing, and ends both sides in order. It knows no protocol.
///
/// Lifetime:  once it has a stream, until StreamPumpUser::on_closed.
class StreamPump final : private StreamSink, private loop::TimerNode, private loop::DeferredNode {
 public:
  enum class State : std::uint8_t {
    Open,
    Ending,     ///< what is in the output is the last; what is received is dropped
    Lingering,  ///< that was sent; the peer's bytes are read and dropped, so that it gets it
    Closing,
    Closed,
  };

  StreamPump(StreamPumpUser& user, loop::Loop& loop, OutputQueue::Blocks& blocks) noexcept;

  /// Takes over a stream to which nobody listens; before all else.
  void take(std::unique_ptr<Stream> stream) noexcept;
  [[nodiscard]] Stream& stream() const noexcept { return *stream_; }
  [[nodiscard]] loop::Loop& loop() const noexcept { return loop_; }
  [[nodiscard]] State state() const noexcept { return state_; }
  [[nodiscard]] bool is_open() const noexcept { return state_ == State::Open; }

  /// Does what may want memory; where there is none, the user is told.
  template <class Work>
  void guarded(Work&& work) noexcept;

  // What is received.

  /// Starts or stops receiving; whether that changes anything. It does not where the peer has
  /// ended.
  bool set_receiving(bool wanted);
  /// The peer has ended its side, or an error has.
  [[nodiscard]] bool has_input_ended() const noexcept { return input_ == Input::Ended; }
  /// The same as if the stream told it, for who has heard of it before.
  void end_input(Error error);

  // What is sent.

  [[nodiscard]] OutputQueue& output() noexcept { return output_; }
  [[nodiscard]] const OutputQueue& output() const noexcept { return output_; }
  /// The peer has not taken all that was sent.
  [[nodiscard]] bool is_sending() const noexcept { return sending_ == Sending::Pending; }
  /// Has the user settle at the end of the turn, and so all that this turn writes leave at once.
  void settle_later() noexcept { loop_.defer(*this); }
  /// Sends what can go now.
  void flush();
  /// The same, and again each time that `go_on` says that it got further; only so often that others
  /// have their turn, too: then it settles later.
  template <class GoOn>
  void flush_while(GoOn&& go_on);
  /// Sends what can go at once, from where it lies, where nothing waits before it. Returns how many
  /// bytes went, of which on_sent() does not tell.
  std::size_t send_now(std::span<const Slice> slices);

  // Time.

  void start_timer(Duration delay) noexcept { loop_.timers().start(*this, delay); }
  void stop_timer() noexcept { TimerNode::stop(); }
  /// While a send is pending: what is left of a patience that begins whenever the peer takes
  /// something; nothing if none is.
  [[nodiscard]] std::optional<Duration> left_to_send(Duration patience) noexcept {
    if (!is_sending()) [[likely]]
      return std::nullopt;
    const auto since_epoch = loop_.now().time_since_epoch();
    const auto now = static_cast<std::uint32_t>(
        std::chrono::duration_cast<std::chrono::milliseconds>(since_epoch).count());
    if (!std::exchange(is_sending_timed_, true)) sending_since_ = now;
    return patience - std::chrono::milliseconds(now - sending_since_);
  }

  // The end.

  /// What is in the output is the last.
  void end() noexcept;
  /// All of that was sent.
  [[nodiscard]] bool has_ended() const noexcept {
    return state_ == State::Ending && output_.empty();
  }
  enum class LastWord : std::uint8_t { Ours, Peers };
  /// Waits for the peer to end its side, for so long, and then closes; at once where it has.
  /// `Ours`: ends our side now. `Peers`: with its own.
  void linger(Duration patience, LastWord last_word = LastWord::Ours);
  /// Neither sends nor receives any more.
  void cut_off() noexcept;
  /// Closes at once, whatever is in progress.
  void close() noexcept;

 private:
  enum class Input : std::uint8_t { Stopped, Receiving, Ended };
  enum class Sending : std::uint8_t { Nothing, Pending, Impossible };

  void on_established() override;
  void on_receive(std::span<char> bytes) override;
  void on_receive_end(Error error) override { end_input(error); }
  void on_sent(std::size_t count) override;
  void on_send_failed(Error error) override;
  void on_closed() override;

  void settle();
  void note_sent(std::uint64_t count);
  static void on_turn_end(void* node) noexcept;
  static void on_time_out(void* node) noexcept;

  static constexpr int rounds_per_turn = 16;

  StreamPumpUser& user_;
  loop::Loop& loop_;
  std::unique_ptr<Stream> stream_;
  OutputQueue output_;
  State state_ = State::Open;
  Input input_ = Input::Stopped;
  Sending sending_ = Sending::Nothing;
  bool is_sending_timed_ = false;
  std::uint32_t sending_since_ = 0;  // the peer last took something: in milliseconds
};

template <class Work>
void StreamPump::guarded(Work&& work) noexcept {
  try {
    std::forward<Work>(work)();
  } catch (const std::bad_alloc&) {
    user_.on_lack_of_memory();
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
