// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "loop/backend.hpp"

namespace skua::loop {

/// The sizes of an io_uring back end. The defaults are for a server; tests make them tiny.
struct UringOptions {
  std::uint32_t submissions = 1024;   ///< Entries of the submission queue, a power of two.
  std::uint32_t completions = 4096;   ///< Entries of the completion queue, a power of two.
  std::uint32_t first_buffers = 64;   ///< Receive buffers lent to the kernel at first.
  std::uint32_t max_buffers = 1024;   ///< What they may grow to, a power of two <= 32768.
  std::uint32_t buffer_bytes = 8192;  ///< Size of each receive buffer.
  bool defers_task_runs = true;       ///< False: as on kernels without DEFER_TASKRUN (< 6.1).
};

/// Ends with: Unsupported where the build or the kernel has no usable io_uring (Linux 6.0 or
/// later).
Result<std::unique_ptr<Backend>> make_uring_backend();
/// The same with other sizes.
Result<std::unique_ptr<Backend>> make_uring_backend(const UringOptions& options);

}  // namespace skua::loop
