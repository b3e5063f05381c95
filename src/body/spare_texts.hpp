// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace skua::body {

/// The memory of large texts that come and go, kept for the next ones: it is still in the CPU
/// caches, and the system need not provide zeroed pages again.
class SpareTexts final {
 public:
  SpareTexts() = default;
  SpareTexts(const SpareTexts&) = delete;
  SpareTexts& operator=(const SpareTexts&) = delete;

  /// Smaller texts keep their memory.
  static constexpr std::size_t min_bytes = 16 * 1024;
  /// No more than this is kept in all.
  static constexpr std::size_t max_bytes = 2 * 1024 * 1024;

  /// Appends `data`; an empty text that lacks the room gets the memory that was given last.
  void append(std::string& text, std::string_view data);
  /// Empties a text, and takes its memory away if it is large.
  void give(std::string& text) noexcept;
  void clear() noexcept {
    while (end_ != spare_.begin()) std::string().swap(*--end_);
    kept_bytes_ = 0;
  }

 private:
  std::array<std::string, 32> spare_;
  std::array<std::string, 32>::iterator end_ = spare_.begin();  // of those that are kept
  std::size_t kept_bytes_ = 0;
};

}  // namespace skua::body
