// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "loop/backend.hpp"

namespace skua::loop {

/// Ends with: Unsupported if the system has no epoll; TooManyOpenFiles and the like.
Result<std::unique_ptr<Backend>> make_epoll_backend();

/// Ends with: Unsupported if the system has no kqueue with EVFILT_USER; TooManyOpenFiles and the
/// like.
Result<std::unique_ptr<Backend>> make_kqueue_backend();

/// Ends with: Unsupported if the system has no completion ports; OutOfMemory and the like.
Result<std::unique_ptr<Backend>> make_port_backend();

/// Creates the back end for all POSIX systems and Windows: linear in the number of descriptors.
/// Ends with: TooManyOpenFiles and the like.
Result<std::unique_ptr<Backend>> make_poll_backend();

/// The sizes of an io_uring back end. The defaults are for servers; tests use tiny ones.
struct UringOptions {
  /// Receive buffers: how many are lent to the kernel at first, and up to how many later.
  struct Buffers {
    std::uint32_t first_count = 0;
    std::uint32_t max_count = 0;   ///< A power of two <= 32768; 0 disables this kind.
    std::uint32_t size_bytes = 0;  ///< The size of each.
  };

  std::uint32_t submissions = 1024;  ///< Entries of the submission queue, a power of two.
  std::uint32_t completions = 4096;  ///< Entries of the completion queue, a power of two.
  bool defers_task_runs = true;      ///< False: like kernels without DEFER_TASKRUN (< 6.1).
  /// Each is filled by many receives, one after the other. Needs Linux 6.12.
  Buffers shared_buffers{.first_count = 2, .max_count = 4, .size_bytes = 256 * 1024};
  /// Each is filled by one receive. Used if there are no shared buffers.
  Buffers single_buffers{.first_count = 64, .max_count = 1024, .size_bytes = 8192};
};

/// Ends with: Unsupported if the build or the kernel lacks a usable io_uring (Linux 6.0 or later).
Result<std::unique_ptr<Backend>> make_uring_backend();
/// Creates a back end with other sizes.
Result<std::unique_ptr<Backend>> make_uring_backend(const UringOptions& options);

}  // namespace skua::loop
