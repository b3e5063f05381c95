// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

#include "get/request_report.hpp"

namespace skua::cli {

/// Returns what is wrong with a format of --write-out, with the words that it may have; empty if
/// nothing is. A format is a text with `%{word}`, `%header{name}`, `%%`, `\n`, `\r`, `\t` and `\\`.
std::string write_out_problem(const std::string& format);

/// Returns the text of a format. A text that is unknown is empty, a number or time 0, and a status
/// 000, as curl has it.
std::string write_out_text(std::string_view format, const RequestFacts& facts);

}  // namespace skua::cli
