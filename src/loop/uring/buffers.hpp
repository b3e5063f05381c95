// SPDX-License-Identifier: MIT
#pragma once

#if defined(SKUA_HAS_IO_URING)

#include <liburing.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "loop/backends.hpp"
#include "skua/error.hpp"

namespace skua::loop {

/// The receive buffers of a ring: the kernel takes one for arriving bytes, and we give it back.
///
/// One mapping, reserved at once and touched gradually: few buffers at first, so that the same
/// warm pages are used again and again, and twice as many whenever the kernel has run out. If
/// the kernel supports it, receives share large buffers: long messages then come in one piece,
/// and short ones lie close together.
///
/// A peer that always sends can fill them all before any other gets one. So once they have run out,
/// receives take turns, for one piece each.
class UringBuffers final {
 public:
  static constexpr std::uint16_t group = 0;

  UringBuffers() = default;
  UringBuffers(const UringBuffers&) = delete;
  UringBuffers& operator=(const UringBuffers&) = delete;
  /// The ring must be gone by then.
  ~UringBuffers();

  Result<void> create(io_uring& ring, const UringOptions& options);

  /// Returns the bytes that the kernel has put into buffer `id`, after any earlier ones.
  [[nodiscard]] std::span<char> received(std::uint16_t id, std::size_t size_bytes) noexcept;
  /// Ends the use of received() bytes. Hands buffer `id` back if the completion's flags say that
  /// the kernel is done with it; the kernel sees that after publish().
  void release(std::uint16_t id, std::size_t size_bytes, std::uint32_t flags) noexcept;
  /// The most that a receive takes at once while others wait for buffers.
  [[nodiscard]] std::size_t piece_bytes() const noexcept;
  /// Returns how many pieces the lent buffers have room for, as far as completions have told.
  [[nodiscard]] std::size_t free_pieces() const noexcept;
  /// Lends more buffers, up to the maximum; the kernel sees them after publish().
  void grow() noexcept;
  /// Shows the kernel the buffers handed back: one store per batch.
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
  char* buffers_ = nullptr;        // after the ring
  std::size_t mapped_bytes_ = 0;
  std::uint32_t buffer_bytes_ = 0;
  std::uint32_t max_count_ = 0;
  std::uint32_t count_ = 0;
  std::vector<std::uint32_t> used_bytes_;  // of each buffer; empty if they are not shared
  std::uint16_t tail_ = 0;
  std::uint16_t published_tail_ = 0;
};

}  // namespace skua::loop

#endif
