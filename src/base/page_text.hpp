// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string_view>

namespace skua::base {

/// Text that grows. A large one lies in pages of its own, which the system has back as soon as it
/// is cleared: what an allocator keeps of large blocks that come and go is never given back.
class PageText final {
 public:
  PageText() = default;
  PageText(const PageText&) = delete;
  PageText& operator=(const PageText&) = delete;
  ~PageText() { release(); }

  /// Adds a copy of the bytes, which are not its own. False where memory ran out: then nothing has
  /// changed.
  [[nodiscard]] bool append(std::string_view bytes) noexcept;
  /// Empty again. A small one keeps its memory.
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
