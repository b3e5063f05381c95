// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include "loop/loop.hpp"
#include "loop/worker_pool.hpp"
#include "skua/task.hpp"

namespace skua::testing {

/// Like skua::run, but on the given kind of back end.
template <class T>
T run_on(BackendChoice backend, Task<T> task) {
  const std::unique_ptr<loop::Loop> loop = loop::Loop::create({.backend = backend}).value();
  loop::WorkerPool pool(2, 64);
  loop->use_pool(&pool);
  loop->post([&task] { task.start(nullptr, nullptr); });
  loop->run_once(Duration(0));
  while (!task.is_done()) loop->run_once(Duration(-1));
  return task.result();
}

}  // namespace skua::testing
