// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <utility>

#include "command.hpp"
#include "skua/bytes.hpp"
#include "skua/tls.hpp"
#include "terminal.hpp"

namespace skua::cli {

// Options that several commands have.

void declare_tls(CLI::App& parser, ClientTlsOptions& tls);
void declare_colour(CLI::App& parser, Colour& colour);

/// The two texts around the first colon.
///
/// Ends with: CLI::ValidationError where there is no colon, or nothing in front of it.
std::pair<std::string, std::string> split_at_colon(const std::string& option,
                                                   const std::string& text);
/// A field as `--header` takes it, 'NAME: VALUE', without the white space in front of the value.
std::pair<std::string, std::string> split_field(const std::string& line);

/// CLI::Range for what need not be whole; that one takes NaN for everything.
CLI::Validator in_range(double least, double most);
/// CLI::AsSizeValue; that one takes -1 for a very large size.
CLI::Validator size_value();

/// A time that was given as a number of seconds.
Duration from_seconds(double seconds);

/// Says on stderr what --insecure means, where it is set.
void warn_of(const ClientTlsOptions& tls);

}  // namespace skua::cli
