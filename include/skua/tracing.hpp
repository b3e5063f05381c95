// SPDX-License-Identifier: MIT
#pragma once

#include "skua/release.hpp"  // first: checks the C++ version

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "skua/config.hpp"
#include "skua/request.hpp"
#include "skua/response.hpp"
#include "skua/status.hpp"
#include "skua/trace_context.hpp"

namespace skua {

/// A request that a server has answered, as a part of a trace.
struct Span {
  TraceContext context;          ///< of this request
  std::string parent_span_id{};  ///< of the caller, in hexadecimal; empty if the trace begins here
  std::string name{};            ///< `GET /users/{id}`
  std::chrono::system_clock::time_point start{};
  std::chrono::system_clock::time_point end{};  ///< when the response was made
  Status status = Status::Ok;
  /// Named as OpenTelemetry has them: `http.route`, `url.path`, ...; and those of handlers.
  std::vector<std::pair<std::string, std::string>> attributes{};
};

/// Options of tracing().
struct TracingOptions {
  /// Takes the spans of sampled traces, on the threads of the server: it must not block. What it
  /// throws is dropped. Empty: none are recorded, but contexts travel on.
  std::function<void(Span)> sink{};
  /// The share of traces beginning here that are sampled, from 0 to 1. Those that the caller
  /// samples always are.
  double sample = 1;
  /// Continues the trace of a `traceparent` field. Turn it off if strangers send requests: they
  /// could make you record all of them, and join others' traces.
  bool trusts_callers = true;
  bool server_timing = false;  ///< sends `Server-Timing: total;dur=12.3`, which browsers show
};

/// Gives each request a place in a trace, for traces across services.
class SKUA_API Tracing final {
 public:
  /// See Router::use().
  static constexpr bool ignores_path = true;

  explicit Tracing(TracingOptions options);
  [[nodiscard]] std::optional<Response> guard(Request& request) const;
  void finish(const Request& request, Response& response) const;

 private:
  TracingOptions options_;
};

/// Gives each request a place in a trace, and records sampled ones as a Span once the response is
/// made. Use it first, so that it measures the rest.
///
/// ```cpp
/// router.use(skua::tracing({.sink = [](const skua::Span& span) { ... }}));
/// ```
/// Pass its context on with requests that the handler makes:
///
/// ```cpp
/// client.get(url).header("traceparent", skua::trace_context(request)->traceparent());
/// ```
/// RFC:       W3C Trace Context, W3C Server Timing
[[nodiscard]] inline Tracing tracing(TracingOptions options = {}) {
  return Tracing(std::move(options));
}

/// Returns the context of a request; null without tracing().
[[nodiscard]] SKUA_API const TraceContext* trace_context(const Request& request) noexcept;
/// Adds an attribute to the span of a request, such as `db.rows`; does nothing if none is recorded.
SKUA_API void trace_attribute(Request& request, std::string name, std::string value);

}  // namespace skua
