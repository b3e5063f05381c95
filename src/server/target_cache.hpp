// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "router/tree.hpp"
#include "skua/method.hpp"

namespace skua::server {

/// The routes of recent targets: requests to a busy server repeat the same few. An entry holds a
/// short target whose path is canonical as sent and has a route without wildcards.
class TargetCache {
 public:
  class Entry {
   public:
    [[nodiscard]] bool holds(Method method, std::string_view target) const noexcept {
      return size_bytes_ == target.size() && method_ == method && size_bytes_ != 0 &&
             std::memcmp(text_.data(), target.data(), size_bytes_) == 0;
    }
    /// Replaces the entry if it can hold this target. `query` is the target's end.
    void hold(Method method, std::string_view target, std::string_view path, std::string_view query,
              const router::Match& match) noexcept {
      const bool is_sent_so = path.data() == target.data();
      if (!is_sent_so || target.size() > text_.size() || match.route == nullptr ||
          match.captures.count != 0) {
        return;
      }
      target.copy(text_.data(), target.size());
      size_bytes_ = static_cast<std::uint8_t>(target.size());
      path_bytes_ = static_cast<std::uint8_t>(path.size());
      query_bytes_ = static_cast<std::uint8_t>(query.size());
      method_ = method;
      has_coroutine_ = match.has_coroutine;
      route_ = match.route;
      scope_ = match.scope;
    }

    /// The path of a target that is held, its query, and what the router found.
    [[nodiscard]] std::string_view path(std::string_view target) const noexcept {
      return {target.data(), path_bytes_};
    }
    [[nodiscard]] std::string_view query(std::string_view target) const noexcept {
      return {target.data() + size_bytes_ - query_bytes_, query_bytes_};
    }
    [[nodiscard]] router::Match match() const noexcept {
      router::Match match;
      match.route = route_;
      match.scope = scope_;
      match.has_coroutine = has_coroutine_;
      match.captures.route = route_;
      return match;
    }

   private:
    std::array<char, 64> text_{};
    std::uint8_t size_bytes_ = 0;
    std::uint8_t path_bytes_ = 0;
    std::uint8_t query_bytes_ = 0;
    Method method_ = Method::Get;
    bool has_coroutine_ = false;
    const router::Route* route_ = nullptr;
    const router::Scope* scope_ = nullptr;
  };

  /// Returns the only entry that may hold a target, which is not empty.
  [[nodiscard]] Entry& entry_for(std::string_view target) noexcept {
    const std::size_t mixed = target.size() + static_cast<unsigned char>(target.back());
    return entries_[mixed % entries_.size()];
  }

 private:
  std::array<Entry, 16> entries_{};
};

}  // namespace skua::server
