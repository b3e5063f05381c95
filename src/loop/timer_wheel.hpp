// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>

#include "loop/clock.hpp"
#include "skua/bytes.hpp"

namespace skua::loop {

/// A function that gets its object as `context`: a callback that needs no allocation.
using Callback = void (*)(void* context) noexcept;

namespace detail {
template <class Method>
struct OwnerOf;
template <class T>
struct OwnerOf<void (T::*)()> {
  using Type = T;
};
template <class T>
struct OwnerOf<void (T::*)() noexcept> {
  using Type = T;
};
}  // namespace detail

/// Turns a member function into a Callback whose context is the object:
/// `Timer timer_{loop.timers(), call_member<&TimedWait::on_time>, this};`
template <auto Method>
void call_member(void* object) noexcept {
  (static_cast<typename detail::OwnerOf<decltype(Method)>::Type*>(object)->*Method)();
}

class TimerWheel;

/// A deadline, embedded in its owner; allocates nothing.
///
/// Fires once, in the first turn after its time has come, never early, with 1 ms resolution. It
/// may be started, stopped or destroyed at any time, also in timer callbacks, including its own.
/// Moving a running timer to a later time costs two stores. This compact form is for numerous
/// owners that know their wheel: the callback gets the node.
class TimerNode {
 public:
  explicit TimerNode(Callback callback) noexcept : callback_(callback) {}
  TimerNode(const TimerNode&) = delete;
  TimerNode& operator=(const TimerNode&) = delete;
  ~TimerNode() { unlink(); }

  void stop() noexcept { deadline_ = never; }
  [[nodiscard]] bool is_running() const noexcept { return deadline_ != never; }

 private:
  friend class TimerWheel;
  static constexpr std::uint64_t never = std::numeric_limits<std::uint64_t>::max();

  void link(TimerNode*& head) noexcept;
  void unlink() noexcept;

  Callback callback_;
  std::uint64_t deadline_ = never;  // the tick to fire at
  std::uint64_t visit_ = 0;         // the tick at which the wheel looks at it; <= deadline_
  TimerNode* next_ = nullptr;
  TimerNode** link_ = nullptr;  // the pointer to this timer; null: in no list
};

/// A TimerNode that knows its wheel, with a context for its callback.
class Timer final : private TimerNode {
 public:
  Timer(TimerWheel& wheel, Callback callback, void* context) noexcept
      : TimerNode(fire), wheel_(wheel), told_(callback), context_(context) {}

  /// Fires once when `delay` has passed since the wheel's now; moves a running timer.
  inline void start(Duration delay) noexcept;
  using TimerNode::is_running;
  using TimerNode::stop;

 private:
  static void fire(void* node) noexcept {
    const auto& timer = *static_cast<Timer*>(static_cast<TimerNode*>(node));
    timer.told_(timer.context_);
  }

  TimerWheel& wheel_;
  Callback told_;
  void* context_;
};

/// A hierarchical timing wheel with ticks of 1 ms and a time that is read once per turn.
class TimerWheel {
 public:
  explicit TimerWheel(const Clock& clock) noexcept : clock_(clock), origin_(clock.now()) {}
  TimerWheel(const TimerWheel&) = delete;
  TimerWheel& operator=(const TimerWheel&) = delete;
  ~TimerWheel();

  /// The time, read from the clock at most once between two calls of forget_now().
  [[nodiscard]] Instant now() noexcept {
    if (is_stale_) refresh();
    return now_;
  }
  void forget_now() noexcept { is_stale_ = true; }

  /// Like Timer::start.
  void start(TimerNode& timer, Duration delay) noexcept;

  /// Fires the timers that are due now.
  void advance() noexcept;

  /// The time until a timer may be due; nullopt if none waits. May be too short, never too long.
  [[nodiscard]] std::optional<Duration> time_to_next() noexcept;

 private:
  static constexpr unsigned level_bits = 6;
  static constexpr unsigned level_count = 7;  // 2^42 ms: 139 years
  static constexpr std::size_t slot_count = std::size_t{1} << level_bits;
  static constexpr std::uint64_t last_tick = (std::uint64_t{1} << (level_bits * level_count)) - 1;

  struct Level {
    std::uint64_t occupied = 0;  // a bit per slot; a set bit may be stale, a clear one not
    std::array<TimerNode*, slot_count> slots{};
  };
  struct Slot {
    std::uint64_t tick;
    unsigned level;
    unsigned index;
  };

  void refresh() noexcept;
  void insert(TimerNode& timer) noexcept;
  [[nodiscard]] std::optional<Slot> next_slot() const noexcept;
  void visit(TimerNode*& head) noexcept;
  [[nodiscard]] std::uint64_t ticks_up(Duration delay) noexcept;

  const Clock& clock_;
  Instant origin_;
  Instant now_{};
  bool is_stale_ = true;
  std::uint64_t tick_ = 0;     // everything up to here has been visited
  std::uint64_t target_ = 0;   // the tick that advance() goes to, then equal to tick_
  TimerNode* due_ = nullptr;   // started with no delay: fires at the next advance
  TimerNode* work_ = nullptr;  // taken out of a slot, being visited
  std::array<Level, level_count> levels_{};
};

void Timer::start(Duration delay) noexcept { wheel_.start(*this, delay); }

}  // namespace skua::loop
