// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "redis/connection.hpp"
#include "redis/topology.hpp"
#include "skua/async.hpp"
#include "skua/redis.hpp"
#include "skua/waiter.hpp"

namespace skua::redis {

/// The messages that wait for the program, up to its bounds.
class MessageQueue final {
 public:
  explicit MessageQueue(const SubscribeOptions& options) : options_(options) {}

  /// Adds a message. Returns false if there is no room and the options say to end.
  bool add(Message message);
  /// Messages may have been lost here.
  void add_gap();
  /// Returns the next message, or a gap; nullopt if there is none.
  std::optional<Message> take();

 private:
  void drop_oldest();

  SubscribeOptions options_;
  std::deque<Message> messages_;
  std::size_t bytes_ = 0;
  bool begins_with_gap_ = false;
};

/// The connection of a subscription, and what came over it.
///
/// Lifetime: shared by the subscription and the task that waits for a message.
class Subscriber final {
 public:
  Subscriber(std::shared_ptr<const Settings> settings, std::shared_ptr<Topology> topology,
             const SubscribeOptions& options);
  Subscriber(const Subscriber&) = delete;
  Subscriber& operator=(const Subscriber&) = delete;
  ~Subscriber();

  /// Subscribes for the first time; see Client::subscribe().
  static Task<Result<void, Problem>> start(std::shared_ptr<Subscriber> self, Channels channels);
  static Task<Result<Message, Problem>> next(std::shared_ptr<Subscriber> self);
  void add(const Channels& channels);
  void remove(const Channels& channels);
  void end(const Problem& why) noexcept;

  using OnConfirmed = std::function<void(std::string_view name)>;
  using OnLost = std::function<void(const Problem& why)>;
  /// Sets what is told of each name that the server has confirmed, from which on its messages come,
  /// and of each end of the connection.
  void watch_connection(OnConfirmed on_confirmed, OnLost on_lost) {
    on_confirmed_ = std::move(on_confirmed);
    on_lost_ = std::move(on_lost);
  }

 private:
  /// Names of one kind, and the command that subscribes to them.
  struct Names {
    std::string_view command;  ///< `SUBSCRIBE`
    std::set<std::string, std::less<>> all{};
  };

  Task<> stay_subscribed();
  Task<bool> subscribe_once();
  Task<Result<Connection::Self, Problem>> open();
  Task<> watch(Connection::Self connection);
  void drop_connection(const Problem& why) noexcept;
  [[nodiscard]] bool is_final(const Problem& why) const noexcept;
  void subscribe_to_all();
  void subscribe_to(std::string_view name, const std::vector<std::string_view>& names);
  void await_confirmation();
  void add_names(Names& names, const std::vector<std::string>& more);
  void remove_names(Names& names, const std::vector<std::string>& some);
  void on_push(const Reply& push);
  void on_error(const Reply& error);
  void on_message(const Reply& push, std::size_t channel_at, std::string_view pattern);
  [[nodiscard]] bool are_in_one_slot(const std::vector<std::string>& names) const noexcept;

  std::shared_ptr<const Settings> settings_;  // shared with all of the client
  std::shared_ptr<Topology> topology_;        // shared with the client
  Names channels_{.command = "SUBSCRIBE"};
  Names patterns_{.command = "PSUBSCRIBE"};
  Names shards_{.command = "SSUBSCRIBE"};
  MessageQueue queue_;
  OnConfirmed on_confirmed_{};
  OnLost on_lost_{};
  Connection::Self connection_{};
  std::size_t unconfirmed_ = 0;  // names that the server has not confirmed yet
  std::size_t leaving_ = 0;      // shard channels that were unsubscribed from, likewise
  loop::Instant confirm_by_{};   // one of them
  bool was_connected_ = false;
  bool is_subscribed_ = false;        // all names were confirmed, once
  bool needs_gap_ = false;            // once all names are confirmed again
  std::optional<Problem> problem_{};  // of the last attempt
  std::optional<Problem> end_{};
  skua::detail::WaiterList changed_;  // for the program
  skua::detail::WaiterList closed_;   // for watch()
  Scope tasks_;                       // the last member: its task uses the others
};

}  // namespace skua::redis
