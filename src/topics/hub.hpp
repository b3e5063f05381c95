// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/intrusive_list.hpp"
#include "crypto/keyed_hash.hpp"
#include "skua/error.hpp"
#include "skua/topics.hpp"
#include "topics/bus.hpp"
#include "topics/log.hpp"
#include "topics/message_id.hpp"

namespace skua::topics {

/// The logs of a process, and without a bus, its members. Thread-safe.
class Hub final : public Feed, public std::enable_shared_from_this<Hub> {
 public:
  /// A log that is in use: it stays what its name leads to.
  class Use final {
   public:
    Use(std::shared_ptr<Hub> hub, std::string name, std::shared_ptr<Log> log) noexcept
        : hub_(std::move(hub)), name_(std::move(name)), log_(std::move(log)) {}
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;
    ~Use() { hub_->give_back(name_); }

    [[nodiscard]] Hub& hub() const noexcept { return *hub_; }
    [[nodiscard]] const std::string& name() const noexcept { return name_; }
    Log* operator->() const noexcept { return log_.get(); }
    Log& operator*() const noexcept { return *log_; }

   private:
    const std::shared_ptr<Hub> hub_;  // outlives the Topics
    const std::string name_;
    const std::shared_ptr<Log> log_;  // shared with the hub
  };

  /// Counters; see TopicCounters.
  struct Tally {
    std::atomic<std::uint64_t> published{0};
    std::atomic<std::uint64_t> unpublished{0};
    std::atomic<std::uint64_t> delivered{0};
    std::atomic<std::uint64_t> gaps{0};
    std::atomic<std::uint64_t> subscriptions{0};
  };

  /// Returns the time since 1970.
  using WallClock = std::function<std::chrono::milliseconds()>;

  /// At most `remembered_count` publications with `once` are remembered, and at least one.
  Hub(TopicsOptions options, std::shared_ptr<TopicBus> bus, WallClock clock = {},
      std::size_t remembered_count = 1'000'000);
  Hub(const Hub&) = delete;
  Hub& operator=(const Hub&) = delete;
  ~Hub() { close(); }

  void start();
  /// Forgets messages that are too old before it counts.
  [[nodiscard]] TopicCounters counters();
  /// Ends all subscriptions, and the bus.
  void close() noexcept;
  [[nodiscard]] const TopicsOptions& options() const noexcept { return options_; }
  /// Null: there is none.
  [[nodiscard]] TopicBus* bus() const noexcept { return bus_.get(); }
  [[nodiscard]] Tally& tally() noexcept { return tally_; }
  /// A message of post() could not be published.
  void failed(const Problem& why);

  [[nodiscard]] std::unique_ptr<Use> open(std::string name);
  /// Publishes without a bus. Returns the id.
  std::string publish_here(const std::string& name, std::string text, const std::string& once);

  // Members, without a bus.

  [[nodiscard]] std::unique_ptr<Lease> enter_here(const std::string& topic, TopicMember member);
  [[nodiscard]] MembersPtr members_here(const std::string& topic);

  // Feed, on the thread of the bus.

  void begin(const std::string& name, MessageId at) override;
  void append(const std::string& name, EntryPtr entry) override;
  void restart(const std::string& name, MessageId at) override;
  void end(const std::string& name) override;

 private:
  /// A topic; without a bus, one of the idle ones if nobody uses it.
  struct Slot : base::ListNode {
    std::shared_ptr<Log> log{};         // shared with those who use it
    const std::string* name = nullptr;  // its key in slots_
    std::size_t users = 0;
    bool is_fed = false;
  };
  /// Stands for a topic and a `once`, which may be long: two hashes whose keys nobody knows, so
  /// that no two of them can be made equal.
  using PublishedKey = std::array<std::uint64_t, 2>;
  struct PublishedKeyHash {
    std::size_t operator()(const PublishedKey& key) const noexcept {
      return static_cast<std::size_t>(key[0]);
    }
  };
  struct Published {
    PublishedKey key;
    std::uint64_t milliseconds;
  };

  /// The members of a topic, without a bus.
  struct Present {
    std::map<std::uint64_t, TopicMember> all{};
    MembersPtr sorted{};  // null: not since the last change
  };

  void give_back(const std::string& name) noexcept;
  Slot& slot_of(const std::string& name);
  [[nodiscard]] bool is_needed(const Slot& slot);
  void set_idle(Slot& slot) noexcept;
  void set_busy(Slot& slot) noexcept;
  void forget(Slot& slot) noexcept;
  void expire(std::size_t most);
  void make_room(const Slot& slot, std::size_t bytes);
  MessageId next_id();
  [[nodiscard]] PublishedKey key_of(const std::string& name, const std::string& once) const;
  void remember(const PublishedKey& key, MessageId id);
  void forget_published();
  void forget_oldest();
  void leave_here(const std::string& topic, std::uint64_t number);

  const TopicsOptions options_;
  const std::function<void(const Problem&)> on_failure_;  // of the bus
  const std::shared_ptr<TopicBus> bus_;
  const WallClock clock_;
  const std::size_t remembered_count_;
  const std::array<crypto::KeyedHash, 2> hashes_{};
  const std::shared_ptr<LogBudget> budget_;  // shared with the logs
  Tally tally_{};
  mutable std::mutex mutex_;
  std::unordered_map<std::string, Slot> slots_;  // guarded by mutex_, like all members below
  base::IntrusiveList<Slot> idle_;               // the longest without a message first
  std::size_t idle_count_ = 0;
  std::uint64_t forgotten_ = 0;
  MessageId last_;  // that was given to a message, without a bus
  std::unordered_map<PublishedKey, MessageId, PublishedKeyHash> published_;  // with `once`
  std::deque<Published> published_at_;                                       // the same, in order
  std::unordered_map<std::string, Present> members_;
  std::uint64_t last_member_ = 0;
  bool is_closed_ = false;
};

/// The order of members: by name, then by data.
[[nodiscard]] bool is_before(const TopicMember& a, const TopicMember& b) noexcept;
/// Sorts members in that order.
void sort_members(std::vector<TopicMember>& members);

}  // namespace skua::topics
