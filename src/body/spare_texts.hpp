// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace skua::body {

/// The memory of large texts that come and go, kept for the next ones: it is still in the CPU
/// caches, and the system need not provide zeroed pages again.
class SpareTexts final {
 public:
  SpareTexts() { spare_.reserve(most); }

  /// Smaller texts keep their memory.
  static constexpr std::size_t min_bytes = 16 * 1024;
  /// No more than this is kept in all.
  static constexpr std::size_t max_bytes = 2 * 1024 * 1024;

  /// Appends `data`; an empty text that lacks the room gets the memory that was given last.
  void append(std::string& text, std::string_view data) {
    if (text.empty() && text.capacity() < data.size() && !spare_.empty()) {
      text = std::move(spare_.back());
      spare_.pop_back();
      kept_bytes_ -= text.capacity();
    }
    text.append(data);
  }

  /// Empties a text, and takes its memory away if it is large.
  void give(std::string& text) noexcept {
    text.clear();
    if (text.capacity() < min_bytes) return;
    std::string taken = std::exchange(text, {});
    if (spare_.size() == most || taken.capacity() > max_bytes - kept_bytes_) return;
    kept_bytes_ += taken.capacity();
    spare_.push_back(std::move(taken));
  }

  void clear() noexcept {
    spare_.clear();
    kept_bytes_ = 0;
  }

 private:
  static constexpr std::size_t most = 64;

  std::vector<std::string> spare_;
  std::size_t kept_bytes_ = 0;
};

}  // namespace skua::body
