// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "loop/clock.hpp"
#include "proxy/balance.hpp"
#include "proxy/member.hpp"
#include "proxy/retry_budget.hpp"
#include "proxy/server_url.hpp"
#include "proxy/waiting_line.hpp"
#include "skua/address.hpp"
#include "skua/upstream.hpp"

namespace skua::proxy {

/// The members of a group, of which requests and clients share ownership.
class Members final {
 public:
  using List = std::vector<std::shared_ptr<Member>>;

  Members(List all, Balance by) : all_(std::move(all)), spread_(all_, by) {}

  [[nodiscard]] std::size_t size() const noexcept { return all_.size(); }
  [[nodiscard]] const std::shared_ptr<Member>& operator[](std::size_t index) const noexcept {
    return all_[index];
  }
  [[nodiscard]] List::const_iterator begin() const noexcept { return all_.begin(); }
  [[nodiscard]] List::const_iterator end() const noexcept { return all_.end(); }
  [[nodiscard]] const List& list() const noexcept { return all_; }
  [[nodiscard]] const Spread& spread() const noexcept { return spread_; }

 private:
  const List all_;
  const Spread spread_;
};

/// The state of an Upstream, which all threads share: its members, what is known of them, and the
/// requests that are outstanding. It makes no connections.
class Group final {
 public:
  /// Ends with: std::invalid_argument, see Upstream.
  explicit Group(const UpstreamOptions& options);
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;
  ~Group() = default;

  [[nodiscard]] const UpstreamOptions& options() const noexcept { return options_; }
  /// The servers of the targets.
  [[nodiscard]] const std::vector<ServerUrl>& servers() const noexcept { return servers_; }
  [[nodiscard]] RetryBudget& budget() noexcept { return budget_; }
  [[nodiscard]] WaitingLine& line() noexcept { return line_; }
  [[nodiscard]] const WaitingLine& line() const noexcept { return line_; }

  // Members.

  /// Changes whenever members() does.
  [[nodiscard]] std::uint64_t generation() const noexcept {
    return generation_.load(std::memory_order_acquire);
  }
  [[nodiscard]] std::shared_ptr<const Members> members() const;
  /// Makes the addresses of a target its members. Those that are there already stay; the others
  /// get no new requests.
  void replace(std::size_t target, const std::vector<Address>& addresses, loop::Instant now);

  // Requests.

  enum class Refusal : std::uint8_t { None, NoTarget, Busy };
  struct Choice {
    std::size_t index = 0;  ///< of a member, if there is no refusal
    Refusal refusal = Refusal::None;
  };
  struct Wish {
    std::optional<std::uint64_t> key{};      ///< for Balance::Hash
    std::span<const Member* const> tried{};  ///< these are left out
    loop::Instant now{};
    bool only_usable = false;  ///< none that is ejected or down, even if there is no other
  };
  /// Chooses a member, and counts a request for it until release(). `candidates` is memory to use.
  Choice choose(const Members& members, const Wish& wish, Draw& draw,
                std::vector<Candidate>& candidates);
  /// The response of a request has begun; until then, it counts as load for Balance::Hash. What
  /// follows may be an event stream or a tunnel, which says little about how busy a member is.
  void note_response(Member& member) noexcept;
  /// `has_response` tells whether note_response() was called.
  void release(Member& member, bool has_response = false) noexcept;
  /// Returns how many requests are outstanding at all members.
  [[nodiscard]] std::size_t outstanding() const noexcept {
    return outstanding_.load(std::memory_order_relaxed);
  }
  /// Returns when the next ejection ends; Instant::max() if there is none.
  [[nodiscard]] loop::Instant next_return(const Members& members, loop::Instant now) const noexcept;
  /// Takes in how a request ended; too many failures eject the member. If it is not to blame, the
  /// outcome is only counted.
  void judge(Member& member, Outcome outcome, loop::Instant now, bool is_to_blame = true) noexcept;

  // Checks.

  /// Takes in a check; `problem` is empty if it passed.
  void note_check(Member& member, std::string_view problem, loop::Instant now);
  void log(LogLevel level, std::string_view text) const noexcept;
  /// Makes the caller the only one that checks and looks names up; reports whether it is.
  [[nodiscard]] bool take_over_upkeep() noexcept {
    return needs_upkeep_ && !has_upkeep_.load(std::memory_order_relaxed) &&
           !has_upkeep_.exchange(true);
  }
  void leave_upkeep() noexcept { has_upkeep_.store(false); }

  // For people and metrics.

  /// A member, and whether it is draining.
  struct Seen {
    std::shared_ptr<const Member> member{};
    UpstreamTargetStatus::State state = UpstreamTargetStatus::State::Up;
  };
  [[nodiscard]] std::vector<Seen> look(loop::Instant now) const;

  /// Counts of the group as a whole.
  struct Told {
    std::atomic<std::uint64_t> retries_refused{0};  // the budget was empty
    std::atomic<std::uint64_t> no_target{0};        // 503, as for the next two
    std::atomic<std::uint64_t> queue_full{0};
    std::atomic<std::uint64_t> queue_timeout{0};
    std::atomic<std::uint64_t> queued{0};
    std::atomic<std::uint64_t> mirrored{0};
    std::atomic<std::uint64_t> mirror_dropped{0};
  };
  Told told;

 private:
  [[nodiscard]] std::shared_ptr<Member> make_member(std::size_t target, const Address& address,
                                                    loop::Instant now) const;
  enum class Tier : std::uint8_t { Usable, Ejected, Down };
  [[nodiscard]] static Tier tier_of(const Member& member, loop::Instant now) noexcept;
  [[nodiscard]] bool may_get(const Member& member, const Wish& wish) const noexcept;
  [[nodiscard]] std::optional<std::size_t> draw_one(const Members& members, const Wish& wish,
                                                    Draw& draw) const noexcept;
  [[nodiscard]] std::optional<std::size_t> pick_by_draws(const Members& members, const Wish& wish,
                                                         Draw& draw) noexcept;
  [[nodiscard]] std::optional<std::size_t> pick_owner(const Members& members,
                                                      const Wish& wish) const noexcept;
  void gather(const Members& members, const Wish& wish, std::vector<Candidate>& candidates,
              bool& is_busy) const;
  [[nodiscard]] std::size_t pick(std::span<const Candidate> candidates, const Wish& wish,
                                 Draw& draw) const noexcept;
  [[nodiscard]] bool speaks_against(Member& member, loop::Instant now);
  [[nodiscard]] std::optional<Duration> eject(Member& member, loop::Instant now);
  void log_ejection(const Member& member, Duration time, Outcome outcome) const;

  const UpstreamOptions options_;
  const std::vector<ServerUrl> servers_;
  const bool needs_upkeep_;
  RetryBudget budget_;
  WaitingLine line_;
  std::atomic<std::size_t> outstanding_{0};
  std::atomic<std::uint64_t> begun_{0};       // requests
  std::atomic<std::size_t> unanswered_{0};    // see Member::unanswered
  std::atomic<std::uint64_t> turn_{0};        // of Balance::RoundRobin
  std::atomic<Duration::rep> last_return_{};  // no ejection ends later
  std::atomic<bool> has_upkeep_{false};
  std::atomic<std::uint64_t> generation_{1};
  mutable std::mutex mutex_;                          // of the following, and parts of members
  std::shared_ptr<const Members> members_;            // replaced, never changed
  std::vector<std::weak_ptr<const Member>> leaving_;  // until their last request ends
  // The window in which the statuses of members are compared.
  std::uint64_t window_ = 0;
  loop::Instant window_end_{};
  std::uint64_t window_base_ = 0;         // requests before it
  std::uint64_t window_unavailable_ = 0;  // answers in it that say so
};

/// Access to the group of an Upstream.
struct UpstreamAccess {
  static const std::shared_ptr<Group>& group(const skua::Upstream& upstream) noexcept {
    return upstream.group_;
  }
};

}  // namespace skua::proxy
