// SPDX-License-Identifier: MIT
// In: bytes. Out: one contiguous text. Up to 64 KiB it comes from the heap, beyond that from
// the system: untouched pages cost nothing, so it can grow by doubling.
#include "server/kept_content.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "base/memory.hpp"

namespace skua::base {
namespace {

constexpr std::size_t min_bytes = 4 * 1024;
constexpr std::size_t max_heap_bytes = 64 * 1024;

void* allocate(std::size_t size_bytes) noexcept {
  return size_bytes <= max_heap_bytes ? std::malloc(size_bytes) : allocate_pages(size_bytes);
}

}  // namespace

bool PageText::append(std::string_view bytes) noexcept {
  if (bytes.empty()) return true;
  if (bytes.size() > std::numeric_limits<std::size_t>::max() / 4 - size_) return false;
  if (bytes.size() > capacity_ - size_ && !grow(size_ + bytes.size())) return false;
  std::memcpy(data_ + size_, bytes.data(), bytes.size());
  size_ += bytes.size();
  return true;
}

bool PageText::grow(std::size_t needed_bytes) noexcept {
  std::size_t capacity = std::max(min_bytes, capacity_ * 2);
  while (capacity < needed_bytes) capacity *= 2;
  char* const larger = static_cast<char*>(allocate(capacity));
  if (larger == nullptr) return false;
  const std::size_t size = size_;
  if (size != 0) std::memcpy(larger, data_, size);
  release();
  data_ = larger;
  size_ = size;
  capacity_ = capacity;
  return true;
}

void PageText::clear() noexcept {
  size_ = 0;
  if (capacity_ > max_heap_bytes) release();
}

void PageText::release() noexcept {
  if (capacity_ > max_heap_bytes) {
    free_pages(data_, capacity_);
  } else {
    std::free(data_);
  }
  data_ = nullptr;
  size_ = capacity_ = 0;
}

}  // namespace skua::base
