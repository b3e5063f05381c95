// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "skua/error.hpp"
#include "skua/redis_reply.hpp"
#include "skua/redis_topics.hpp"
#include "topics/bus.hpp"

namespace skua::redis {

/// The options of a bus, and its keys.
struct TopicSettings {
  TopicBusOptions options{};
  Duration min_backoff{};
  Duration max_backoff{};
  Duration timeout{};  ///< of a command
  std::string base{};  ///< of all keys: in one slot of a cluster
  std::string node{};  ///< the random name of this process

  /// The stream of a log. Messages have the fields `t`, the text, `p`, the id of the message
  /// before, and `o`, what tells a repeated publication.
  [[nodiscard]] std::string stream(std::string_view name) const { return base + std::string(name); }
  /// The id of a message that was published with `once`.
  [[nodiscard]] std::string once(std::string_view name, std::string_view once) const {
    return base + "o:" + std::string(name) + ":" + std::string(once);
  }
  /// The members of a topic: `NODE:NUMBER` and a text.
  [[nodiscard]] std::string members(std::string_view topic) const {
    return base + "p:" + std::string(topic);
  }
  /// The processes, by the time at which they are taken for dead.
  [[nodiscard]] std::string nodes() const { return base + "nodes"; }
  /// A channel of this process, which keeps its subscription alive. The channel of a log is called
  /// as its stream; what is said there is the newest id.
  [[nodiscard]] std::string node_channel() const { return base + "w:" + node; }
};

/// Why Redis is away, if it is, or why it says nothing on channels: then messages come later, and
/// can be published all the same. Thread-safe.
class TopicAway final {
 public:
  void set(std::optional<Problem> why) {
    const std::lock_guard lock(mutex_);
    if (why && !why_) ++losses_;
    why_ = std::move(why);
  }
  void set_refusal(std::optional<Problem> why) {
    const std::lock_guard lock(mutex_);
    refusal_ = std::move(why);
  }
  /// The number of times that it went away.
  [[nodiscard]] std::uint64_t losses() const noexcept {
    const std::lock_guard lock(mutex_);
    return losses_;
  }
  [[nodiscard]] std::optional<Problem> get() const {
    const std::lock_guard lock(mutex_);
    return why_;
  }
  /// Returns whichever of the two is worse.
  [[nodiscard]] std::optional<Problem> problem() const {
    const std::lock_guard lock(mutex_);
    return why_ ? why_ : refusal_;
  }

 private:
  mutable std::mutex mutex_;
  std::optional<Problem> why_;      // guarded by mutex_, like the next two
  std::optional<Problem> refusal_;  // of the channels
  std::uint64_t losses_ = 0;
};

/// Reports whether a command that failed may succeed later.
[[nodiscard]] bool is_passing(const Problem& why) noexcept;
/// Returns an element of a stream as an entry; null if it has no id.
[[nodiscard]] topics::EntryPtr entry_of(const Reply& element);
/// Returns the id of the first of some elements; 0-0 if there are none.
[[nodiscard]] topics::MessageId first_id_of(const Reply& elements);

}  // namespace skua::redis
