// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace skua::base {

// printf() writes the decimal separator of the program's locale; these always write a point.

/// Returns a number with this many decimals, at most 9: `1.500`.
std::string fixed_text(double value, int decimals);
/// Returns a number with at most this many digits, at most 17, like `%g`: `1.5`, `1e+06`.
std::string short_text(double value, int digits);

}  // namespace skua::base
