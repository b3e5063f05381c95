// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace skua::cli {

/// What some of the time of a request went into.
struct Phase {
  std::string_view name{};
  std::chrono::nanoseconds begin{};  ///< since the start of all
  std::chrono::nanoseconds end{};
};

/// `1.23 ms`, `45.6 ms`, `7.89 s`: three digits that count.
std::string milliseconds_text(std::chrono::nanoseconds time);

/// A line for each phase, with a bar where its time was, and one for the total:
///
/// ```
/// resolve    1.20 ms  ==
/// connect    20.1 ms    ======
/// total      21.3 ms
/// ```
/// A phase that did not take place (it ends where it begins, at zero) has no line.
std::string waterfall(std::span<const Phase> phases, std::size_t columns);

}  // namespace skua::cli
