// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "loop/backend.hpp"

namespace skua::testing {

/// Returns those of some back ends, or of all, that this machine has, as test parameters. On Linux,
/// kqueue is the emulation in tests/support/kqueue.
inline std::vector<BackendChoice> backends(const std::vector<BackendChoice>& kinds = {
                                               BackendChoice::Poll, BackendChoice::Epoll,
                                               BackendChoice::IoUring, BackendChoice::Kqueue,
                                               BackendChoice::CompletionPort}) {
  std::vector<BackendChoice> found;
  for (const BackendChoice kind : kinds) {
    if (loop::Backend::create(kind)) found.push_back(kind);
  }
  return found;
}

inline std::string backend_name(const ::testing::TestParamInfo<BackendChoice>& info) {
  switch (info.param) {
    case BackendChoice::Epoll: return "Epoll";
    case BackendChoice::IoUring: return "IoUring";
    case BackendChoice::Poll: return "Poll";
    case BackendChoice::Kqueue: return "Kqueue";
    case BackendChoice::CompletionPort: return "CompletionPort";
    case BackendChoice::Auto: break;
  }
  return "Auto";
}

}  // namespace skua::testing
