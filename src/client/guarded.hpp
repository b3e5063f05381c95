// SPDX-License-Identifier: MIT
#pragma once

#include <new>
#include <utility>

#include "skua/error.hpp"

namespace skua::client {

/// Does what the loop or a stream tells a connection; where memory runs out, `fail` is told, which
/// needs none. docs/decisions/0020
template <class Work, class Fail>
void guarded(Work&& work, Fail&& fail) noexcept {
  try {
    std::forward<Work>(work)();
  } catch (const std::bad_alloc&) {
    std::forward<Fail>(fail)(Error(Errc::OutOfMemory, "connection"));
  }
}

}  // namespace skua::client
