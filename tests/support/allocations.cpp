// SPDX-License-Identifier: MIT
// Replaces the global operator new and delete with versions that count, and that fail on request.
// Memory still comes from malloc, so sanitizers see it.
#include "support/allocations.hpp"

#include <malloc.h>

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace skua::testing {
namespace {

thread_local Allocations counted;

thread_local bool is_here = false;  // the thread that created the FailingAllocations
std::atomic<bool> fails{false};
std::atomic<bool> fails_here{false};
std::atomic<bool> failed{false};
std::atomic<std::uint64_t> seen{0};
std::atomic<std::uint64_t> first_to_fail{0};
std::atomic<std::uint64_t> end_of_failing{0};

bool is_to_fail() noexcept {
  if (!fails.load() || is_here != fails_here.load()) return false;
  const std::uint64_t number = seen.fetch_add(1) + 1;
  if (number < first_to_fail.load() || number >= end_of_failing.load()) return false;
  failed = true;
  return true;
}

constexpr bool is_plain(std::size_t alignment) noexcept {
  return alignment <= alignof(std::max_align_t);
}

#if defined(_WIN32)
std::size_t size_of(void* block, std::size_t alignment) noexcept {
  return is_plain(alignment) ? ::_msize(block) : 0;  // older C libraries do not tell
}
void* take_aligned(std::size_t size, std::size_t alignment) noexcept {
  return ::_aligned_malloc(size, alignment);
}
void free_aligned(void* block) noexcept { ::_aligned_free(block); }
#else
std::size_t size_of(void* block, std::size_t /*alignment*/) noexcept {
  return ::malloc_usable_size(block);
}
void* take_aligned(std::size_t size, std::size_t alignment) noexcept {
  return std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}
void free_aligned(void* block) noexcept { std::free(block); }
#endif

// Includes the one-word header that glibc puts before each block.
std::int64_t cost(void* block, std::size_t alignment) noexcept {
  return static_cast<std::int64_t>(size_of(block, alignment) + sizeof(void*));
}

void* try_take(std::size_t size, std::size_t alignment) noexcept {
  if (is_to_fail()) return nullptr;
  void* block = is_plain(alignment) ? std::malloc(size) : take_aligned(size, alignment);
  if (block == nullptr) return nullptr;
  ++counted.count;
  counted.live_bytes += cost(block, alignment);
  return block;
}

void* take(std::size_t size, std::size_t alignment) {
  void* block = try_take(size, alignment);
  if (block == nullptr) throw std::bad_alloc();
  return block;
}

void give_back(void* block, std::size_t alignment = 1) noexcept {
  if (block == nullptr) return;
  counted.live_bytes -= cost(block, alignment);
  if (is_plain(alignment)) {
    std::free(block);
  } else {
    free_aligned(block);
  }
}

}  // namespace

Allocations allocations() noexcept { return counted; }

FailingAllocations::FailingAllocations(Where where, std::uint64_t first,
                                       std::uint64_t count) noexcept {
  is_here = true;
  fails_here = where == Where::ThisThread;
  first_to_fail = first;
  end_of_failing = first + count;
  seen = 0;
  failed = false;
  fails = true;
}

FailingAllocations::~FailingAllocations() {
  fails = false;
  is_here = false;
}

bool FailingAllocations::has_failed() noexcept { return failed; }

}  // namespace skua::testing

void* operator new(std::size_t size) { return skua::testing::take(size, 1); }
void* operator new[](std::size_t size) { return skua::testing::take(size, 1); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  return skua::testing::take(size, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t size, std::align_val_t alignment) {
  return skua::testing::take(size, static_cast<std::size_t>(alignment));
}
// The standard library's version calls the operators above, but a sanitizer's does not.
void* operator new(std::size_t size, const std::nothrow_t& /*tag*/) noexcept {
  return skua::testing::try_take(size, 1);
}
void* operator new[](std::size_t size, const std::nothrow_t& /*tag*/) noexcept {
  return skua::testing::try_take(size, 1);
}
void* operator new(std::size_t size, std::align_val_t alignment,
                   const std::nothrow_t& /*tag*/) noexcept {
  return skua::testing::try_take(size, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t size, std::align_val_t alignment,
                     const std::nothrow_t& /*tag*/) noexcept {
  return skua::testing::try_take(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* block) noexcept { skua::testing::give_back(block); }
void operator delete[](void* block) noexcept { skua::testing::give_back(block); }
void operator delete(void* block, std::size_t) noexcept { skua::testing::give_back(block); }
void operator delete[](void* block, std::size_t) noexcept { skua::testing::give_back(block); }
void operator delete(void* block, std::align_val_t alignment) noexcept {
  skua::testing::give_back(block, static_cast<std::size_t>(alignment));
}
void operator delete[](void* block, std::align_val_t alignment) noexcept {
  skua::testing::give_back(block, static_cast<std::size_t>(alignment));
}
void operator delete(void* block, std::size_t, std::align_val_t alignment) noexcept {
  skua::testing::give_back(block, static_cast<std::size_t>(alignment));
}
void operator delete[](void* block, std::size_t, std::align_val_t alignment) noexcept {
  skua::testing::give_back(block, static_cast<std::size_t>(alignment));
}
