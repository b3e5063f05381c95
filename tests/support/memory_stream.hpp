// SPDX-License-Identifier: MIT
#pragma once

#include <deque>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "net/stream.hpp"

namespace skua::net {

/// A stream without a socket, for tests: the test is its peer. Events happen only inside pump().
///
/// It asserts what the contract forbids: receiving or sending after close(), and a second send
/// while one is pending.
class MemoryStream final : public Stream {
 public:
  /// How a partial send continues. Both ways are allowed, and real back ends use both.
  enum class SendStyle : std::uint8_t {
    Readiness,   ///< on_sent(0), then the owner sends the rest: epoll, poll.
    Completion,  ///< More bytes are taken, then on_sent(count): io_uring.
  };

  MemoryStream() = default;
  ~MemoryStream() override;

  /// Sends these bytes as the peer; they arrive in one piece.
  void feed(std::string_view piece) { pieces_.emplace_back(piece); }
  /// Sends these bytes as the peer; they arrive in pieces of at most `piece_bytes`.
  void feed(std::string_view bytes, std::size_t piece_bytes);
  /// Ends the peer's side after the bytes fed so far; an error stands for a reset.
  void finish(Error error = Errc::None) { end_ = error; }
  /// Limits sends from now on, to `count_bytes` at once and as many in each later step.
  void take_at_most(std::size_t count_bytes, SendStyle style = SendStyle::Readiness) noexcept;
  /// Makes bytes that try_send() takes wait in the stream, as those of TLS may.
  void hold_tries() noexcept { holds_tries_ = true; }
  /// Fails the pending send, or else the next one.
  void fail_send(Error error) noexcept { send_error_ = error; }

  /// Makes the next call to the sink. Returns false if none is due.
  bool pump_once();
  /// Makes all calls that are due and returns their number. `*this` may be destroyed afterwards.
  std::size_t pump();

  /// All bytes that were sent and taken.
  [[nodiscard]] const std::string& output() const noexcept { return output_; }
  std::string take_output() noexcept { return std::exchange(output_, {}); }
  /// The number of send operations.
  [[nodiscard]] std::size_t send_count() const noexcept { return send_count_; }
  [[nodiscard]] bool is_receiving() const noexcept { return is_receiving_; }
  [[nodiscard]] bool is_write_shut() const noexcept { return is_write_shut_; }
  /// Whether close() has been called (on_closed comes with the next pump).
  [[nodiscard]] bool is_closed() const noexcept { return is_closing_; }
  [[nodiscard]] bool has_input() const noexcept { return !pieces_.empty(); }
  /// Sets `is_destroyed` when the stream is destroyed, which its owner may do inside on_closed.
  void tell_destruction(bool& is_destroyed) noexcept { is_destroyed_ = &is_destroyed; }

  void start_receive() override;
  void stop_receive() override;
  std::size_t send(std::span<const Slice> slices) override;
  Sent try_send(std::span<const Slice> slices) override;
  std::size_t send_file(int file, std::uint64_t offset, std::size_t size_bytes) override;
  void shutdown_write() override;
  void close() override;

  [[nodiscard]] Address peer() const override { return {}; }
  [[nodiscard]] Address local() const override { return {}; }

 private:
  std::size_t begin_send(std::string_view bytes);
  bool pump_send();
  bool pump_receive();

  std::deque<std::string> pieces_;
  std::optional<Error> end_;
  std::optional<Error> send_error_;
  std::string output_;
  std::string pending_;  // bytes of the pending send that were not taken
  std::size_t max_bytes_ = std::numeric_limits<std::size_t>::max();
  std::size_t send_count_ = 0;
  bool* is_destroyed_ = nullptr;
  SendStyle style_ = SendStyle::Readiness;
  bool is_receiving_ = false;
  bool is_sending_ = false;
  bool is_write_shut_ = false;
  bool is_closing_ = false;
  bool holds_tries_ = false;
  bool has_closed_ = false;
};

}  // namespace skua::net
