// SPDX-License-Identifier: MIT
// In: servers and what their threads have measured. Out: one text. The thread that asks for it adds
// everything up: threads of servers only count. What ended threads and servers have counted is
// kept, so that counters never go back.
#include "skua/metrics.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/file_io.hpp"
#include "operations/process.hpp"
#include "operations/thread_metrics.hpp"
#include "router/tree.hpp"
#include "skua/accept.hpp"
#include "skua/server.hpp"

namespace skua {

using operations::duration_bounds;
using operations::size_bounds;
using operations::ThreadMetrics;
using operations::ThreadSums;

struct Metrics::Impl {
  class Thread;

  [[nodiscard]] ThreadSums sums() const;
  void note_error(const router::Route* route, const RequestRecord& record);

  operations::Process process;
  mutable std::mutex collecting;
  std::vector<std::function<void(MetricsText&)>> collectors;  // guarded by collecting
  // Not `mutex`: asking a server can destroy its last run, whose threads lock `mutex`.
  mutable std::mutex asking;  // of the next two
  std::vector<const Server*> servers;
  Counters past_counters;    // events of servers that are gone
  mutable std::mutex mutex;  // of all below
  std::vector<const ThreadMetrics*> threads;
  ThreadSums past_threads;         // of threads that have ended
  std::deque<RecentError> errors;  // newest first
};

namespace {

constexpr std::size_t kept_errors = 32;

// All of them, so that none is forgotten.
constexpr std::size_t counter_count = sizeof(Counters) / sizeof(std::uint64_t);

using Value = std::uint64_t Counters::*;
// States at present, which end with their server.
constexpr std::array<Value, 8> gauges{&Counters::connections_open, &Counters::handshakes_open,
                                      &Counters::http2_open,       &Counters::websockets_open,
                                      &Counters::subscriptions,    &Counters::content_kept_bytes,
                                      &Counters::offloads_running, &Counters::offloads_waiting};
// Events since the start, which stay counted. A new member belongs into one of the lists.
constexpr std::array<Value, 26> events{&Counters::connections_accepted,
                                       &Counters::refused_by_ip_filter,
                                       &Counters::refused_by_callback,
                                       &Counters::failed_accepts,
                                       &Counters::refused_untrusted_proxies,
                                       &Counters::refused_proxy_headers,
                                       &Counters::requests,
                                       &Counters::responses,
                                       &Counters::bytes_received,
                                       &Counters::bytes_sent,
                                       &Counters::refused_malformed,
                                       &Counters::refused_too_large,
                                       &Counters::refused_overloaded,
                                       &Counters::refused_slow,
                                       &Counters::handler_failures,
                                       &Counters::handlers_cancelled,
                                       &Counters::out_of_memory,
                                       &Counters::accept_pauses,
                                       &Counters::handshakes,
                                       &Counters::handshakes_resumed,
                                       &Counters::handshakes_failed,
                                       &Counters::offloads_refused,
                                       &Counters::wait_calls,
                                       &Counters::receive_calls,
                                       &Counters::send_calls,
                                       &Counters::other_calls};
static_assert(gauges.size() + events.size() == counter_count);

/// Returns what remains of a server that is gone.
Counters ended(const Counters& server) noexcept {
  Counters rest;
  for (const Value event : events) rest.*event = server.*event;
  return rest;
}

Counters added(const Counters& a, const Counters& b) noexcept {
  using All = std::array<std::uint64_t, counter_count>;
  All sum = std::bit_cast<All>(a);
  const All more = std::bit_cast<All>(b);
  for (std::size_t i = 0; i < counter_count; ++i) sum[i] += more[i];
  return std::bit_cast<Counters>(sum);
}

}  // namespace

class Metrics::Impl::Thread final : public detail::ThreadMeter {
 public:
  explicit Thread(std::shared_ptr<Impl> all) : all_(std::move(all)) {
    const std::lock_guard lock(all_->mutex);
    all_->threads.push_back(&own_);
  }
  ~Thread() override {
    const std::lock_guard lock(all_->mutex);
    std::erase(all_->threads, &own_);
    own_.add_to(all_->past_threads);
  }
  void responded(const router::Route* route, const RequestRecord& record) noexcept override {
    try {
      own_.responded(route, record);
      if (code(record.status) >= 500) all_->note_error(route, record);
    } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch): it is not counted
    }
  }
  void turned(Duration busy) noexcept override { own_.turned(busy); }

 private:
  std::shared_ptr<Impl> all_;
  ThreadMetrics own_;
};

ThreadSums Metrics::Impl::sums() const {
  const std::lock_guard lock(mutex);
  ThreadSums sums = past_threads;
  for (const ThreadMetrics* const thread : threads) thread->add_to(sums);
  return sums;
}

void Metrics::Impl::note_error(const router::Route* route, const RequestRecord& record) {
  RecentError error{.pattern = route != nullptr ? route->pattern : std::string(),
                    .method = std::string(operations::method_of(record)),
                    .status = record.status,
                    .time = std::chrono::system_clock::now()};
  const std::lock_guard lock(mutex);
  if (errors.size() == kept_errors) errors.pop_back();
  errors.push_front(std::move(error));
}

Metrics::Metrics() : impl_(std::make_shared<Impl>()) {}

Metrics::~Metrics() = default;

Counters Metrics::counters() const {
  const std::lock_guard lock(impl_->asking);
  Counters sum = impl_->past_counters;
  for (const Server* const server : impl_->servers) sum = added(sum, server->counters());
  return sum;
}

std::vector<Metrics::RecentError> Metrics::recent_errors() const {
  const std::lock_guard lock(impl_->mutex);
  return {impl_->errors.begin(), impl_->errors.end()};
}

void Metrics::add(const Server& server) {
  const std::lock_guard lock(impl_->asking);
  impl_->servers.push_back(&server);
}

void Metrics::remove(const Server& server) noexcept {
  const std::lock_guard lock(impl_->asking);
  std::erase(impl_->servers, &server);
  impl_->past_counters = added(impl_->past_counters, ended(server.counters()));
}

std::unique_ptr<detail::ThreadMeter> Metrics::add_thread() {
  return std::make_unique<Impl::Thread>(impl_);
}

void Metrics::collect(std::function<void(MetricsText&)> collector) {
  const std::lock_guard lock(impl_->collecting);
  impl_->collectors.push_back(std::move(collector));
}

namespace {

constexpr std::array<std::string_view, operations::status_classes> class_names{"1xx", "2xx", "3xx",
                                                                               "4xx", "5xx"};

void write_routes(MetricsText& out, const ThreadSums& sums) {
  out.family("http_server_requests", MetricType::Counter,
             "Requests that were answered, by route pattern, method and status class.");
  for (const auto& [key, route] : sums.routes) {
    for (std::size_t i = 0; i < class_names.size(); ++i) {
      if (route.by_status[i] == 0) continue;
      out.sample({{"route", key.first}, {"method", key.second}, {"status", class_names[i]}},
                 route.by_status[i]);
    }
  }
  out.family("http_server_responses_cut", MetricType::Counter,
             "Responses that were not sent completely.");
  for (const auto& [key, route] : sums.routes) {
    out.sample({{"route", key.first}, {"method", key.second}}, route.cut);
  }
  out.family("http_server_request_duration_seconds", MetricType::Histogram,
             "Time from the end of a request's head to that of its response.");
  for (const auto& [key, route] : sums.routes) {
    out.histogram({{"route", key.first}, {"method", key.second}}, duration_bounds,
                  route.durations.counts, static_cast<double>(route.durations.sum) / 1e9);
  }
  out.family("http_server_request_size_bytes", MetricType::Histogram,
             "Sizes of requests, head and content.");
  for (const auto& [key, route] : sums.routes) {
    out.histogram({{"route", key.first}, {"method", key.second}}, size_bounds,
                  route.received.counts, static_cast<double>(route.received.sum));
  }
  out.family("http_server_response_size_bytes", MetricType::Histogram,
             "Sizes of responses, head and content.");
  for (const auto& [key, route] : sums.routes) {
    out.histogram({{"route", key.first}, {"method", key.second}}, size_bounds, route.sent.counts,
                  static_cast<double>(route.sent.sum));
  }
}

struct NamedCount {
  std::string_view name;
  std::uint64_t value;
};

template <class Value>
void write_value(MetricsText& out, std::string_view name, MetricType type, std::string_view help,
                 Value value) {
  out.family(name, type, help);
  out.sample(value);
}

void write_family(MetricsText& out, std::string_view name, MetricType type, std::string_view help,
                  std::string_view label, std::initializer_list<NamedCount> counts) {
  out.family(name, type, help);
  for (const NamedCount& one : counts) out.sample({{label, one.name}}, one.value);
}

void write_connections(MetricsText& out, const Counters& sum) {
  write_value(out, "http_server_connections_accepted", MetricType::Counter, "Connections accepted.",
              sum.connections_accepted);
  const std::uint64_t other = sum.handshakes_open + sum.http2_open;
  write_family(out, "http_server_connections", MetricType::Gauge,
               "Open connections by what is spoken on them.", "state",
               {{"handshake", sum.handshakes_open},
                {"http1", sum.connections_open - std::min(other, sum.connections_open)},
                {"http2", sum.http2_open}});
  write_value(out, "http_server_websockets", MetricType::Gauge, "Open WebSockets.",
              sum.websockets_open);
  write_value(out, "http_server_websocket_subscriptions", MetricType::Gauge,
              "Subscriptions of WebSockets to topics.", sum.subscriptions);
  write_family(out, "http_server_connections_refused", MetricType::Counter,
               "Connections closed before their first request.", "reason",
               {{"ip_filter", sum.refused_by_ip_filter},
                {"callback", sum.refused_by_callback},
                {"callback_failed", sum.failed_accepts},
                {"untrusted_proxy", sum.refused_untrusted_proxies},
                {"proxy_header", sum.refused_proxy_headers}});
  write_family(out, "http_server_requests_refused", MetricType::Counter,
               "Requests that the server refused by itself.", "reason",
               {{"malformed", sum.refused_malformed},
                {"too_large", sum.refused_too_large},
                {"overloaded", sum.refused_overloaded},
                {"slow", sum.refused_slow}});
  write_value(out, "http_server_requests_received", MetricType::Counter,
              "Heads of requests received.", sum.requests);
  write_value(out, "http_server_handler_failures", MetricType::Counter,
              "Exceptions of handlers, answered with 500.", sum.handler_failures);
  write_value(out, "http_server_handlers_cancelled", MetricType::Counter,
              "Handlers dropped while they waited, because the client left or time was up.",
              sum.handlers_cancelled);
  write_family(out, "http_server_offloads", MetricType::Gauge,
               "Calls of offload(), and work with files, on threads of their own.", "state",
               {{"running", sum.offloads_running}, {"waiting", sum.offloads_waiting}});
  write_value(out, "http_server_offloads_refused", MetricType::Counter,
              "Calls of offload() that found their queue full.", sum.offloads_refused);
  write_value(out, "http_server_content_kept_bytes", MetricType::Gauge,
              "Content of requests that is kept in memory.", sum.content_kept_bytes);
  write_value(out, "http_server_out_of_memory", MetricType::Counter,
              "Connections and requests that ended for lack of memory.", sum.out_of_memory);
  write_value(out, "http_server_accept_pauses", MetricType::Counter,
              "Times that accepting paused: too many connections, or no descriptors left.",
              sum.accept_pauses);
  write_value(out, "http_server_received_bytes", MetricType::Counter,
              "Bytes received from sockets.", sum.bytes_received);
  write_value(out, "http_server_sent_bytes", MetricType::Counter, "Bytes sent to sockets.",
              sum.bytes_sent);
  write_family(out, "http_server_tls_handshakes", MetricType::Counter,
               "TLS handshakes by their result.", "result",
               {{"full", sum.handshakes - std::min(sum.handshakes_resumed, sum.handshakes)},
                {"resumed", sum.handshakes_resumed},
                {"failed", sum.handshakes_failed}});
  write_family(out, "http_server_system_calls", MetricType::Counter,
               "System calls of the servers' loops.", "kind",
               {{"wait", sum.wait_calls},
                {"receive", sum.receive_calls},
                {"send", sum.send_calls},
                {"other", sum.other_calls}});
}

void write_servers(MetricsText& out, const std::vector<const Server*>& servers) {
  out.family(
      "http_server_ready", MetricType::Gauge,
      "Whether each server accepts requests: 1, or 0 before its start and from its drain on.");
  for (const Server* const server : servers) {
    const std::string url = server->url();
    out.sample({{"server", url}}, std::uint64_t{server->is_ready()});
  }
  out.family("http_server_tls_certificate_expiry_timestamp_seconds", MetricType::Gauge,
             "When the first of a server's certificates expires.");
  for (const Server* const server : servers) {
    const auto expiry = server->tls_expiry();
    if (!expiry) continue;
    const std::string url = server->url();
    out.sample(
        {{"server", url}},
        std::chrono::duration_cast<std::chrono::seconds>(expiry->time_since_epoch()).count());
  }
}

void write_process(MetricsText& out, const operations::Process& process) {
  const operations::ProcessFacts facts = process.facts();
  const auto gauge = [&out](std::string_view name, std::string_view help, const auto& value) {
    if (!value) return;
    write_value(out, name, MetricType::Gauge, help, *value);
  };
  if (facts.cpu_seconds) {
    write_value(out, "process_cpu_seconds", MetricType::Counter, "Processor time used.",
                *facts.cpu_seconds);
  }
  gauge("process_start_time_seconds", "When the program began to measure, since 1970.",
        facts.start_seconds);
  gauge("process_resident_memory_bytes", "Resident memory.", facts.resident_bytes);
  gauge("process_virtual_memory_bytes", "Virtual memory.", facts.virtual_bytes);
  write_value(out, "process_max_fds", MetricType::Gauge, "How many descriptors may be open.",
              std::uint64_t{base::open_files_limit()});
  if (const std::size_t open = base::open_files_count(); open != 0) {
    write_value(out, "process_open_fds", MetricType::Gauge, "Open descriptors.",
                std::uint64_t{open});
  }
}

}  // namespace

std::string Metrics::text(MetricsFormat format) const {
  MetricsText out(format);
  const ThreadSums sums = impl_->sums();
  write_routes(out, sums);
  write_connections(out, counters());
  out.family("skua_loop_turn_seconds", MetricType::Histogram,
             "Turns of the servers' loops without their waits: how long others had to wait. The "
             "rate of its sum is how many threads are busy.");
  out.histogram({}, duration_bounds, sums.turns.counts, static_cast<double>(sums.turns.sum) / 1e9);
  {
    const std::lock_guard lock(impl_->asking);
    write_servers(out, impl_->servers);
  }
  write_process(out, impl_->process);
  out.family("skua_build", MetricType::Info, "The release of the library.");
  out.sample({{"version", library_version()}}, std::uint64_t{1});
  const std::lock_guard lock(impl_->collecting);
  for (const auto& collector : impl_->collectors) collector(out);
  return out.take();
}

Response Metrics::response(const Request& request) const {
  constexpr std::string_view prometheus = "text/plain; version=0.0.4; charset=utf-8";
  constexpr std::string_view open_metrics =
      "application/openmetrics-text; version=1.0.0; charset=utf-8";
  const bool is_open = preferred_type(request, {prometheus, open_metrics}) == open_metrics;
  Response made(Status::Ok, text(is_open ? MetricsFormat::OpenMetrics : MetricsFormat::Prometheus),
                is_open ? open_metrics : prometheus);
  made.vary("Accept");
  made.header("Cache-Control", "no-store");
  return made;
}

std::vector<Metrics::Route> Metrics::routes() const {
  const ThreadSums sums = impl_->sums();
  std::vector<Route> all;
  for (const auto& [key, sum] : sums.routes) {
    const std::uint64_t count = sum.count();
    Route one{.pattern = key.first,
              .method = std::string(key.second),
              .requests = count,
              .failures = sum.by_status.back()};
    one.mean_seconds = static_cast<double>(sum.durations.sum) / 1e9 / static_cast<double>(count);
    std::uint64_t seen = 0;
    for (std::size_t i = 0; i < duration_bounds.size() && seen < count - count / 100; ++i) {
      seen += sum.durations.counts[i];
      one.p99_seconds = duration_bounds[i];
    }
    all.push_back(std::move(one));
  }
  std::ranges::sort(all, std::ranges::greater(), &Route::mean_seconds);
  return all;
}

}  // namespace skua
