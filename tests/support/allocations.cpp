// SPDX-License-Identifier: MIT
// Replaces the global operator new and delete by ones that count; memory comes from malloc as
// before, so that sanitizers still see it.
#include "support/allocations.hpp"

#include <malloc.h>

#include <cstddef>
#include <cstdlib>
#include <new>

namespace skua::testing {
namespace {

thread_local Allocations counted;

// glibc keeps one word in front of each block.
std::int64_t cost(void* block) noexcept {
  return static_cast<std::int64_t>(::malloc_usable_size(block) + sizeof(void*));
}

void* try_take(std::size_t size, std::size_t alignment) noexcept {
  void* block = alignment <= alignof(std::max_align_t)
                    ? std::malloc(size)
                    : std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
  if (block == nullptr) return nullptr;
  ++counted.count;
  counted.live_bytes += cost(block);
  return block;
}

void* take(std::size_t size, std::size_t alignment) {
  void* block = try_take(size, alignment);
  if (block == nullptr) throw std::bad_alloc();
  return block;
}

void give_back(void* block) noexcept {
  if (block == nullptr) return;
  counted.live_bytes -= cost(block);
  std::free(block);
}

}  // namespace

Allocations allocations() noexcept { return counted; }

}  // namespace skua::testing

void* operator new(std::size_t size) { return skua::testing::take(size, 1); }
void* operator new[](std::size_t size) { return skua::testing::take(size, 1); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  return skua::testing::take(size, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t size, std::align_val_t alignment) {
  return skua::testing::take(size, static_cast<std::size_t>(alignment));
}
// The library's own would call the ones above; a sanitizer's would not.
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
void operator delete(void* block, std::align_val_t) noexcept { skua::testing::give_back(block); }
void operator delete[](void* block, std::align_val_t) noexcept { skua::testing::give_back(block); }
void operator delete(void* block, std::size_t, std::align_val_t) noexcept {
  skua::testing::give_back(block);
}
void operator delete[](void* block, std::size_t, std::align_val_t) noexcept {
  skua::testing::give_back(block);
}
