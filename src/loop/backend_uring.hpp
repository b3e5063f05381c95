// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "loop/backend.hpp"

namespace skua::loop {

/// The sizes of an io_uring back end. The defaults are for a server; tests make them tiny.
struct UringOptions {
  /// Memory for what is received: how much is lent to the kernel at first, and what that may grow
  /// to.
  struct Buffers {
    std::uint32_t first_count = 0;
    std::uint32_t max_count = 0;   ///< A power of two <= 32768; 0: none of these.
    std::uint32_t size_bytes = 0;  ///< Of each.
  };

  std::uint32_t submissions = 1024;  ///< Entries of the submission queue, a power of two.
  std::uint32_t completions = 4096;  ///< Entries of the completion queue, a power of two.
  bool defers_task_runs = true;      ///< False: as on kernels without DEFER_TASKRUN (< 6.1).
  /// Each is filled by many receives, one behind the other: from Linux 6.12 on.
  Buffers shared_buffers{.first_count = 2, .max_count = 4, .size_bytes = 256 * 1024};
  /// Each is filled by one receive: where there are no shared ones.
  Buffers single_buffers{.first_count = 64, .max_count = 1024, .size_bytes = 8192};
};

/// Ends with: Unsupported where the build or the kernel has no usable io_uring (Linux 6.0 or
/// later).
Result<std::unique_ptr<Backend>> make_uring_backend();
/// The same with other sizes.
Result<std::unique_ptr<Backend>> make_uring_backend(const UringOptions& options);

}  // namespace skua::loop
