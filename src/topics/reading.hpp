// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <string>

#include "skua/error.hpp"
#include "skua/task.hpp"
#include "skua/topics.hpp"
#include "topics/bus.hpp"
#include "topics/hub.hpp"
#include "topics/log.hpp"
#include "topics/message_id.hpp"

namespace skua::topics {

/// A TopicStart that owns its text.
struct Start {
  std::string after{};
  std::size_t history = 0;
};

/// A subscriber: a place in a log, and what the bus keeps before the log begins.
///
/// Lifetime: outlives the tasks of next(). Belongs to its loop.
class Reading final {
 public:
  using Opened = Result<std::unique_ptr<Reading>, Problem>;

  /// Subscribes to a log.
  static Task<Opened> open(std::shared_ptr<Hub> hub, std::string name, Start start);
  Reading(const Reading&) = delete;
  Reading& operator=(const Reading&) = delete;
  ~Reading();

  /// Returns the next message or gap; see TopicSubscription::next().
  Task<Result<EntryPtr, Problem>> next();
  /// Returns it if it is in memory, or null.
  EntryPtr take_ready();
  [[nodiscard]] MessageId position() const noexcept { return cursor_.position; }

  /// Reports whether a subscriber that is too slow is dropped: is_late() may become true.
  [[nodiscard]] bool may_be_late() const noexcept;
  /// Reports whether next() would end with Overloaded.
  [[nodiscard]] bool is_late() const;
  /// Woken when that may have changed.
  [[nodiscard]] skua::detail::WaiterList& changes() noexcept { return cursor_.waiters(); }

 private:
  explicit Reading(std::unique_ptr<Hub::Use> log);

  Task<Result<void, Problem>> begin(Start start);
  Task<Result<EntryPtr, Problem>> catch_up();
  EntryPtr take_page();
  EntryPtr counted(EntryPtr entry) const noexcept;
  void keep(Page page);

  const std::unique_ptr<Hub::Use> log_;
  Log::Cursor cursor_;
  Hub::Tally* tally_;             // null for changes of members
  std::deque<EntryPtr> pages_;    // of the bus
  std::unique_ptr<Lease> lease_;  // of the bus; null without one
};

}  // namespace skua::topics
