// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "skua/error.hpp"
#include "skua/task.hpp"
#include "skua/topics.hpp"
#include "topics/log.hpp"
#include "topics/message_id.hpp"

namespace skua {

namespace topics {

/// A right that ends with the object: a function is called then.
class Lease final {
 public:
  explicit Lease(std::function<void()> end) noexcept : end_(std::move(end)) {}
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;
  ~Lease() { end_(); }

 private:
  std::function<void()> end_;
};

/// The names of logs: a letter for the kind, and a topic.
inline std::string messages_of(const std::string& topic) { return "t:" + topic; }
inline bool is_for_messages(std::string_view name) noexcept { return name.starts_with("t:"); }
/// Messages there have no texts: they say that members have changed.
inline std::string member_changes_of(const std::string& topic) { return "m:" + topic; }

/// The members of a topic, sorted by name, then by data; shared by all who asked for them.
using MembersPtr = std::shared_ptr<const std::vector<TopicMember>>;

/// Messages that a bus keeps, in order.
struct Page {
  std::vector<EntryPtr> entries{};
};

/// Takes what a bus brings, on its thread. Names are those of logs.
class Feed {
 public:
  /// From now on, all messages after `at` will be brought.
  virtual void begin(const std::string& name, MessageId at) = 0;
  virtual void append(const std::string& name, EntryPtr entry) = 0;
  /// The bus has lost messages: the newest that it knows is `at`.
  virtual void restart(const std::string& name, MessageId at) = 0;
  /// Nothing more will be brought, until begin().
  virtual void end(const std::string& name) = 0;

 protected:
  ~Feed() = default;
};

}  // namespace topics

/// Carries messages between processes. All functions but start() and stop() may be called on any
/// thread with a loop, and post() on any. Names are those of logs.
class TopicBus {
 public:
  TopicBus() = default;
  TopicBus(const TopicBus&) = delete;
  TopicBus& operator=(const TopicBus&) = delete;
  virtual ~TopicBus() = default;

  /// Begins; `feed` is valid until stop() has returned, and `on_problem` outlives the bus.
  virtual void start(topics::Feed& feed, const std::function<void(const Problem&)>& on_problem) = 0;
  /// Ends; what waits gets Closed. A second call does nothing.
  virtual void stop() noexcept = 0;

  virtual Task<Result<std::string, Problem>> publish(std::string name, std::string text,
                                                     std::string once) = 0;
  virtual void post(std::string name, std::string text) = 0;
  /// Lets the feed get the messages of a log, for as long as the result exists.
  virtual Task<Result<std::unique_ptr<topics::Lease>, Problem>> watch(std::string name) = 0;
  /// Returns the oldest messages after an id that are kept, some at a time.
  virtual Task<Result<topics::Page, Problem>> read(std::string name, topics::MessageId after) = 0;
  /// Returns the newest messages that are kept, at most so many.
  virtual Task<Result<topics::Page, Problem>> newest(std::string name, std::size_t count) = 0;
  virtual std::unique_ptr<topics::Lease> enter(std::string topic, TopicMember member) = 0;
  virtual Task<Result<topics::MembersPtr, Problem>> members(std::string topic) = 0;
  [[nodiscard]] virtual Result<void, Problem> check() const = 0;
  /// The number of times that it went away.
  [[nodiscard]] virtual std::uint64_t losses() const noexcept = 0;
};

}  // namespace skua
