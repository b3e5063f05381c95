// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/counter.hpp"
#include "skua/bytes.hpp"
#include "skua/meter.hpp"
#include "skua/method.hpp"
#include "skua/options.hpp"

namespace skua::operations {

/// Upper bounds of durations, in seconds.
inline constexpr std::array<double, 17> duration_bounds{
    0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05,
    0.1,    0.25,    0.5,    1,     2.5,    5,     10,   60};
/// Upper bounds of sizes, in bytes.
inline constexpr std::array<double, 8> size_bounds{256,        1024,      16 * 1024,  64 * 1024,
                                                   256 * 1024, 1048576.0, 16777216.0, 268435456.0};

/// How many values are at most as large as each bound, but larger than the one before.
template <std::size_t BoundCount>
struct HistogramSum {
  std::array<std::uint64_t, BoundCount + 1> counts{};
  std::uint64_t sum = 0;
};

/// A histogram that one thread fills and any thread reads. Values are integers: nanoseconds or
/// bytes.
template <std::size_t BoundCount>
class ThreadHistogram {
 public:
  void add(std::uint64_t value, const std::array<std::uint64_t, BoundCount>& bounds) noexcept {
    std::size_t i = 0;
    while (i < BoundCount && value > bounds[i]) ++i;
    ++counts_[i];
    sum_ += value;
  }
  void add_to(HistogramSum<BoundCount>& sum) const noexcept {
    for (std::size_t i = 0; i < counts_.size(); ++i) sum.counts[i] += counts_[i].value();
    sum.sum += sum_.value();
  }

 private:
  std::array<base::Counter, BoundCount + 1> counts_{};
  base::Counter sum_;
};

/// The five classes of statuses: 1xx to 5xx.
inline constexpr std::size_t status_classes = 5;

/// The responses to the requests of a route and method.
struct RouteSum {
  std::array<std::uint64_t, status_classes> by_status{};
  std::uint64_t cut = 0;
  HistogramSum<duration_bounds.size()> durations;
  HistogramSum<size_bounds.size()> received;
  HistogramSum<size_bounds.size()> sent;

  [[nodiscard]] std::uint64_t count() const noexcept;
};

/// Names a RouteSum: a pattern, which is empty if no route matched, and a method, which is empty if
/// the request line could not be parsed.
using RouteKey = std::pair<std::string, std::string_view>;

/// The sums over threads of servers.
struct ThreadSums {
  std::map<RouteKey, RouteSum> routes{};
  HistogramSum<duration_bounds.size()> turns{};
};

/// Returns the method of a request, `_OTHER` for all that skua does not know; empty if its request
/// line could not be parsed.
[[nodiscard]] std::string_view method_of(const RequestRecord& record) noexcept;

/// The measurements of one thread. It alone adds to them.
class ThreadMetrics final {
 public:
  ThreadMetrics() = default;

  void responded(const router::Route* route, const RequestRecord& record);
  void turned(Duration busy) noexcept;
  /// Any thread may call it.
  void add_to(ThreadSums& sums) const;

 private:
  /// Responses of a route and a method.
  struct Series {
    std::string pattern;
    std::string_view method;
    std::array<base::Counter, status_classes> by_status{};
    base::Counter cut{};
    ThreadHistogram<duration_bounds.size()> durations{};
    ThreadHistogram<size_bounds.size()> received{};
    ThreadHistogram<size_bounds.size()> sent{};
  };
  /// Those of a route, by method; the last two are for other ones and for none.
  using Methods = std::array<std::unique_ptr<Series>, method_count + 2>;

  Series& series(const router::Route* route, const RequestRecord& record);

  // Only the thread itself looks a series up; others are kept out while it adds one.
  std::unordered_map<const router::Route*, Methods> routes_;
  const router::Route* last_route_ = nullptr;
  Methods* last_ = nullptr;  // of the last route
  ThreadHistogram<duration_bounds.size()> turns_;
  mutable std::mutex adding_;
};

}  // namespace skua::operations
