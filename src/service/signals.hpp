// SPDX-License-Identifier: MIT
#pragma once

namespace skua::service {

/// The signal that asks for a hand-over. While an object exists, it is blocked on this thread and
/// those that it starts.
class HandOverSignal final {
 public:
  explicit HandOverSignal(bool is_wanted) noexcept;
  HandOverSignal(const HandOverSignal&) = delete;
  HandOverSignal& operator=(const HandOverSignal&) = delete;
  ~HandOverSignal();

  /// 0 if it is not wanted.
  [[nodiscard]] int number() const noexcept { return number_; }

 private:
  int number_ = 0;
  bool was_blocked_ = false;
};

/// Reports whether a signal that ends the program is waiting to be taken.
bool is_end_pending() noexcept;

}  // namespace skua::service
