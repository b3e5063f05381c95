// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "configure.hpp"
#include "skua/backend.hpp"
#include "skua/bytes.hpp"
#include "skua/tls.hpp"
#include "terminal.hpp"

namespace skua::cli {

// Options shared by several commands.

void declare_tls(CLI::App& parser, ClientTlsOptions& tls);
/// Marks the options of the current group as useless without TLS: a build without it does not list
/// them in --help, and rejects them.
void require_tls(CLI::App& parser);
/// Marks an option as useless because this build lacks something, likewise.
void disable(CLI::Option& option, const std::string& lacking);
void declare_colour(CLI::App& parser, Colour& colour);
void declare_backend(CLI::App& parser, BackendChoice& backend);

/// Returns the default that --help shows behind the kind of the value, as in `PORT [8080]`; empty
/// if there is none.
std::string default_of(const CLI::Option& option);

/// Splits a text at its first colon.
///
/// Ends with: CLI::ValidationError if there is no colon, or no text before it.
std::pair<std::string, std::string> split_at_colon(const std::string& option,
                                                   const std::string& text);
/// Splits a `--header` value, 'NAME: VALUE', and drops the white space before VALUE.
std::pair<std::string, std::string> split_field(const std::string& line);

/// Accepts numbers from `least` to `most`, including fractions.
CLI::Validator in_range(double least, double most);
CLI::Validator whole_in_range(std::int64_t least, std::int64_t most);
/// Accepts one of these words; its description, `{auto,epoll}`, is how shell completions find them.
CLI::Validator one_of(const std::vector<std::string>& words);
/// Converts sizes such as `500`, `64K` or `2GiB` to bytes.
CLI::Validator size_value();

/// Converts times such as `500ms`, `10s` or `2m` to seconds; a number stays one of seconds.
CLI::Validator seconds_value();

/// Converts seconds to a Duration.
Duration from_seconds(double seconds);

/// Returns advice, as a line with its line feed, if a problem is about a certificate; else empty.
std::string tls_advice(std::string_view problem, const ClientTlsOptions& tls);

/// Prints a warning on stderr if --insecure is set.
void warn_of(const ClientTlsOptions& tls);

}  // namespace skua::cli
