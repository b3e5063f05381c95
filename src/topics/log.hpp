// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/intrusive_list.hpp"
#include "loop/loop.hpp"
#include "skua/error.hpp"
#include "skua/topics.hpp"
#include "skua/waiter.hpp"
#include "topics/message_id.hpp"

namespace skua::topics {

/// A message with its place. Immutable: subscribers on several threads share it.
struct Entry {
  TopicMessage message{};
  MessageId id{};
  /// The id of the message before it, 0-0 if it was the first ever; nullopt: it is not known.
  std::optional<MessageId> previous{};
};
using EntryPtr = std::shared_ptr<const Entry>;

/// Returns a message as an entry.
EntryPtr make_entry(MessageId id, std::optional<MessageId> previous, std::string text);
/// Returns a gap after which a subscriber goes on at `at`.
EntryPtr make_gap(MessageId at);
/// Returns the gap that a subscriber at `position` has to be told of before an entry, or null.
EntryPtr gap_before(const Entry& entry, MessageId position);

/// The bytes that the messages of all logs of a process take. Thread-safe.
struct LogBudget {
  explicit LogBudget(std::size_t most_bytes) noexcept : most(most_bytes) {}
  [[nodiscard]] bool has_room(std::size_t more = 0) const noexcept {
    return bytes.load(std::memory_order_relaxed) + more <= most;
  }

  const std::size_t most;
  std::atomic<std::size_t> bytes{0};
};

/// The newest messages of a topic, and the subscribers that read them: a subscriber is a position.
/// Thread-safe.
///
/// ```
///   [ ... no longer here ] [ entry ][ entry ][ entry ]
///                    floor ^                         ^ last
/// ```
/// All messages with ids above the floor, up to the last, are here.
class Log final : public std::enable_shared_from_this<Log> {
 public:
  /// The subscribers of one loop's thread: one wake-up for all of them.
  struct Listeners {
    std::shared_ptr<loop::Mailbox> mailbox{};
    skua::detail::WaiterList waiters{};  // used by the loop's thread only
    std::size_t users = 0;               // guarded by the log's mutex, like the next
    bool is_told = false;
  };

  /// The place of a subscriber. Belongs to its loop's thread; the log outlives it.
  class Cursor final : public base::ListNode {
   public:
    /// Ends with: std::logic_error on a thread without a loop.
    explicit Cursor(Log& log);
    Cursor(const Cursor&) = delete;
    Cursor& operator=(const Cursor&) = delete;
    ~Cursor();

    /// The id of the last message that was taken.
    MessageId position{};
    [[nodiscard]] skua::detail::WaiterList& waiters() noexcept { return listeners_->waiters; }

   private:
    friend class Log;
    Log& log_;
    std::shared_ptr<Listeners> listeners_;  // shared with posts
    std::uint64_t next_ = 0;                // the number of the next entry, if is_here_
    bool is_here_ = false;
  };

  /// `at`: messages up to this one are not here.
  Log(const TopicsOptions& options, MessageId at, std::shared_ptr<LogBudget> budget);
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;
  ~Log() { forget_all(); }

  // For publishers.

  void append(EntryPtr entry);
  /// Appends a text after all that is here.
  void append(MessageId id, std::string text);
  /// Forgets all messages: those up to `at` are not here.
  void restart(MessageId at);
  /// Ends all subscriptions.
  void end(const Problem& why);
  [[nodiscard]] MessageId last() const;

  // For subscribers.

  /// How a cursor stands to the log.
  enum class State : std::uint8_t {
    Taken,    ///< it got an entry, or a gap
    Waits,    ///< for the next entry
    Behind,   ///< its next message is not here, or it has not joined yet
    Ahead,    ///< it has seen more than has come here
    TooSlow,  ///< the same, because it did not take its messages in time
    Ended,
  };
  struct Taken {
    State state = State::Waits;
    EntryPtr entry{};
  };
  /// Returns the next entry for a cursor, and moves it on.
  Taken take(Cursor& cursor);
  /// Reports whether the next entry of a cursor was dropped before it was taken.
  [[nodiscard]] bool is_late(const Cursor& cursor) const;
  /// Lets a cursor go on with what is here: Waits. Otherwise returns Behind, Ahead or Ended.
  State join(Cursor& cursor);
  /// Lets a cursor that is ahead wait for what comes after its position: it has that from a
  /// process, or from the bus, to which messages came sooner.
  void wait_for(Cursor& cursor);
  /// Lets a cursor that is ahead go on with what comes next: it knows another life of the topic.
  /// Returns the gap.
  EntryPtr rewind(Cursor& cursor);
  /// Lets a cursor go on with the oldest message that is here; returns the gap.
  EntryPtr skip(Cursor& cursor);
  /// Puts a cursor before the newest messages, at most so many.
  void join_newest(Cursor& cursor, std::size_t count);
  /// Returns the problem that ended it.
  [[nodiscard]] Problem end_problem() const;

  /// Drops messages that are too old. Returns whether nothing is left to keep.
  bool expire(MessageId now);

 private:
  friend class Cursor;

  /// An entry, and the number of subscribers that take it next.
  struct Kept {
    EntryPtr entry{};
    std::size_t takers = 0;
  };

  void add(EntryPtr entry);
  void trim();
  void drop_first();
  void forget_all() noexcept;
  void place(Cursor& cursor) noexcept;
  void move(Cursor& cursor, std::uint64_t next) noexcept;
  void leave(Cursor& cursor) noexcept;
  /// Reports whether a subscriber takes the first entry next.
  [[nodiscard]] bool is_wanted() const noexcept {
    return late_takers_ != 0 || entries_.front().takers != 0;
  }
  [[nodiscard]] std::size_t& takers_of(std::uint64_t number) noexcept {
    return number == end_number() ? takers_at_end_
                                  : entries_[static_cast<std::size_t>(number - first_)].takers;
  }
  void tell();
  [[nodiscard]] std::uint64_t end_number() const noexcept { return first_ + entries_.size(); }
  [[nodiscard]] const EntryPtr& at(std::uint64_t number) const noexcept {
    return entries_[static_cast<std::size_t>(number - first_)].entry;
  }

  const TopicsOptions& options_;
  const std::shared_ptr<LogBudget> budget_;  // shared with the hub and its other logs
  mutable std::mutex mutex_;
  std::deque<Kept> entries_;       // guarded by mutex_, like all members below
  std::size_t takers_at_end_ = 0;  // subscribers that wait for the next entry
  std::size_t late_takers_ = 0;    // whose next entry was dropped, and who do not know it yet
  std::uint64_t first_ = 0;        // the number of the first entry
  std::size_t bytes_ = 0;          // of the entries
  MessageId floor_;
  MessageId last_;
  std::optional<Problem> end_{};
  base::IntrusiveList<Cursor> cursors_;
  std::vector<std::shared_ptr<Listeners>> listeners_;
};

}  // namespace skua::topics
