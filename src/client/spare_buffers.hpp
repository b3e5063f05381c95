// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace skua::client {

/// A cache of large buffers: an idle connection holds none, and responses need not allocate and
/// free their own.
class SpareBuffers final {
 public:
  SpareBuffers() { spare_.reserve(most); }

  /// Smaller buffers are not worth keeping.
  static constexpr std::size_t least_bytes = 16 * 1024;

  /// Returns an empty string, perhaps with capacity.
  [[nodiscard]] std::string take() noexcept {
    if (spare_.empty()) return {};
    std::string taken = std::move(spare_.back());
    spare_.pop_back();
    return taken;
  }
  /// Empties a buffer, and takes its memory away if it is large.
  void give(std::string& buffer) noexcept {
    buffer.clear();
    if (buffer.capacity() < least_bytes) return;
    std::string taken = std::exchange(buffer, {});
    if (spare_.size() < most) spare_.push_back(std::move(taken));
  }

 private:
  static constexpr std::size_t most = 64;

  std::vector<std::string> spare_;
};

}  // namespace skua::client
