// SPDX-License-Identifier: MIT
// In: what clients tell their meter, on any thread. Out: metrics, each time someone asks. All
// labels are from small sets: the names that the program gave, states and outcomes.
#include "skua/client_metrics.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "client/meter.hpp"
#include "client/outcome.hpp"
#include "skua/metrics.hpp"

namespace skua {
namespace {

using client::Meter;
using client::Outcome;

/// Upper bounds of durations, in seconds.
constexpr std::array<double, 14> time_bounds{0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05,
                                             0.1,    0.25,  0.5,    1,     2.5,  10,    60};

using AtomicCount = std::atomic<std::uint64_t>;

void add(AtomicCount& count, std::uint64_t value = 1) noexcept {
  count.fetch_add(value, std::memory_order_relaxed);
}

std::uint64_t value_of(const AtomicCount& count) noexcept {
  return count.load(std::memory_order_relaxed);
}

/// How many durations are at most as long as each bound, but longer than the one before.
struct Times {
  void note(Duration time) noexcept {
    const double seconds = std::chrono::duration<double>(time).count();
    const auto bound = std::ranges::lower_bound(time_bounds, seconds);
    add(counts[static_cast<std::size_t>(bound - time_bounds.begin())]);
    add(nanoseconds, static_cast<std::uint64_t>(std::max<Duration::rep>(time.count(), 0)));
  }

  std::array<AtomicCount, time_bounds.size() + 1> counts{};
  AtomicCount nanoseconds{0};
};

constexpr std::array<std::string_view, 5> class_names{"1xx", "2xx", "3xx", "4xx", "5xx"};

/// The outcomes without the head of a response.
constexpr std::array failures{Outcome::ConnectFailed, Outcome::ConnectTimeout, Outcome::TlsFailed,
                              Outcome::Timeout,       Outcome::Closed,         Outcome::Malformed,
                              Outcome::Local,         Outcome::Cancelled};

/// The counts behind a ClientMetrics.
class ClientCounts final : public Meter {
 public:
  explicit ClientCounts(std::string text) : name(std::move(text)) {}

  void more(Gauge gauge) noexcept override {
    add(gauges[static_cast<std::size_t>(gauge)]);
    if (gauge == Gauge::Open) add(opened);
  }
  void fewer(Gauge gauge) noexcept override {
    gauges[static_cast<std::size_t>(gauge)].fetch_sub(1, std::memory_order_relaxed);
  }
  void waited(Duration time) noexcept override { waits.note(time); }
  void reused() noexcept override { add(reuses); }
  void secured(bool is_resumed) noexcept override {
    add(is_resumed ? resumed_handshakes : full_handshakes);
  }
  void responded(std::uint16_t status, Duration time) noexcept override {
    const std::size_t status_class = std::clamp<std::size_t>(status / 100, 1, class_names.size());
    add(by_status[status_class - 1]);
    durations.note(time);
  }
  void failed(Error error, const client::Reached& reached) noexcept override {
    add(by_outcome[static_cast<std::size_t>(client::outcome_of(error, reached))]);
  }
  void cancelled() noexcept override {
    add(by_outcome[static_cast<std::size_t>(Outcome::Cancelled)]);
  }
  void cut() noexcept override { add(cut_responses); }

  [[nodiscard]] std::uint64_t now(Gauge gauge) const noexcept {
    return value_of(gauges[static_cast<std::size_t>(gauge)]);
  }

  const std::string name;
  std::array<AtomicCount, 4> gauges{};
  AtomicCount opened{0};
  AtomicCount reuses{0};
  AtomicCount full_handshakes{0};
  AtomicCount resumed_handshakes{0};
  AtomicCount cut_responses{0};
  std::array<AtomicCount, class_names.size()> by_status{};
  std::array<AtomicCount, client::outcome_count> by_outcome{};
  Times waits;
  Times durations;
};

/// Calls a function with the counts of each client; a family has all of them.
template <class Call>
void for_each_client(const std::vector<ClientMetrics>& clients, Call call) {
  for (const ClientMetrics& one : clients) {
    call(static_cast<const ClientCounts&>(client::MeterAccess::of(one)));
  }
}

void write_connections(MetricsText& out, const std::vector<ClientMetrics>& clients) {
  out.family("skua_client_connections", MetricType::Gauge, "Connections by state");
  for_each_client(clients, [&out](const ClientCounts& counts) {
    // Read one after the other, they may disagree for a moment.
    const std::uint64_t idle = counts.now(Meter::Gauge::Idle);
    const std::uint64_t open = std::max(counts.now(Meter::Gauge::Open), idle);
    out.sample({{"client", counts.name}, {"state", "idle"}}, idle);
    out.sample({{"client", counts.name}, {"state", "busy"}}, open - idle);
    out.sample({{"client", counts.name}, {"state", "connecting"}},
               counts.now(Meter::Gauge::Connecting));
  });
  out.family("skua_client_requests_waiting", MetricType::Gauge,
             "Requests that wait for a connection");
  for_each_client(clients, [&out](const ClientCounts& counts) {
    out.sample({{"client", counts.name}}, counts.now(Meter::Gauge::Waiting));
  });
  out.family("skua_client_connections_opened", MetricType::Counter, "Connections that were made");
  for_each_client(clients, [&out](const ClientCounts& counts) {
    out.sample({{"client", counts.name}}, value_of(counts.opened));
  });
  out.family("skua_client_connections_reused", MetricType::Counter,
             "Requests on a connection that had served others before");
  for_each_client(clients, [&out](const ClientCounts& counts) {
    out.sample({{"client", counts.name}}, value_of(counts.reuses));
  });
  out.family("skua_client_tls_handshakes", MetricType::Counter, "TLS handshakes that succeeded");
  for_each_client(clients, [&out](const ClientCounts& counts) {
    out.sample({{"client", counts.name}, {"result", "full"}}, value_of(counts.full_handshakes));
    out.sample({{"client", counts.name}, {"result", "resumed"}},
               value_of(counts.resumed_handshakes));
  });
}

void write_requests(MetricsText& out, const std::vector<ClientMetrics>& clients) {
  out.family("skua_client_requests", MetricType::Counter, "Requests by how they ended");
  for_each_client(clients, [&out](const ClientCounts& counts) {
    for (std::size_t i = 0; i < class_names.size(); ++i) {
      out.sample({{"client", counts.name}, {"result", class_names[i]}},
                 value_of(counts.by_status[i]));
    }
    for (const Outcome outcome : failures) {
      out.sample({{"client", counts.name}, {"result", name(outcome)}},
                 value_of(counts.by_outcome[static_cast<std::size_t>(outcome)]));
    }
  });
  out.family("skua_client_responses_cut", MetricType::Counter, "Responses whose content broke off");
  for_each_client(clients, [&out](const ClientCounts& counts) {
    out.sample({{"client", counts.name}}, value_of(counts.cut_responses));
  });
}

void write_times(MetricsText& out, const std::vector<ClientMetrics>& clients,
                 Times ClientCounts::* times) {
  for_each_client(clients, [&out, times](const ClientCounts& counts) {
    const Times& seen = counts.*times;
    std::array<std::uint64_t, time_bounds.size() + 1> values{};
    std::ranges::transform(seen.counts, values.begin(), value_of);
    out.histogram({{"client", counts.name}}, time_bounds, values,
                  static_cast<double>(value_of(seen.nanoseconds)) / 1e9);
  });
}

}  // namespace

ClientMetrics::ClientMetrics(std::string name)
    : meter_(std::make_shared<ClientCounts>(std::move(name))) {}

const std::string& ClientMetrics::name() const noexcept {
  return static_cast<const ClientCounts&>(*meter_).name;
}

void collect_clients(Metrics& metrics, std::vector<ClientMetrics> clients) {
  metrics.collect([all = std::move(clients)](MetricsText& out) {
    write_connections(out, all);
    write_requests(out, all);
    out.family("skua_client_wait_seconds", MetricType::Histogram,
               "Time that requests waited for a connection, if they had to");
    write_times(out, all, &ClientCounts::waits);
    out.family("skua_client_request_duration_seconds", MetricType::Histogram,
               "Time from a request to the head of its response");
    write_times(out, all, &ClientCounts::durations);
  });
}

}  // namespace skua
