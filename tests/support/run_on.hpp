// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <utility>

#include "loop/loop.hpp"
#include "loop/worker_pool.hpp"
#include "skua/task.hpp"

namespace skua::testing {

/// A loop on the given kind of back end, and a pool.
class LoopWithPool {
 public:
  explicit LoopWithPool(BackendChoice backend)
      : loop_(loop::Loop::create({.backend = backend}).value()) {
    loop_->use_pool(&pool_);
  }
  /// Like skua::run.
  template <class T>
  T run(Task<T> task) {
    loop_->post([&task] { task.start(nullptr, nullptr); });
    loop_->run_once(Duration(0));
    while (!task.is_done()) loop_->run_once(Duration(-1));
    return task.result();
  }

 private:
  const std::unique_ptr<loop::Loop> loop_;
  loop::WorkerPool pool_{2, 64};
};

/// Like skua::run, but on the given kind of back end.
template <class T>
T run_on(BackendChoice backend, Task<T> task) {
  return LoopWithPool(backend).run(std::move(task));
}

}  // namespace skua::testing
