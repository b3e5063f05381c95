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

/// A stream without a socket, for tests: a test is its peer. Nothing happens but inside pump().
///
/// It keeps the contract as strictly as it can be read: a call after close(), a second send while
/// one is pending, or destruction before on_closed() is a bug of the user and asserts.
class MemoryStream final : public Stream {
 public:
  /// How a send that was not taken whole goes on: both are allowed, and both happen.
  enum class SendStyle : std::uint8_t {
    Readiness,   ///< on_sent(0), and the owner sends again: epoll, poll.
    Completion,  ///< Bytes are taken in the meantime, on_sent(count): io_uring.
  };

  MemoryStream() = default;
  ~MemoryStream() override;

  /// The peer sends these bytes; they arrive as one piece.
  void feed(std::string_view piece) { pieces_.emplace_back(piece); }
  /// The peer sends these bytes; they arrive in pieces of at most `piece_bytes`.
  void feed(std::string_view bytes, std::size_t piece_bytes);
  /// The peer ends its side after what was fed; an error stands for a reset.
  void finish(Error error = Errc::None) { end_ = error; }
  /// From now on a send takes at most `count_bytes` at once, and as many more in each step.
  void take_at_most(std::size_t count_bytes, SendStyle style = SendStyle::Readiness) noexcept;
  /// The pending send, or else the next one, fails.
  void fail_send(Error error) noexcept { send_error_ = error; }

  /// Makes one call to the sink, if there is one to make.
  bool pump_once();
  /// Makes calls until there are none left; returns how many it made. `*this` may be gone
  /// afterwards.
  std::size_t pump();

  /// All that was sent, and taken.
  [[nodiscard]] const std::string& output() const noexcept { return output_; }
  std::string take_output() noexcept { return std::exchange(output_, {}); }
  /// In how many operations it was sent.
  [[nodiscard]] std::size_t send_count() const noexcept { return send_count_; }
  [[nodiscard]] bool is_receiving() const noexcept { return is_receiving_; }
  [[nodiscard]] bool is_write_shut() const noexcept { return is_write_shut_; }
  /// close() has been called (on_closed comes with the next pump).
  [[nodiscard]] bool is_closed() const noexcept { return is_closing_; }
  [[nodiscard]] bool has_input() const noexcept { return !pieces_.empty(); }
  /// Becomes true when the stream is destroyed: its owner may destroy it inside on_closed.
  void tell_destruction(bool& is_destroyed) noexcept { is_destroyed_ = &is_destroyed; }

  void start_receive() override;
  void stop_receive() override;
  std::size_t send(std::span<const Slice> slices) override;
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
  std::string pending_;  // what a send was given and has not been taken
  std::size_t most_bytes_ = std::numeric_limits<std::size_t>::max();
  std::size_t send_count_ = 0;
  bool* is_destroyed_ = nullptr;
  SendStyle style_ = SendStyle::Readiness;
  bool is_receiving_ = false;
  bool is_sending_ = false;
  bool is_write_shut_ = false;
  bool is_closing_ = false;
  bool has_closed_ = false;
};

}  // namespace skua::net
