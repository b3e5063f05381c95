// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <initializer_list>
#include <memory>
#include <vector>

#include "loop/loop.hpp"
#include "skua/error.hpp"

namespace skua::loop {

/// Delivers signals of the process (SIGINT, SIGTERM, SIGHUP, ...) as calls on a loop's thread.
///
/// While it lives, the signals have no other effect; afterwards their dispositions are restored.
/// Lifetime: must be destroyed before the loop, on its thread; also inside its own callback.
class SignalWatcher {
 public:
  /// Ends with: Unsupported if another watcher has one of the signals, or it cannot be caught.
  static Result<std::unique_ptr<SignalWatcher>> create(Loop& loop,
                                                       std::initializer_list<int> signals,
                                                       std::function<void(int signal)> callback);

  SignalWatcher(const SignalWatcher&) = delete;
  SignalWatcher& operator=(const SignalWatcher&) = delete;
  ~SignalWatcher();

 private:
  class Receiver;
  struct Saved;

  SignalWatcher();
  Result<void> watch(int signal, int descriptor);

  Receiver* receiver_ = nullptr;  // owns itself until the back end has closed it
  int write_end_ = -1;
  std::vector<Saved> saved_;
};

}  // namespace skua::loop
