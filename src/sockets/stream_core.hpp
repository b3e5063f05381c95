// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "loop/loop.hpp"
#include "net/output_queue.hpp"
#include "net/stream_pump.hpp"
#include "skua/error.hpp"
#include "skua/task.hpp"
#include "skua/waiter.hpp"

namespace skua::sockets {

/// A connection of the user's: a pump whose events resume tasks or call functions.
///
/// Its operations are those of skua::Stream. The tasks share it, as a stream may be destroyed while
/// they wait.
/// Lifetime: shared by its user, the tasks that wait, and, until on_closed(), itself.
class StreamCore final : private net::StreamPumpUser,
                         public std::enable_shared_from_this<StreamCore> {
 public:
  using Self = std::shared_ptr<StreamCore>;
  template <class... Arguments>
  using Callback =
      std::shared_ptr<const std::function<void(Arguments...)>>;  // shared with its call

  static Self open(loop::Loop& loop, std::unique_ptr<net::Stream> stream);

  static Task<Result<std::size_t>> receive(Self self, std::span<char> room, Duration patience);
  static Task<Result<void>> receive_all(Self self, std::span<char> room, Duration patience);
  static Task<Result<std::string>> receive_until(Self self, std::string end, std::size_t max_bytes,
                                                 Duration patience);
  static Task<Result<void>> send(Self self, std::string_view bytes, Duration patience);
  static Task<Result<void>> shutdown_write(Self self);
  static Task<> finish(Self self, Duration patience);
  void write(std::string_view bytes);
  void close() noexcept;

  void on_receive(std::function<void(std::string_view)> callback);
  void on_end(std::function<void(Error)> callback);
  void on_sent(std::function<void(Error)> callback);

  [[nodiscard]] std::uint64_t unsent_bytes() const noexcept;
  /// Whether no task sends, and the stream has taken all that was written.
  [[nodiscard]] bool has_sent_all() const noexcept {
    return last_sending_ == nullptr && pump_.has_sent_all();
  }
  [[nodiscard]] bool is_open() const noexcept { return pump_.is_open(); }
  [[nodiscard]] net::Stream& stream() const noexcept { return pump_.stream(); }
  [[nodiscard]] loop::Loop& loop() const noexcept { return pump_.loop(); }
  /// The bytes that have arrived and were not received.
  [[nodiscard]] std::string_view unread() const noexcept {
    return std::string_view(unread_).substr(unread_used_);
  }

  /// Waits until everything is sent, also by tasks that send.
  static Task<Result<void>> drain(Self self, loop::Instant deadline);
  /// Ends the use of the stream, which must be drained, and returns it.
  [[nodiscard]] std::unique_ptr<net::Stream> give_up() noexcept;

 private:
  class Receiving;
  class Sending;

  explicit StreamCore(loop::Loop& loop) : blocks_(0), pump_(*this, loop, blocks_) {}

  Task<Result<void>> wait(skua::detail::WaiterList& list, loop::Instant deadline);
  Task<Result<void>> receive_more(std::span<char> room, loop::Instant deadline);
  std::size_t take_unread(std::span<char> room) noexcept;
  void drop_unread(std::size_t count) noexcept;
  static Task<Result<void>> drain_queue(Self self, loop::Instant deadline);
  void queue(std::string_view bytes);
  void deliver(std::string_view bytes);
  void deliver_unread();
  void tell_end();
  void wake_all() noexcept;
  [[nodiscard]] bool can_send() const noexcept { return is_open() && !send_failure_; }
  [[nodiscard]] Error send_error() const noexcept;

  void on_receive(std::span<char> bytes) override;
  void on_receive_end(Error error) override;
  void on_send_failed(Error error) override;
  void on_sent(std::uint64_t count) override;
  void settle() override;
  void on_out_of_memory() noexcept override;
  void on_closing() noexcept override { wake_all(); }
  void on_closed() override { self_.reset(); }

  net::OutputQueue::Blocks blocks_;
  net::StreamPump pump_;
  Self self_{};  // until closed
  std::string unread_;
  std::size_t unread_used_ = 0;            // from the front of unread_
  std::span<char> room_{};                 // of the task that receives
  std::size_t received_ = 0;               // what came into the room
  Sending* last_sending_ = nullptr;        // of the tasks that send, the one that began last
  std::uint64_t written_later_bytes_ = 0;  // kept until tasks that send have ended
  bool is_receiving_ = false;
  bool has_backlog_ = false;  // write() left something in the queue
  bool is_end_told_ = false;
  std::optional<Error> end_{};           // of the input
  std::optional<Error> send_failure_{};  // nothing more can be sent
  skua::detail::WaiterList readers_;
  skua::detail::WaiterList writers_;
  Callback<std::string_view> receive_callback_{};
  Callback<Error> end_callback_{};
  Callback<Error> sent_callback_{};
};

}  // namespace skua::sockets
