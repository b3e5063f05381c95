// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/intrusive_list.hpp"
#include "loop/loop.hpp"
#include "net/stream_pump.hpp"
#include "skua/task.hpp"

#include "bench/speaker.hpp"
#include "bench/tally.hpp"

namespace skua::cli::bench {

class Worker;

/// A connection of a worker: opened, kept busy, and reopened if it ends before the load does. It is
/// in the worker's list while it waits for a request to become due.
///
/// Lifetime:  the worker outlives it; it must exist until it calls Worker::connection_done().
class Connection final : public base::ListNode, private net::StreamPumpUser, private AnswerSink {
 public:
  explicit Connection(Worker& worker);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection() = default;

  /// Starts connecting.
  void open();
  /// Sends the requests that are due, as far as there is room.
  void fill(loop::Instant now);
  /// Ends the connection once all requests in flight are answered. No more requests will come.
  void wind_up();
  /// Ends the connection at once.
  void abandon();
  /// Fails the connection if its oldest request was sent before `then`.
  void check_timeout(loop::Instant then);

 private:
  enum class State : std::uint8_t { Fresh, Connecting, Open, Closing, Pausing, Done };

  void on_receive(std::span<char> bytes) override;
  void on_receive_end(Error error) override;
  void on_send_failed(Error error) override { send_failure_ = error; }
  void on_sent(std::uint64_t count) override;
  void settle() override { flush(); }
  void on_out_of_memory() noexcept override;
  void on_closed() override;
  void on_answer(const Asked& asked, unsigned status, loop::Instant now) override;
  void on_unseen(const Asked& asked) override;
  void on_failure(const Asked& asked, const Error& error) override;

  Task<> connect();
  void begin(std::unique_ptr<net::Stream> stream);
  void refused(Errc code, const std::string& why);
  void flush();
  void conclude(Verdict verdict, loop::Instant now);
  void fail(Failure kind, const std::string& why);
  void close();
  void finish();
  [[nodiscard]] bool never_opens() const noexcept;

  Worker& worker_;
  std::unique_ptr<Speaker> speaker_;
  std::unique_ptr<net::StreamPump> pump_{};  // while connected
  std::optional<Task<>> opening_{};
  loop::Timer pause_;
  std::optional<Error> send_failure_{};  // a response may arrive all the same
  loop::Instant opened_{};               // when connecting began
  unsigned refusals_ = 0;                // consecutive
  State state_ = State::Fresh;
  bool was_open_ = false;
};

}  // namespace skua::cli::bench
