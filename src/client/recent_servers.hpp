// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <unordered_map>

#include "loop/clock.hpp"

namespace skua::client {

/// Keys of servers that have shown something which another deploy may change: each for a minute,
/// and no more than a thousand.
class RecentServers final {
 public:
  [[nodiscard]] bool contains(const std::string& key, loop::Instant now) {
    if (seen_.empty()) return false;
    const auto found = seen_.find(key);
    if (found == seen_.end()) return false;
    if (now - found->second < lifetime) return true;
    seen_.erase(found);
    return false;
  }
  void insert(const std::string& key, loop::Instant now) {
    if (seen_.size() >= most) seen_.clear();
    seen_.insert_or_assign(key, now);
  }

 private:
  static constexpr auto lifetime = std::chrono::minutes(1);
  static constexpr std::size_t most = 1000;

  std::unordered_map<std::string, loop::Instant> seen_;
};

}  // namespace skua::client
