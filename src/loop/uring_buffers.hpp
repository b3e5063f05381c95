// SPDX-License-Identifier: MIT
#pragma once

#if defined(SKUA_HAS_IO_URING)

#include <liburing.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "loop/backend_uring.hpp"
#include "skua/error.hpp"

namespace skua::loop {

/// The receive buffers of a ring: the kernel takes one for what arrives, we give it back.
///
/// One mapping, reserved at once and touched little by little: few buffers at first, so that the
/// same warm pages serve again and again, and twice as many whenever the kernel ran out of them.
/// Where the kernel can, receives share large buffers: a long message then comes in one piece, and
/// many short ones lie close together.
class UringBuffers final {
 public:
  static constexpr std::uint16_t group = 0;

  UringBuffers() = default;
  UringBuffers(const UringBuffers&) = delete;
  UringBuffers& operator=(const UringBuffers&) = delete;
  /// After the ring is gone.
  ~UringBuffers();

  Result<void> create(io_uring& ring, const UringOptions& options);

  /// What the kernel has put into buffer `id`, behind what it had put there before.
  [[nodiscard]] std::span<char> received(std::uint16_t id, std::size_t size_bytes) noexcept;
  /// Nobody needs what was received() any longer: hands buffer `id` back where the flags of the
  /// completion say that the kernel is done with it. The kernel sees it after publish().
  void release(std::uint16_t id, std::size_t size_bytes, std::uint32_t flags) noexcept;
  /// Lends more buffers, if the maximum is not reached; the kernel sees them after publish().
  void grow() noexcept;
  /// Shows the kernel what was handed back: one store for a whole batch.
  void publish() noexcept {
    if (tail_ != published_tail_) show_tail();
  }

 private:
  static constexpr std::uint32_t more_follows = 1U << 4U;  // IORING_CQE_F_BUF_MORE

  int lend(io_uring& ring, const UringOptions::Buffers& sizes, bool are_shared);
  void unmap() noexcept;
  void give_back(std::uint16_t id) noexcept;
  void show_tail() noexcept;
  [[nodiscard]] char* address(std::uint16_t id) const noexcept {
    return buffers_ + std::size_t{id} * buffer_bytes_;
  }

  io_uring_buf* slots_ = nullptr;  // the ring of descriptors, at the start of the mapping
  char* buffers_ = nullptr;        // behind it
  std::size_t mapped_bytes_ = 0;
  std::uint32_t buffer_bytes_ = 0;
  std::uint32_t max_count_ = 0;
  std::uint32_t count_ = 0;
  std::vector<std::uint32_t> used_bytes_;  // of each buffer; empty where they are not shared
  std::uint16_t tail_ = 0;
  std::uint16_t published_tail_ = 0;
};

}  // namespace skua::loop

#endif
