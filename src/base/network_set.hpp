// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "skua/ip_filter.hpp"

namespace skua::base {

/// Networks, of which one may contain an address. They are sorted, without those inside others, so
/// that the only candidate for an address is the last one before it.
class NetworkSet final {
 public:
  explicit NetworkSet(std::vector<Network> networks) : sorted_(std::move(networks)) {
    std::ranges::sort(sorted_);
    auto kept = sorted_.begin();
    for (const Network& network : sorted_) {
      if (kept == sorted_.begin() || !std::prev(kept)->contains(network)) *kept++ = network;
    }
    sorted_.erase(kept, sorted_.end());
    sorted_.shrink_to_fit();
  }

  [[nodiscard]] bool empty() const noexcept { return sorted_.empty(); }
  /// Reports whether one of them contains the block, in O(log n) steps.
  [[nodiscard]] bool contains(const Network& block) const noexcept {
    const auto after = std::ranges::upper_bound(sorted_, block);
    return after != sorted_.begin() && std::prev(after)->contains(block);
  }

 private:
  std::vector<Network> sorted_;
};

}  // namespace skua::base
