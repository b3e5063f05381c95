// SPDX-License-Identifier: MIT
#pragma once

#if defined(SKUA_HAS_IO_URING)

#include <liburing.h>

#include <atomic>
#include <cerrno>
#include <cstdint>

#include "loop/backends.hpp"
#include "skua/bytes.hpp"
#include "skua/error.hpp"

namespace skua::loop {

/// The result of an operation.
struct Completion {
  std::uint64_t user_data;
  std::int32_t result;
  std::uint32_t flags;
};

/// Returns why io_uring is unavailable: `call` was refused, or there is no memory for `what`.
inline Error uring_error(const char* call, const char* what, int code) noexcept {
  const bool lacks_memory = code == ENOMEM || code == EAGAIN;
  return lacks_memory ? Error(Errc::OutOfMemory, what, code) : Error(Errc::Unsupported, call, code);
}

/// The two queues shared with the kernel, and the system call that drives them.
///
/// Can be created on any thread; the first submission binds it to the thread that makes it.
class UringRing final {
 public:
  UringRing() = default;
  UringRing(const UringRing&) = delete;
  UringRing& operator=(const UringRing&) = delete;
  ~UringRing();

  /// Ends with: Unsupported if the kernel refuses io_uring, or lacks a feature that we need.
  Result<void> create(const UringOptions& options);
  [[nodiscard]] bool is_created() const noexcept { return is_created_; }
  [[nodiscard]] io_uring& raw() noexcept { return ring_; }
  [[nodiscard]] int descriptor() const noexcept { return ring_.ring_fd; }

  /// Returns a submission to fill in, or null if the queue is full and needs a submit().
  [[nodiscard]] io_uring_sqe* submission() noexcept { return io_uring_get_sqe(&ring_); }
  /// Hands the submissions to the kernel without waiting, which leaves room for at least one more.
  void submit() noexcept;
  /// Hands over the submissions and waits at most `timeout` (negative: forever) for a completion.
  void wait(Duration timeout) noexcept;

  /// Takes the oldest completion. Returns false at `end` (see completions_end).
  bool next_completion(std::uint32_t end, Completion& out) noexcept;
  [[nodiscard]] std::uint32_t completions_end() const noexcept {
    return std::atomic_ref<unsigned>(*ring_.cq.ktail).load(std::memory_order_acquire);
  }
  /// Whether next_completion() has come to `end`.
  [[nodiscard]] bool is_drained(std::uint32_t end) const noexcept { return *ring_.cq.khead == end; }
  /// Closes the descriptors of submitted close operations, and drops all submissions.
  void abandon() noexcept;
  /// Whether the ring's thread has ended, so that nothing completes any more; see the source.
  [[nodiscard]] bool is_abandoned() const noexcept { return is_abandoned_; }

 private:
  Result<void> check_features() noexcept;
  Result<void> restrict_operations() noexcept;
  int enter(unsigned wait_count, unsigned flags, const __kernel_timespec* timeout) noexcept;
  void enable() noexcept;

  io_uring ring_{};
  bool is_created_ = false;
  bool is_enabled_ = false;
  bool is_abandoned_ = false;
};

inline bool UringRing::next_completion(std::uint32_t end, Completion& out) noexcept {
  const unsigned head = *ring_.cq.khead;
  if (head == end) return false;
  const io_uring_cqe& entry = ring_.cq.cqes[head & ring_.cq.ring_mask];
  out = {entry.user_data, entry.res, entry.flags};
  // The slot goes back to the kernel before any callback, because a callback may submit.
  std::atomic_ref<unsigned>(*ring_.cq.khead).store(head + 1, std::memory_order_release);
  return true;
}

}  // namespace skua::loop

#endif
