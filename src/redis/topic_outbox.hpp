// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "loop/clock.hpp"
#include "loop/threads/promise.hpp"
#include "redis/topic_settings.hpp"
#include "skua/async.hpp"
#include "skua/redis.hpp"

namespace skua::redis {

/// Publications on their way to Redis. Those of a topic go in order, one command at a time, and
/// each counts once however often it is sent: a key remembers it.
class TopicOutbox final {
 public:
  /// A publication.
  struct Publication {
    std::string text{};
    std::string once{};                                   ///< tells it from all others
    std::optional<loop::Promise<std::string>> promise{};  ///< none: nobody waits
    loop::Instant deadline{};
    bool was_sent = false;
  };

  TopicOutbox(Client& client, const TopicSettings& settings, const TopicAway& away,
              const std::function<void(const Problem&)>& on_problem);
  TopicOutbox(const TopicOutbox&) = delete;
  TopicOutbox& operator=(const TopicOutbox&) = delete;

  void add(const std::string& name, Publication publication);

 private:
  struct Queue {
    std::deque<Publication> publications{};
    bool is_sent = false;  // a task does so
  };

  Task<> send(std::string name);
  Task<> send_all(const std::string& name, Queue& queue);
  ScriptCall call_for(const std::string& name, Queue& queue, std::size_t count);
  /// Returns false if the publications have to be sent again.
  bool settle(Queue& queue, std::size_t count, const Result<Reply, Problem>& reply);
  void drop_overdue(Queue& queue);
  void take_first(Queue& queue, Result<std::string, Problem> result);
  void tell(const Publication& publication, Result<std::string, Problem> result) const;
  [[nodiscard]] Problem overdue() const;

  Client& client_;
  const TopicSettings& settings_;
  const TopicAway& away_;
  const std::function<void(const Problem&)>& on_problem_;
  const Script script_;
  std::map<std::string, Queue> queues_;  // by the names of logs
  std::size_t count_ = 0;                // of all publications
  std::size_t bytes_ = 0;                // of their texts
  std::optional<Problem> last_problem_{};
  Scope tasks_;  // the last member: its tasks use the others
};

}  // namespace skua::redis
