// SPDX-License-Identifier: MIT
#pragma once

#include <new>
#include <utility>

#include "skua/error.hpp"

namespace skua::client {

/// Runs a connection's reaction to an event; if memory runs out, calls `fail`, which needs none.
/// See docs/decisions/0020.
template <class Work, class Fail>
void guarded(Work&& work, Fail&& fail) noexcept {
  try {
    std::forward<Work>(work)();
  } catch (const std::bad_alloc&) {
    std::forward<Fail>(fail)(Error(Errc::OutOfMemory, "connection"));
  }
}

}  // namespace skua::client
