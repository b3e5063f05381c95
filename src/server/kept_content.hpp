// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <limits>
#include <string_view>

#include "loop/clock.hpp"
#include "skua/error.hpp"
#include "skua/options.hpp"

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

namespace skua::server {

/// A server-wide budget for request content kept in memory. Thread-safe.
///
/// Content that is read piece by piece does not count: Limits::stream_bytes bounds it. The last
/// quarter is reserved for small bodies, so that a few large ones cannot block all others.
class ContentBudget final {
 public:
  explicit ContentBudget(const Limits& limits) noexcept
      : max_bytes_(max_bytes(limits)), max_head_bytes_(limits.server_head_bytes) {}

  /// Takes `bytes` more for a body that has `total_bytes` including them. Returns false, and takes
  /// nothing, if the budget does not suffice.
  [[nodiscard]] bool take(std::size_t bytes, std::size_t total_bytes) noexcept {
    const std::size_t most = total_bytes <= small_bytes ? max_bytes_ : max_bytes_ - max_bytes_ / 4;
    const std::size_t before = kept_bytes_.fetch_add(bytes, std::memory_order_relaxed);
    if (before <= most && bytes <= most - before) return true;
    kept_bytes_.fetch_sub(bytes, std::memory_order_relaxed);
    return false;
  }
  void give_back(std::size_t bytes) noexcept {
    kept_bytes_.fetch_sub(bytes, std::memory_order_relaxed);
  }
  [[nodiscard]] std::size_t kept_bytes() const noexcept {
    return kept_bytes_.load(std::memory_order_relaxed);
  }

  /// Reports whether a refusal may be logged: once a minute.
  [[nodiscard]] bool may_tell(loop::Instant now) noexcept {
    loop::Instant quiet_until = quiet_until_.load(std::memory_order_relaxed);
    return now >= quiet_until && quiet_until_.compare_exchange_strong(
                                     quiet_until, later(now, Duration(std::chrono::minutes(1))),
                                     std::memory_order_relaxed);
  }

  /// Like take(), for heads, which have a budget of their own: see HeldHeads.
  [[nodiscard]] bool take_head(std::size_t bytes) noexcept {
    const std::size_t before = head_bytes_.fetch_add(bytes, std::memory_order_relaxed);
    if (before <= max_head_bytes_ && bytes <= max_head_bytes_ - before) return true;
    give_back_head(bytes);
    return false;
  }
  void give_back_head(std::size_t bytes) noexcept {
    head_bytes_.fetch_sub(bytes, std::memory_order_relaxed);
  }

 private:
  static constexpr std::size_t small_bytes = 64 * 1024;

  // Always leaves room for one body of the maximum size.
  static std::size_t max_bytes(const Limits& limits) noexcept {
    constexpr std::size_t most = std::numeric_limits<std::size_t>::max();
    const std::size_t two_bodies = limits.body_bytes > most / 2 ? most : limits.body_bytes * 2;
    return std::max(limits.server_body_bytes, two_bodies);
  }

  const std::size_t max_bytes_;
  const std::size_t max_head_bytes_;
  std::atomic<std::size_t> kept_bytes_{0};
  std::atomic<std::size_t> head_bytes_{0};
  std::atomic<loop::Instant> quiet_until_{loop::Instant::min()};
};

/// The content of one request, kept until it is complete, within a server's budget.
class KeptContent final {
 public:
  /// `budget` must outlive the object.
  explicit KeptContent(ContentBudget& budget) noexcept : budget_(budget) {}
  KeptContent(const KeptContent&) = delete;
  KeptContent& operator=(const KeptContent&) = delete;
  ~KeptContent() { clear(); }

  /// Appends a copy. Returns Overloaded or OutOfMemory, and appends nothing, if that fails.
  [[nodiscard]] Errc append(std::string_view data) noexcept {
    if (!budget_.take(data.size(), text_.size() + data.size())) return Errc::Overloaded;
    if (text_.append(data)) return Errc::None;
    budget_.give_back(data.size());
    return Errc::OutOfMemory;
  }
  /// Frees the content, and returns it to the budget.
  void clear() noexcept {
    if (text_.size() == 0) return;
    budget_.give_back(text_.size());
    text_.clear();
  }
  [[nodiscard]] std::string_view view() const noexcept { return text_.view(); }
  [[nodiscard]] std::size_t size() const noexcept { return text_.size(); }

 private:
  ContentBudget& budget_;
  base::PageText text_;
};

}  // namespace skua::server
