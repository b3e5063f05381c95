// SPDX-License-Identifier: MIT
#pragma once

#include "skua/release.hpp"  // first: checks the C++ version

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "skua/bytes.hpp"
#include "skua/client_options.hpp"
#include "skua/config.hpp"
#include "skua/tracing.hpp"

namespace skua {

/// Options of an exporter of spans.
struct OtlpOptions {
  std::string url = "http://127.0.0.1:4318/v1/traces";  ///< of the collector
  std::string service = "skua";                         ///< `service.name`, which tools group by
  /// More facts about the program: `{"deployment.environment", "production"}`.
  std::vector<std::pair<std::string, std::string>> resource{};
  Duration interval = 1s;          ///< the longest that a span waits
  std::size_t batch_spans = 512;   ///< sent at once, sooner than that
  std::size_t queue_spans = 4096;  ///< that wait; more are dropped and counted
  ClientOptions client{};          ///< for the collector: TLS, timeouts, a login
  /// Takes messages of one line, about a collector that does not answer, on the exporter's thread.
  /// Its exceptions are dropped.
  std::function<void(std::string_view)> on_problem{};
};

/// Sends spans to an OpenTelemetry collector (OTLP over HTTP, as JSON), on a thread of its own.
///
/// ```cpp
/// skua::OtlpExporter exporter({.service = "shop"});
/// router.use(skua::tracing({.sink = [&](skua::Span span) { exporter.add(std::move(span)); }}));
/// ```
/// Lifetime:  must outlive the server.
class SKUA_API OtlpExporter final {
 public:
  /// Ends with: std::invalid_argument if the URL is malformed.
  explicit OtlpExporter(OtlpOptions options = {});
  OtlpExporter(const OtlpExporter&) = delete;
  OtlpExporter& operator=(const OtlpExporter&) = delete;
  /// Sends what waits, once and for at most two seconds, and ends the thread.
  ~OtlpExporter();

  /// Adds a span; never waits. Thread-safe.
  void add(Span span) noexcept;
  /// Returns how many spans were dropped: the queue was full, or the collector did not take them.
  [[nodiscard]] std::uint64_t lost_count() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace skua
