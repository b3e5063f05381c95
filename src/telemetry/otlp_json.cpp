// SPDX-License-Identifier: MIT
// In: spans. Out: an ExportTraceServiceRequest in JSON. Identifiers are hexadecimal there, and
// 64-bit integers are strings.
#include "telemetry/otlp_json.hpp"

#include <chrono>
#include <cstdint>
#include <string_view>

#include "http/message/json_text.hpp"
#include "skua/release.hpp"

namespace skua::telemetry {
namespace {

using http::append_json;

constexpr std::size_t max_text_bytes = 1024;
constexpr int kind_server = 2;
constexpr int status_error = 2;

void append_attribute(std::string& out, std::string_view name, std::string_view value) {
  if (out.back() == '}') out += ',';
  out.append(R"({"key":)");
  append_json(out, name.substr(0, max_text_bytes));
  out.append(R"(,"value":{"stringValue":)");
  append_json(out, value.substr(0, max_text_bytes));
  out.append("}}");
}

std::string nanoseconds(std::chrono::system_clock::time_point time) {
  const auto since = std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch());
  return std::to_string(static_cast<std::uint64_t>(since.count()));
}

void append_span(std::string& out, const Span& span) {
  if (out.back() == '}') out += ',';
  out.append(R"({"traceId":")").append(span.context.trace_id());
  out.append(R"(","spanId":")").append(span.context.span_id()).append("\"");
  if (!span.parent_span_id.empty()) {
    out.append(R"(,"parentSpanId":")").append(span.parent_span_id).append("\"");
  }
  if (!span.context.tracestate().empty()) {
    out.append(R"(,"traceState":)");
    append_json(out, span.context.tracestate());
  }
  out.append(R"(,"name":)");
  append_json(out, span.name.substr(0, max_text_bytes));
  out.append(R"(,"kind":)").append(std::to_string(std::uint64_t{kind_server}));
  out.append(R"(,"startTimeUnixNano":")").append(nanoseconds(span.start));
  out.append(R"(","endTimeUnixNano":")").append(nanoseconds(span.end));
  out.append(R"(","attributes":[{"key":"http.response.status_code","value":{"intValue":")");
  out.append(std::to_string(std::uint64_t{code(span.status)})).append("\"}}");
  for (const auto& [name, value] : span.attributes) append_attribute(out, name, value);
  out += ']';
  // A server's span fails by 5xx only.
  if (code(span.status) >= 500) {
    out.append(R"(,"status":{"code":)").append(std::to_string(std::uint64_t{status_error})) += '}';
  }
  out += '}';
}

}  // namespace

std::string otlp_json(const OtlpOptions& options, std::span<const Span> spans) {
  std::string out = R"({"resourceSpans":[{"resource":{"attributes":[)";
  append_attribute(out, "service.name", options.service);
  append_attribute(out, "telemetry.sdk.name", "skua");
  append_attribute(out, "telemetry.sdk.language", "cpp");
  append_attribute(out, "telemetry.sdk.version", library_version());
  for (const auto& [name, value] : options.resource) append_attribute(out, name, value);
  out.append(R"(]},"scopeSpans":[{"scope":{"name":"skua"},"spans":[)");
  for (const Span& span : spans) append_span(out, span);
  return out.append("]}]}]}");
}

}  // namespace skua::telemetry
