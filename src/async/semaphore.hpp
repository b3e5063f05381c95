// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <memory>

#include "skua/bytes.hpp"
#include "skua/task.hpp"

namespace skua::async {

/// Permits that are given to the tasks of any thread, first come, first served. Any thread.
///
/// Lifetime:  its permits, and the tasks that wait for one, may outlive it.
class Semaphore final {
 public:
  /// A permit is given back when its last copy is destroyed. Any thread.
  using Permit = std::shared_ptr<const void>;

  explicit Semaphore(std::size_t count);

  /// Returns a permit; null if there is none that nobody waits for.
  [[nodiscard]] Permit try_acquire() const;
  /// Waits for: a permit, at most for `patience`; then it returns null.
  [[nodiscard]] Task<Permit> acquire(Duration patience) const;

 private:
  struct State;
  class Place;

  static Task<Permit> wait_for_permit(std::shared_ptr<State> state, Duration patience);
  static Permit permit_of(const std::shared_ptr<State>& state);

  std::shared_ptr<State> state_;  // shared with permits and with tasks that wait
};

}  // namespace skua::async
