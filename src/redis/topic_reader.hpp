// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "loop/clock.hpp"
#include "redis/backoff.hpp"
#include "redis/topic_settings.hpp"
#include "skua/async.hpp"
#include "skua/redis.hpp"
#include "topics/bus.hpp"
#include "topics/message_id.hpp"
#include "topics/question.hpp"

namespace skua::redis {

/// Reads the streams of all logs that somebody in this process watches, with one command that
/// waits.
class TopicReader final {
 public:
  using Watching = topics::Duty<std::unique_ptr<topics::Lease>>;

  TopicReader(Client& client, const TopicSettings& settings, topics::Feed& feed, TopicAway& away);
  TopicReader(const TopicReader&) = delete;
  TopicReader& operator=(const TopicReader&) = delete;

  /// Reads for as long as the task exists. `on_return` is called whenever Redis is there, at first
  /// and again.
  Task<> run(std::function<void()> on_return);
  /// Begins to read a log, unless it is read already.
  ///
  /// Waits for: Redis, while an answer is wanted.
  Task<Result<void, Problem>> watch(std::string name, const Watching& watching);
  void unwatch(const std::string& name);
  /// Ends logs that nobody has watched for a while: polls come back soon.
  void sweep();
  /// Returns the topics whose members somebody watches.
  [[nodiscard]] std::vector<std::string> watched_members() const;

 private:
  struct Log {
    topics::MessageId position{};
    std::size_t users = 0;
    loop::Instant left{};  // when the last of them went
  };

  Task<Result<void, Problem>> step(const std::function<void()>& on_return);
  Task<Result<void, Problem>> sync();
  Task<Result<void, Problem>> read();
  [[nodiscard]] Command read_command() const;
  [[nodiscard]] bool deliver(const Reply& reply);
  [[nodiscard]] bool deliver(const std::string& name, const Reply& elements);
  void check_position(const std::string& name, const Reply& newest);
  void wake();
  Task<> end_wait();

  Client& client_;
  const TopicSettings& settings_;
  topics::Feed& feed_;
  TopicAway& away_;
  Backoff backoff_;
  std::map<std::string, Log> logs_;  // by their names
  topics::MessageId wake_position_;
  std::size_t count_;               // messages of a log that are read at once
  std::uint64_t changes_ = 0;       // of the set of logs
  std::uint64_t read_changes_ = 0;  // the same, when the wait began
  bool is_reading_ = false;
  bool is_waking_ = false;
  bool needs_sync_ = true;
  Scope tasks_;  // the last member: its task uses the others
};

}  // namespace skua::redis
