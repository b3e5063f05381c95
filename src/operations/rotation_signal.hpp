// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <memory>

namespace skua::operations {

/// SIGUSR1, by which a program that has moved a log away asks for a new file. Windows has no such
/// signal.
///
/// While any object exists, the signal does not end the process, and every object hears of it. To
/// be made before other threads are started, so that they inherit this.
class RotationSignal final {
 public:
  RotationSignal();
  RotationSignal(const RotationSignal&) = delete;
  RotationSignal& operator=(const RotationSignal&) = delete;
  ~RotationSignal();

  /// Calls back on each signal from now on, on a thread of its own, and at once if one came before.
  /// The call must neither make nor destroy a RotationSignal.
  void start(std::function<void()> on_signal);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace skua::operations
