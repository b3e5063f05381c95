// SPDX-License-Identifier: MIT
#pragma once

#include "skua/release.hpp"  // first: checks the C++ version

#include <cstddef>
#include <memory>
#include <string>

#include "skua/bytes.hpp"
#include "skua/config.hpp"
#include "skua/redis.hpp"
#include "skua/topics.hpp"

namespace skua::redis {

/// Options of a bus in Redis. All processes that share it have the same.
struct TopicBusOptions {
  std::string prefix = "skua:";  ///< of all keys; they are in one slot of a cluster
  /// Messages of a topic that are kept, at least: Redis trims some at a time. Not zero.
  std::size_t history = 1'000;
  Duration keep = 24h;  ///< a topic to which nothing is published for so long is forgotten
  /// How long a publication may take in all, with a Redis that is away for a while: then TimedOut.
  /// Zero: it fails at once while Redis is away.
  Duration patience = 5s;
  Duration once = 2min;  ///< a publication is remembered for so long, in case it is repeated
  /// A process tells so often that its members are still there; three times without, and they
  /// vanish.
  Duration heartbeat = 5s;
  std::size_t max_waiting = 10'000;        ///< publications that wait: Overloaded
  std::size_t max_waiting_bytes = 64_MiB;  ///< of their texts; likewise
  /// Topics that somebody in this process subscribes to, or whose members somebody watches: more
  /// subscriptions end with Overloaded.
  std::size_t max_topics = 100'000;
};

/// Returns a bus for Topics: a stream for each topic in Redis, 6 or newer.
///
/// ```cpp
/// skua::Topics topics(skua::redis::topic_bus({.url = "redis://bus.example.com"}));
/// ```
/// It has a thread with two connections: one on which Redis says which of the topics that somebody
/// in this process subscribes to have new messages, and one for all else. While Redis is away, it
/// tries to connect at least once a second.
///
/// Ends with: std::invalid_argument if an option is malformed; Exception if files of TLS cannot be
///            used.
[[nodiscard]] SKUA_API std::shared_ptr<TopicBus> topic_bus(Options redis,
                                                           TopicBusOptions options = {});

}  // namespace skua::redis
