// SPDX-License-Identifier: MIT
#pragma once

#include "skua/release.hpp"  // first: checks the C++ version

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "skua/config.hpp"

namespace skua {

/// A place in a distributed trace: which request of which trace this is. Travels in the fields
/// `traceparent` and `tracestate`.
///
/// RFC:       W3C Trace Context
class SKUA_API TraceContext final {
 public:
  using TraceId = std::array<std::uint8_t, 16>;
  using SpanId = std::array<std::uint8_t, 8>;

  /// Starts a trace, with random identifiers.
  static TraceContext start(bool is_sampled);
  /// Parses the fields of a request. A malformed `tracestate` is dropped.
  ///
  /// Returns nullopt if `traceparent` is malformed: start a trace then.
  static std::optional<TraceContext> parse(std::string_view traceparent,
                                           std::string_view tracestate = {});

  /// Returns a new span of the same trace, with a random identifier.
  [[nodiscard]] TraceContext child() const;

  /// Returns the value of `traceparent`: `00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01`.
  [[nodiscard]] std::string traceparent() const;
  /// Returns the value of `tracestate`, as received; empty if there is none.
  [[nodiscard]] const std::string& tracestate() const noexcept { return state_; }
  /// Returns the identifier in hexadecimal.
  [[nodiscard]] std::string trace_id() const;
  [[nodiscard]] std::string span_id() const;
  /// Reports whether the caller records the trace.
  [[nodiscard]] bool is_sampled() const noexcept { return is_sampled_; }

 private:
  TraceContext() = default;

  TraceId trace_{};
  SpanId span_{};
  std::string state_{};
  bool is_sampled_ = false;
};

}  // namespace skua
