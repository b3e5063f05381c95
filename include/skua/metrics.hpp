// SPDX-License-Identifier: MIT
#pragma once

#include "skua/release.hpp"  // first: checks the C++ version

#include <chrono>
#include <concepts>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "skua/config.hpp"
#include "skua/counters.hpp"
#include "skua/meter.hpp"
#include "skua/request.hpp"
#include "skua/response.hpp"
#include "skua/status.hpp"

namespace skua {

/// A label of a sample. Each combination of values is a time series of its own, so values must come
/// from a small set: never from what clients send.
struct MetricLabel {
  std::string_view name{};   ///< letters, digits and `_`
  std::string_view value{};  ///< any text
};

enum class MetricType : std::uint8_t {
  Counter,    ///< only grows; samples are named `_total`
  Gauge,      ///< goes up and down
  Histogram,  ///< counts of values by upper bound, with their sum
  Info,       ///< facts as labels, with the value 1; samples are named `_info`
};

/// The text formats of metrics, which differ in details only.
enum class MetricsFormat : std::uint8_t {
  Prometheus,   ///< `text/plain; version=0.0.4`
  OpenMetrics,  ///< `application/openmetrics-text; version=1.0.0`
};

/// Writes metrics, family by family.
///
/// ```cpp
/// out.family("shop_orders", skua::MetricType::Counter, "Orders that were placed");
/// out.sample({{"kind", "book"}}, books);
/// out.sample({{"kind", "toy"}}, toys);
/// ```
class SKUA_API MetricsText final {
 public:
  explicit MetricsText(MetricsFormat format) : format_(format) {}

  /// Begins a family; its samples follow. `name` is without `_total` or `_info`, and says the unit:
  /// `shop_delivery_seconds`. The help is a phrase.
  ///
  /// Ends with: std::invalid_argument if the name is not one of letters, digits, `_` and `:`.
  void family(std::string_view name, MetricType type, std::string_view help);
  /// Adds a sample of a counter, gauge or info.
  ///
  /// Ends with: std::invalid_argument if a label's name is malformed.
  template <class Value>
    requires std::integral<Value> || std::floating_point<Value>
  void sample(std::initializer_list<MetricLabel> labels, Value value) {
    if constexpr (std::unsigned_integral<Value>) {
      add_count(std::span(labels.begin(), labels.size()), value);
    } else {
      add_number(std::span(labels.begin(), labels.size()), static_cast<double>(value));
    }
  }
  template <class Value>
    requires std::integral<Value> || std::floating_point<Value>
  void sample(Value value) {
    sample({}, value);
  }
  /// Adds a sample of a histogram. `counts` has a count for each upper bound, and one more for all
  /// values beyond; each value is in one of them only.
  ///
  /// Ends with: std::invalid_argument if a label's name is malformed or a count is missing.
  void histogram(std::initializer_list<MetricLabel> labels, std::span<const double> bounds,
                 std::span<const std::uint64_t> counts, double sum);

  /// Returns the whole text. Call it once, at the end.
  [[nodiscard]] std::string take();

 private:
  void add_count(std::span<const MetricLabel> labels, std::uint64_t value);
  void add_number(std::span<const MetricLabel> labels, double value);
  void add_name(std::string_view suffix, std::span<const MetricLabel> labels, double bound);
  [[nodiscard]] std::string_view suffix() const noexcept;

  MetricsFormat format_;
  MetricType type_ = MetricType::Gauge;
  std::string name_;  // of the family
  std::string text_;
};

/// Measurements of servers, as text for Prometheus and other collectors: requests by route, method
/// and status class, their durations and sizes, connections, refusals, TLS, the loops, the process.
///
/// ```cpp
/// const auto metrics = std::make_shared<skua::Metrics>();
/// skua::Server server(router, {.metrics = metrics});
///
/// skua::Router admin;  // on an address of its own: not for everyone
/// admin.get("/metrics", [metrics](const skua::Request& r) { return metrics->response(r); });
/// skua::Server admin_server(admin, {.host = "127.0.0.1", .port = 9090, .threads = 1});
/// ```
/// Servers that share it are added up. What it keeps is bounded by the program's routes. It costs
/// each response about the reading of a clock. Thread-safe.
class SKUA_API Metrics final : public detail::Meter {
 public:
  Metrics();
  ~Metrics() override;

  /// Adds a function that writes metrics of the program each time they are asked for, on the thread
  /// that asks; one call at a time. If it throws, text() does.
  void collect(std::function<void(MetricsText&)> collector);

  [[nodiscard]] std::string text(MetricsFormat format = MetricsFormat::Prometheus) const;
  /// Returns the text in the format that the client asks for.
  [[nodiscard]] Response response(const Request& request) const;

  /// A route, for people.
  struct Route {
    std::string pattern{};       ///< empty: no route matched
    std::string method{};        ///< empty: the request could not be parsed
    std::uint64_t requests = 0;  ///< responses that were sent or cut
    std::uint64_t failures = 0;  ///< with a 5xx status
    double mean_seconds = 0;     ///< duration of a response
    double p99_seconds = 0;      ///< an upper bound of that of 99 % of them
  };
  /// Returns the routes that have been asked for, slowest first.
  [[nodiscard]] std::vector<Route> routes() const;

  /// A response with a 5xx status.
  struct RecentError {
    std::string pattern{};  ///< empty: no route matched
    std::string method{};
    Status status = Status::Ok;
    std::chrono::system_clock::time_point time{};
  };
  /// Returns the last of them, newest first.
  [[nodiscard]] std::vector<RecentError> recent_errors() const;

  /// Returns the counters of all servers that use the object, and of those that did.
  [[nodiscard]] Counters counters() const;

  void add(const Server& server) override;
  void remove(const Server& server) noexcept override;
  std::unique_ptr<detail::ThreadMeter> add_thread() override;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;  // shared with the meters of threads
};

}  // namespace skua
