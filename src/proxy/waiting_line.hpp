// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>

#include "loop/loop.hpp"
#include "skua/waiter.hpp"

namespace skua::proxy {

/// The requests of all threads that wait for one to end, first come, first served.
///
/// A request that ends calls the first. One that was called tries its luck, and if another thread
/// was faster, it stands first again: so no call is lost. The first that leaves calls the next.
/// Retries may not go to just any server. So nobody waits behind them: one that was called in vain
/// calls the next.
class WaitingLine final {
 public:
  explicit WaitingLine(std::size_t most) noexcept : most_(most) {}
  WaitingLine(const WaitingLine&) = delete;
  WaitingLine& operator=(const WaitingLine&) = delete;
  ~WaitingLine() = default;

  /// A place in the line.
  ///
  /// Lifetime:  one loop; the line outlives it.
  class Place final {
   public:
    /// Stands last, unless the line is full.
    Place(WaitingLine& line, loop::Loop& loop, bool is_retry = false);
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;
    ~Place();

    [[nodiscard]] bool has_entered() const noexcept { return has_entered_; }
    /// Reports whether nobody but retries was in the line before.
    [[nodiscard]] bool is_alone() const noexcept { return is_alone_; }
    /// Reports whether it was called. Then it has left the line.
    [[nodiscard]] bool is_called() const noexcept;
    /// Reports whether it stands first, but for retries, and was not called.
    [[nodiscard]] bool is_first() const;
    /// Stands before those who came later, after a call in vain.
    void stand_again();
    /// Woken by a call.
    [[nodiscard]] skua::detail::WaiterList& changed() noexcept;

   private:
    friend class WaitingLine;
    struct Waiting;

    WaitingLine& line_;
    const std::shared_ptr<Waiting> waiting_;  // shared with the call that is on its way
    bool has_entered_ = false;
    bool is_alone_ = false;
  };

  [[nodiscard]] std::size_t size() const noexcept { return size_.load(); }
  /// Reports whether a request waits that was never sent.
  [[nodiscard]] bool has_first() const;
  /// Calls the first, if anyone waits. Any thread.
  void call_first() noexcept;
  /// Calls all. Any thread.
  void call_all() noexcept;

 private:
  using WaitingPointer = std::shared_ptr<Place::Waiting>;

  using Queue = std::map<std::uint64_t, WaitingPointer>;

  [[nodiscard]] bool is_first(std::uint64_t number) const;  // but for retries
  void enter(const WaitingPointer& waiting);
  void leave(Queue::iterator place) noexcept;
  bool call_one(std::uint64_t after = 0) noexcept;

  const std::size_t most_;
  std::atomic<std::size_t> size_{0};  // of the queue; ordered with the numbers that limits count
  mutable std::mutex mutex_;
  std::uint64_t last_number_ = 0;   // guarded by mutex_, as are the next
  Queue queue_;                     // by their numbers
  std::set<std::uint64_t> firsts_;  // of the queue: who are no retries
};

}  // namespace skua::proxy
