// SPDX-License-Identifier: MIT
// In: `traceparent` and `tracestate` of a request. Out: its context for handlers, and a span for
// the sink once the response is made.
#include "skua/tracing.hpp"

#include <string_view>
#include <utility>

#include "async/guarded.hpp"
#include "base/ascii.hpp"
#include "base/text/number_text.hpp"
#include "crypto/random.hpp"
#include "http/message/cause.hpp"
#include "skua/method.hpp"

namespace skua {
namespace {

/// The trace of a request, until its response is made.
struct Traced {
  TraceContext context;
  std::string parent_span_id{};
  std::chrono::system_clock::time_point start{};
  std::chrono::steady_clock::time_point began{};
  std::vector<std::pair<std::string, std::string>> attributes{};
};

bool is_sampled(double share) {
  constexpr double largest = 18446744073709551616.0;  // 2^64
  return share >= 1 || static_cast<double>(crypto::random_word()) < share * largest;
}

// §3.3.1.1: several lines are one list.
std::string joined_state(const Request& request) {
  std::string state;
  for (const auto [name, value] : request.headers()) {
    if (!ascii::equals_ignoring_case(name, "tracestate")) continue;
    if (!state.empty()) state += ',';
    state += value;
  }
  return state;
}

// Two lines would be two answers to the question.
std::optional<TraceContext> caller_of(const Request& request) {
  std::optional<std::string_view> found;
  for (const auto [name, value] : request.headers()) {
    if (!ascii::equals_ignoring_case(name, "traceparent")) continue;
    if (found) return std::nullopt;
    found = value;
  }
  return found ? TraceContext::parse(*found, joined_state(request)) : std::nullopt;
}

}  // namespace

Tracing::Tracing(TracingOptions options) : options_(std::move(options)) {}

std::optional<Response> Tracing::guard(Request& request) const {
  if (request.attachments().find<Traced>() != nullptr) return std::nullopt;
  const std::optional<TraceContext> caller =
      options_.trusts_callers ? caller_of(request) : std::nullopt;
  Traced traced{
      .context = caller ? caller->child() : TraceContext::start(is_sampled(options_.sample)),
      .parent_span_id = caller ? caller->span_id() : std::string(),
      .start = std::chrono::system_clock::now(),
      .began = std::chrono::steady_clock::now()};
  request.attachments().set(http::TraceTag{traced.context.trace_id()});
  request.attachments().set(std::move(traced));
  return std::nullopt;
}

void Tracing::finish(const Request& request, Response& response) const {
  const Traced* const traced = request.attachments().find<Traced>();
  if (traced == nullptr) return;
  const auto took = std::chrono::steady_clock::now() - traced->began;
  if (options_.server_timing) {
    const double milliseconds = std::chrono::duration<double, std::milli>(took).count();
    response.add_header("Server-Timing", "total;dur=" + base::fixed_text(milliseconds, 3));
  }
  if (!options_.sink || !traced->context.is_sampled()) return;
  const bool is_other = request.method() == Method::Other;
  const std::string_view method = name(request.method());
  const std::string_view route = request.route();
  Span span{
      .context = traced->context,
      .parent_span_id = traced->parent_span_id,
      .name = is_other ? "HTTP" : std::string(method),
      .start = traced->start,
      .end = traced->start + std::chrono::duration_cast<std::chrono::system_clock::duration>(took),
      .status = response.status(),
      .attributes = {{"http.request.method", std::string(method)},
                     {"url.path", std::string(request.path())},
                     {"url.scheme", request.is_secure() ? "https" : "http"},
                     {"server.address", std::string(request.host())}}};
  if (is_other) span.attributes.emplace_back("http.request.method_original", request.method_name());
  if (!route.empty()) {
    span.name.append(" ").append(route);
    span.attributes.emplace_back("http.route", route);
  }
  span.attributes.insert(span.attributes.end(), traced->attributes.begin(),
                         traced->attributes.end());
  async::guarded([&] { options_.sink(std::move(span)); });  // the response is right all the same
}

const TraceContext* trace_context(const Request& request) noexcept {
  const Traced* const traced = request.attachments().find<Traced>();
  return traced != nullptr ? &traced->context : nullptr;
}

void trace_attribute(Request& request, std::string name, std::string value) {
  Traced* const traced = request.attachments().find<Traced>();
  if (traced == nullptr || !traced->context.is_sampled()) return;
  traced->attributes.emplace_back(std::move(name), std::move(value));
}

}  // namespace skua
