// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "redis/problem.hpp"
#include "skua/error.hpp"
#include "skua/redis_reply.hpp"
#include "skua/waiter.hpp"

namespace skua::redis {

/// Commands that are sent at once over one connection, and their replies.
///
/// Lifetime: shared by the task that waits for it and the connection, which has to receive the
///           replies in any case.
class Batch final {
 public:
  /// `wire` holds `count` commands.
  Batch(std::string wire, std::size_t count) : wire_(std::move(wire)), count_(count) {}
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;

  [[nodiscard]] std::size_t size_bytes() const noexcept { return wire_.size(); }
  /// Returns the commands, which are sent only once.
  [[nodiscard]] std::string take_wire() noexcept {
    is_sent_ = true;
    return std::exchange(wire_, std::string());
  }
  /// Notes which connection it is sent over: the times that Node had to leave one before.
  void set_generation(std::uint64_t generation) noexcept { generation_ = generation; }
  [[nodiscard]] std::uint64_t generation() const noexcept { return generation_; }
  /// Whether the commands may have been executed.
  [[nodiscard]] bool is_sent() const noexcept { return is_sent_; }

  /// Adds the next reply. Returns whether it was the last one.
  bool add(Reply reply) {
    if (!is_abandoned_ && !failure_) replies_.push_back(std::move(reply));
    ++received_;  // last: if there is no memory for a reply, the batch fails
    if (received_ == count_) changed_.wake_all();
    return received_ == count_;
  }
  void fail(const Problem& why) noexcept {
    if (is_done()) return;
    note(failure_, why);
    changed_.wake_all();
  }
  /// Fails it at once: there is no room for it anywhere.
  void refuse(const Problem& why) noexcept {
    is_refused_ = true;
    fail(why);
  }
  /// Whether it need not be tried elsewhere.
  [[nodiscard]] bool is_refused() const noexcept { return is_refused_; }
  /// Nobody waits any more: replies are dropped as they come.
  void abandon() noexcept {
    is_abandoned_ = true;
    replies_.clear();
  }
  [[nodiscard]] bool is_done() const noexcept {
    return received_ == count_ || failure_.has_value();
  }
  [[nodiscard]] std::size_t size() const noexcept { return count_; }
  /// The replies so far, in the order of the commands.
  [[nodiscard]] std::vector<Reply>& replies() noexcept { return replies_; }
  /// Why the others will not come.
  [[nodiscard]] const std::optional<Problem>& failure() const noexcept { return failure_; }
  [[nodiscard]] skua::detail::WaiterList& changed() noexcept { return changed_; }

 private:
  std::string wire_;
  std::size_t count_;
  std::size_t received_ = 0;
  std::uint64_t generation_ = 0;
  std::vector<Reply> replies_;
  std::optional<Problem> failure_{};
  bool is_sent_ = false;
  bool is_refused_ = false;
  bool is_abandoned_ = false;
  skua::detail::WaiterList changed_;
};

using BatchPtr = std::shared_ptr<Batch>;

}  // namespace skua::redis
