// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "bench/plan.hpp"
#include "bench/tally.hpp"

namespace skua::cli::bench {

/// Reports whether a thread of the generator was busy nearly all the time; if so, the server may be
/// faster than the report says.
bool is_saturated(const Tally& tally) noexcept;

/// Reports whether requests were sent and answered at the requested rate; true without a rate.
bool is_rate_reached(const Plan& plan, const Tally& tally) noexcept;

/// Formats a number in groups of three digits: `1 234 567`.
std::string grouped(double number);

/// Returns a report for people, in 80 columns.
std::string text_report(const Plan& plan, const Tally& tally);
/// Returns a report for programs: one JSON document and a line feed. Times are in microseconds.
std::string json_report(const Plan& plan, const Tally& tally);

}  // namespace skua::cli::bench
