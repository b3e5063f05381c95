// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string_view>

#include "loop/clock.hpp"
#include "redis/batch.hpp"
#include "redis/settings.hpp"
#include "resp/reply_parser.hpp"
#include "skua/error.hpp"
#include "skua/loop.hpp"
#include "skua/stream.hpp"
#include "skua/task.hpp"

namespace skua::redis {

/// The purpose of a connection, which decides how it logs in.
enum class Role : std::uint8_t {
  Server,    ///< a single server, or a node of a cluster
  Master,    ///< a master that Sentinels told: it has to confirm that it is one
  Sentinel,  ///< a Sentinel
};

/// A connection to a server, after it has logged in: batches of commands out, replies in.
///
/// Lifetime: shared by its owner and the callbacks of its stream. Destroying it closes it.
class Connection final : public std::enable_shared_from_this<Connection> {
 public:
  using Self = std::shared_ptr<Connection>;
  using OnPush = std::function<void(Reply)>;
  using OnClosed = std::function<void(const Problem& why)>;

  /// Connects and logs in.
  ///
  /// Waits for: at most Options::connect.
  /// Ends with: the errors of connecting; ErrorReply if the login or the database is refused;
  ///            see is_denial(); Overloaded if the server is still loading; NotFound if it is not a
  ///            master, but has to be.
  static Task<Result<Self, Problem>> open(std::shared_ptr<const Settings> settings,
                                          Endpoint endpoint, Role role);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection();

  /// Sends a batch; its replies are added to it. If the connection is closed, or there is no
  /// memory, which closes it, the batch fails.
  void send(const BatchPtr& batch) noexcept;
  /// Sends commands that have no replies but pushes: subscriptions.
  void write(std::string_view commands) { stream_.write(commands); }
  /// Sets the receiver of pushes, and of replies that no batch waits for: errors of subscriptions.
  void on_push(OnPush callback) { on_push_ = std::move(callback); }
  /// Sets the callback for the end of the connection, unless close() ended it.
  void on_closed(OnClosed callback) { on_closed_ = std::move(callback); }
  /// Lets the server be silent for as long as it likes: for blocking commands.
  void allow_silence() noexcept {
    may_be_silent_ = true;
    stall_timer_.stop();  // the login has started it
  }

  /// Fails the batches that wait, and closes.
  void close(const Problem& why) noexcept;
  [[nodiscard]] bool is_open() const noexcept { return is_open_; }
  [[nodiscard]] const Endpoint& endpoint() const noexcept { return endpoint_; }
  /// The number of batches that wait for replies.
  [[nodiscard]] std::size_t waiting_count() const noexcept { return waiting_.size(); }
  [[nodiscard]] std::uint64_t unsent_bytes() const noexcept { return stream_.unsent_bytes(); }

 private:
  Connection(std::shared_ptr<const Settings> settings, Endpoint endpoint, Stream stream);

  static Task<Result<Self, Problem>> connect(std::shared_ptr<const Settings> settings,
                                             Endpoint endpoint, Role role);
  static Task<Result<void, Problem>> log_in(Self self, Role role);
  void listen();
  template <class Step>
  void guarded(Step step) noexcept;
  void push(const BatchPtr& batch);
  void read(std::string_view bytes);
  void take(Reply reply);
  void on_stall();
  void lose(const Problem& why) noexcept;

  std::shared_ptr<const Settings> settings_;  // shared with all of the client
  Endpoint endpoint_;
  Stream stream_;
  resp::ReplyParser parser_;
  std::deque<BatchPtr> waiting_;
  OnPush on_push_{};
  OnClosed on_closed_{};
  Timer stall_timer_;
  loop::Instant heard_{};  // bytes of the server, or the first command it owes a reply to
  bool is_open_ = true;
  bool may_be_silent_ = false;
};

}  // namespace skua::redis
