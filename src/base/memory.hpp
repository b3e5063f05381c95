// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

namespace skua::base {

/// A pool of reusable objects: last in, first out, so that they are warm in the caches.
///
/// Objects are default-constructed once and not destroyed between uses; the caller resets them.
template <class T>
class Pool {
 public:
  /// Keeps at most `kept` objects; others go back to the heap.
  explicit Pool(std::size_t kept)
      : kept_(kept), free_(std::make_unique<std::unique_ptr<T>[]>(kept)) {}

  std::unique_ptr<T> take() {
    return count_ == 0 ? std::make_unique<T>() : std::move(free_[--count_]);
  }

  void give_back(std::unique_ptr<T> object) noexcept {
    if (object && count_ < kept_) free_[count_++] = std::move(object);
  }

 private:
  std::size_t kept_;
  std::size_t count_ = 0;
  std::unique_ptr<std::unique_ptr<T>[]> free_;
};

/// Allocates zeroed memory from the system itself: pages that are never touched cost nothing.
/// Returns null if there is none.
void* allocate_pages(std::size_t size_bytes) noexcept;
void free_pages(void* pages, std::size_t size_bytes) noexcept;

/// Gives freed memory of this thread back to the system, if the allocator supports it. The
/// allocator keeps less from here on. Takes milliseconds, so call it only when idle.
void give_back_free_memory() noexcept;

}  // namespace skua::base
