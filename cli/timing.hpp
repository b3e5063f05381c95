// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace skua::cli {

/// A phase of a request.
struct Phase {
  std::string_view name{};
  std::chrono::nanoseconds begin{};  ///< since the start of the request
  std::chrono::nanoseconds end{};
};

/// Formats a time with three significant digits: `1.23 ms`, `45.6 ms`, `7.89 s`.
std::string milliseconds_text(std::chrono::nanoseconds time);

/// Formats a line for each phase, with a bar for its time span, and a line for the total:
///
/// ```
/// resolve    1.20 ms  ==
/// connect    20.1 ms    ======
/// total      21.3 ms
/// ```
/// A phase that did not take place, which ends at zero, has no line.
std::string waterfall(std::span<const Phase> phases, std::size_t columns);

}  // namespace skua::cli
