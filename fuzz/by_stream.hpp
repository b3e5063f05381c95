// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

/// A map by stream id. It is a list, as MemorySanitizer cannot see into std::map.
template <class T>
class ByStream final {
 public:
  T& operator[](std::uint32_t id) {
    T* const known = find(id);
    return known != nullptr ? *known : known_.emplace_back(id, T{}).second;
  }
  T* find(std::uint32_t id) {
    const auto found = std::find_if(known_.begin(), known_.end(),
                                    [id](const auto& one) { return one.first == id; });
    return found == known_.end() ? nullptr : &found->second;
  }
  /// Returns whether there was an entry.
  bool erase(std::uint32_t id) {
    return std::erase_if(known_, [id](const auto& one) { return one.first == id; }) != 0;
  }
  void clear() noexcept { known_.clear(); }
  [[nodiscard]] std::size_t size() const noexcept { return known_.size(); }
  /// Iterates over pairs of a stream id and its value, in no particular order.
  [[nodiscard]] auto begin() noexcept { return known_.begin(); }
  [[nodiscard]] auto end() noexcept { return known_.end(); }

 private:
  std::vector<std::pair<std::uint32_t, T>> known_;
};
