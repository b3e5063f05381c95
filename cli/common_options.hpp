// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "command.hpp"
#include "skua/backend.hpp"
#include "skua/bytes.hpp"
#include "skua/tls.hpp"
#include "terminal.hpp"

namespace skua::cli {

// Options that several commands have.

void declare_tls(CLI::App& parser, ClientTlsOptions& tls);
void declare_colour(CLI::App& parser, Colour& colour);
void declare_backend(CLI::App& parser, BackendChoice& backend);

/// The two texts around the first colon.
///
/// Ends with: CLI::ValidationError where there is no colon, or nothing in front of it.
std::pair<std::string, std::string> split_at_colon(const std::string& option,
                                                   const std::string& text);
/// A field as `--header` takes it, 'NAME: VALUE', without the white space in front of the value.
std::pair<std::string, std::string> split_field(const std::string& line);

/// A number that need not be whole.
CLI::Validator in_range(double least, double most);
CLI::Validator whole_in_range(std::int64_t least, std::int64_t most);
/// `500`, `64K`, `2GiB`: turned into a number of bytes.
CLI::Validator size_value();

/// A time that was given as a number of seconds.
Duration from_seconds(double seconds);

/// What helps where the text of a problem is about a certificate: a sentence with a line feed, or
/// nothing.
std::string tls_advice(std::string_view problem, const ClientTlsOptions& tls);

/// Says on stderr what --insecure means, where it is set.
void warn_of(const ClientTlsOptions& tls);

}  // namespace skua::cli
