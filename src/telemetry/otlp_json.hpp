// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <string>

#include "skua/otlp.hpp"

namespace skua::telemetry {

/// Formats spans as the content of a request to a collector.
///
/// https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding
std::string otlp_json(const OtlpOptions& options, std::span<const Span> spans);

}  // namespace skua::telemetry
