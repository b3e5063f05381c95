// SPDX-License-Identifier: MIT
// In: ids of buffers that are free again. Out: descriptors in the ring that the kernel takes from.
//
//   mapping   | descriptors (16 bytes each), to a page | buffer 0 | buffer 1 | ...
//   a slot    | address | size | id |       the tail of the ring lies in slot 0, behind the id
//
// A shared buffer is filled from the front, and belongs to the kernel until it is full:
//
//   buffer    | received | received | ...                      |
//             '-- used_bytes_: start of the next one --'
//
// Under AddressSanitizer a buffer is poisoned while it belongs to the kernel, which catches
// views that are kept longer than their call.
#include "loop/uring/buffers.hpp"

#if defined(SKUA_HAS_IO_URING)

#include <sys/mman.h>
#include <unistd.h>
#include "loop/uring/ring.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#include <sanitizer/asan_interface.h>
#endif
#endif
#if !defined(ASAN_POISON_MEMORY_REGION)
#define ASAN_POISON_MEMORY_REGION(address, size) static_cast<void>(0)
#define ASAN_UNPOISON_MEMORY_REGION(address, size) static_cast<void>(0)
#endif

namespace skua::loop {

namespace {

// IOU_PBUF_RING_INC and the field for it, neither of which liburing 2.3 declares.
constexpr std::uint16_t incremental = 2;
// As much as ends a turn: a longer piece would leave the CPU caches before it is passed on.
constexpr std::size_t max_piece_bytes = 128 * 1024;
constexpr std::size_t flags_offset =
    offsetof(io_uring_buf_reg, bgid) + sizeof(io_uring_buf_reg::bgid);

}  // namespace

UringBuffers::~UringBuffers() { unmap(); }

void UringBuffers::unmap() noexcept {
  if (slots_ == nullptr) return;
  ASAN_UNPOISON_MEMORY_REGION(slots_, mapped_bytes_);
  ::munmap(slots_, mapped_bytes_);
  slots_ = nullptr;
}

Result<void> UringBuffers::create(io_uring& ring, const UringOptions& options) {
  int failure = EINVAL;
  if (options.shared_buffers.max_count != 0) failure = lend(ring, options.shared_buffers, true);
  if (failure == EINVAL) failure = lend(ring, options.single_buffers, false);
  if (failure != 0) {
    return uring_error("io_uring_register_buf_ring", "io_uring's receive buffers", failure);
  }
  return {};
}

// Returns 0 or an errno: EINVAL if the kernel does not support this kind of buffer.
int UringBuffers::lend(io_uring& ring, const UringOptions::Buffers& sizes, bool are_shared) {
  unmap();
  const auto page_bytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const std::size_t ring_bytes =
      (sizes.max_count * sizeof(io_uring_buf) + page_bytes - 1) / page_bytes * page_bytes;
  const std::size_t total = ring_bytes + std::size_t{sizes.max_count} * sizes.size_bytes;
  void* const memory = ::mmap(nullptr, total, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return errno;
  slots_ = static_cast<io_uring_buf*>(memory);
  buffers_ = static_cast<char*>(memory) + ring_bytes;
  mapped_bytes_ = total;
  buffer_bytes_ = sizes.size_bytes;
  max_count_ = sizes.max_count;
  used_bytes_.assign(are_shared ? max_count_ : 0, 0);

  io_uring_buf_reg registration{};
  registration.ring_addr = reinterpret_cast<std::uintptr_t>(slots_);
  registration.ring_entries = max_count_;
  registration.bgid = group;
  const std::uint16_t flags = are_shared ? incremental : 0;
  std::memcpy(reinterpret_cast<char*>(&registration) + flags_offset, &flags, sizeof flags);
  const int failure = io_uring_register_buf_ring(&ring, &registration, 0);
  if (failure != 0) return -failure;

  const std::uint32_t first = std::clamp(sizes.first_count, 1U, max_count_);
  while (count_ < first) give_back(static_cast<std::uint16_t>(count_++));
  publish();
  return 0;
}

std::span<char> UringBuffers::received(std::uint16_t id, std::size_t size_bytes) noexcept {
  char* start = address(id);
  if (!used_bytes_.empty()) {
    start += used_bytes_[id];
    used_bytes_[id] += static_cast<std::uint32_t>(size_bytes);
  }
  ASAN_UNPOISON_MEMORY_REGION(start, size_bytes);
  return {start, size_bytes};
}

void UringBuffers::release(std::uint16_t id, std::size_t size_bytes, std::uint32_t flags) noexcept {
  // The kernel keeps a shared buffer that it left empty, though not all versions say so.
  const bool goes_on = !used_bytes_.empty() && (size_bytes == 0 || (flags & more_follows) != 0);
  if (!goes_on) return give_back(id);
  ASAN_POISON_MEMORY_REGION(address(id), used_bytes_[id]);
}

void UringBuffers::give_back(std::uint16_t id) noexcept {
  ASAN_POISON_MEMORY_REGION(address(id), buffer_bytes_);
  // Not the whole slot: in slot 0 the rest is the ring's tail.
  io_uring_buf& slot = slots_[tail_ & (max_count_ - 1)];
  slot.addr = reinterpret_cast<std::uintptr_t>(address(id));
  slot.len = buffer_bytes_;
  slot.bid = id;
  if (!used_bytes_.empty()) used_bytes_[id] = 0;
  ++tail_;
}

std::size_t UringBuffers::piece_bytes() const noexcept {
  return std::min<std::size_t>(buffer_bytes_, max_piece_bytes);
}

std::size_t UringBuffers::free_pieces() const noexcept {
  std::size_t bytes = std::size_t{count_} * buffer_bytes_;
  for (const std::uint32_t used : used_bytes_) bytes -= used;
  return bytes / piece_bytes();
}

void UringBuffers::grow() noexcept {
  const std::uint32_t wanted = std::min(count_ * 2, max_count_);
  while (count_ < wanted) give_back(static_cast<std::uint16_t>(count_++));
}

void UringBuffers::show_tail() noexcept {
  std::atomic_ref<__u16>(slots_[0].resv).store(tail_, std::memory_order_release);
  published_tail_ = tail_;
}

}  // namespace skua::loop

#endif
