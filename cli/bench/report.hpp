// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "bench/plan.hpp"
#include "bench/tally.hpp"

namespace skua::cli::bench {

/// Whether a thread of the generator was at work nearly all the time, so that the server may be
/// faster than the report says.
bool is_saturated(const Tally& tally) noexcept;

/// Whether requests were sent and answered at the rate that was asked for; true without one.
bool is_rate_reached(const Plan& plan, const Tally& tally) noexcept;

/// `1 234 567`
std::string grouped(double number);

/// What a person reads, in 80 columns.
std::string text_report(const Plan& plan, const Tally& tally);
/// What a program reads: one document, with a line feed behind it. Times are microseconds.
std::string json_report(const Plan& plan, const Tally& tally);

}  // namespace skua::cli::bench
