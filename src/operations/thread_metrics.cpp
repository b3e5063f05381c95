// SPDX-License-Identifier: MIT
// In: responses of one thread. Out: counts by route and method. The thread neither locks nor
// allocates unless a route is asked for the first time.
#include "operations/thread_metrics.hpp"

#include <algorithm>
#include <numeric>

#include "router/tree.hpp"

namespace skua::operations {
namespace {

// The bounds are whole in the smaller unit, but for errors of doubles.
template <std::size_t Count>
constexpr std::array<std::uint64_t, Count> scaled(const std::array<double, Count>& bounds,
                                                  double factor) {
  std::array<std::uint64_t, Count> all{};
  for (std::size_t i = 0; i < Count; ++i) {
    const double exact = bounds[i] * factor;
    all[i] = static_cast<std::uint64_t>(exact);
    if (exact - static_cast<double>(all[i]) >= 0.5) ++all[i];
  }
  return all;
}

constexpr auto duration_limits = scaled(duration_bounds, 1e9);
constexpr auto size_limits = scaled(size_bounds, 1);

std::uint64_t nanoseconds(Duration time) noexcept {
  return static_cast<std::uint64_t>(std::max<Duration::rep>(time.count(), 0));
}

}  // namespace

std::string_view method_of(const RequestRecord& record) noexcept {
  return record.head_bytes != 0 ? name(record.method) : std::string_view();
}

std::uint64_t RouteSum::count() const noexcept {
  return std::accumulate(by_status.begin(), by_status.end(), std::uint64_t{0});
}

ThreadMetrics::Series& ThreadMetrics::series(const router::Route* route,
                                             const RequestRecord& record) {
  if (last_ == nullptr || route != last_route_) {
    auto found = routes_.find(route);
    if (found == routes_.end()) {
      const std::lock_guard lock(adding_);
      found = routes_.try_emplace(route).first;
    }
    last_route_ = route;
    last_ = &found->second;  // which a rehash does not move
  }
  const bool has_method = record.head_bytes != 0;
  std::unique_ptr<Series>& series =
      (*last_)[has_method ? static_cast<std::size_t>(record.method) : method_count + 1];
  if (series == nullptr) {
    auto made = std::make_unique<Series>();
    if (route != nullptr) made->pattern = route->pattern;
    made->method = method_of(record);
    const std::lock_guard lock(adding_);
    series = std::move(made);
  }
  return *series;
}

void ThreadMetrics::responded(const router::Route* route, const RequestRecord& record) {
  Series& found = series(route, record);
  const std::size_t status_class = std::clamp(code(record.status) / 100, 1U, 5U) - 1;
  ++found.by_status[status_class];
  if (record.is_cut) ++found.cut;
  found.durations.add(nanoseconds(record.duration), duration_limits);
  found.received.add(record.received_bytes, size_limits);
  found.sent.add(record.sent_bytes, size_limits);
}

void ThreadMetrics::turned(Duration busy) noexcept {
  turns_.add(nanoseconds(busy), duration_limits);
}

void ThreadMetrics::add_to(ThreadSums& sums) const {
  turns_.add_to(sums.turns);
  const std::lock_guard lock(adding_);
  for (const auto& [route, methods] : routes_) {
    for (const std::unique_ptr<Series>& one : methods) {
      if (one == nullptr) continue;
      RouteSum& sum = sums.routes[{one->pattern, one->method}];
      for (std::size_t i = 0; i < status_classes; ++i) sum.by_status[i] += one->by_status[i];
      sum.cut += one->cut;
      one->durations.add_to(sum.durations);
      one->received.add_to(sum.received);
      one->sent.add_to(sum.sent);
    }
  }
}

}  // namespace skua::operations
