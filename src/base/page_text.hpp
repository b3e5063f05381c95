// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string_view>

namespace skua::base {

/// A growing text. Large ones use pages of their own, which clear() returns to the system. An
/// allocator would keep some of the large blocks that come and go, and never return them.
class PageText final {
 public:
  PageText() = default;
  PageText(const PageText&) = delete;
  PageText& operator=(const PageText&) = delete;
  ~PageText() { release(); }

  /// Appends a copy of `bytes`, which must not be part of this text. Returns false, and changes
  /// nothing, if memory ran out.
  [[nodiscard]] bool append(std::string_view bytes) noexcept;
  /// Makes the text empty. Small ones keep their memory.
  void clear() noexcept;

  [[nodiscard]] std::string_view view() const noexcept { return {data_, size_}; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

 private:
  [[nodiscard]] bool grow(std::size_t needed_bytes) noexcept;
  void release() noexcept;

  char* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace skua::base
