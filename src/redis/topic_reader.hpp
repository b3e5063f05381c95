// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/intrusive_list.hpp"
#include "loop/clock.hpp"
#include "loop/threads/promise.hpp"
#include "redis/backoff.hpp"
#include "redis/subscriber.hpp"
#include "redis/topic_settings.hpp"
#include "skua/async.hpp"
#include "skua/redis.hpp"
#include "skua/waiter.hpp"
#include "topics/bus.hpp"
#include "topics/message_id.hpp"

namespace skua::redis {

/// Reads the streams of all logs that somebody in this process watches. Redis says on a channel
/// which of them has a new message, so a message costs the same however many are watched.
class TopicReader final {
 public:
  using Watching = loop::Promise<std::unique_ptr<topics::Lease>>;

  TopicReader(Client& client, const TopicSettings& settings, topics::Feed& feed, TopicAway& away);
  TopicReader(const TopicReader&) = delete;
  TopicReader& operator=(const TopicReader&) = delete;
  ~TopicReader();

  /// Reads for as long as the task exists. `on_return` is called whenever Redis is there, at first
  /// and again.
  Task<> run(std::function<void()> on_return);
  /// Begins to read a log, unless it is read already.
  ///
  /// Waits for: Redis, while an answer is wanted.
  /// Ends with: ErrorReply if Redis refuses; Overloaded if too many are watched.
  Task<Result<void, Problem>> watch(std::string name, const Watching& watching);
  void unwatch(const std::string& name) noexcept;
  /// Ends logs that nobody has watched for a while: polls come back soon.
  void sweep() noexcept;
  /// Returns the topics whose members somebody watches.
  [[nodiscard]] std::vector<std::string> watched_members() const;

 private:
  struct Log;
  using LogPtr = std::shared_ptr<Log>;
  using MessageId = topics::MessageId;
  class User;

  Task<Result<void, Problem>> step(const std::function<void()>& on_return);
  Task<Result<void, Problem>> sync();
  Task<Result<void, Problem>> read();
  [[nodiscard]] Result<void, Problem> take(const LogPtr& log, const Reply& reply,
                                           std::size_t count);
  [[nodiscard]] bool deliver(const LogPtr& log, const Reply& elements);
  void check_position(const LogPtr& log, MessageId last);
  void begin(Log& log, MessageId at);
  void refuse(const LogPtr& log, const Problem& why);

  Task<> listen();
  Task<> listen_once();
  void hear(const Message& message);
  void lose(const Problem& why);

  [[nodiscard]] LogPtr log_of(const std::string& name);
  [[nodiscard]] LogPtr log_of_channel(std::string_view channel) const;
  void name(const LogPtr& log);
  void name_some();
  void leave(Log& log) noexcept;
  void end(Log& log) noexcept;
  void end_left(std::size_t most) noexcept;

  Client& client_;
  const TopicSettings& settings_;
  topics::Feed& feed_;
  TopicAway& away_;
  Backoff backoff_;
  std::map<std::string, LogPtr, std::less<>> logs_;  // by their names; shared with tasks
  base::IntrusiveList<Log> left_;                    // by nobody watched, the longest first
  std::size_t left_count_ = 0;
  std::deque<LogPtr> named_;  // that have to be read
  std::string checked_;       // the last one that was read without having been named
  loop::Instant next_check_{};
  std::size_t count_;                       // messages of a log that are read at once
  std::shared_ptr<Subscriber> subscriber_;  // shared with the task that waits for it
  skua::detail::WaiterList changed_;        // for run()
  bool needs_sync_ = true;
  bool was_away_ = true;
  Scope tasks_;  // the last member: its task uses the others
};

}  // namespace skua::redis
