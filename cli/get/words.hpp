// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "configure.hpp"
#include "get/options.hpp"
#include "skua/client_options.hpp"
#include "skua/error.hpp"
#include "skua/url.hpp"

namespace skua::cli {

/// The words of a command line as parsed; they are classified once all options are known.
struct Words {
  std::string method{};  ///< empty: that of the command
  std::string url{};
  std::vector<std::string> more{};
  std::vector<std::string> fields{};
};

/// Adds the words to the options.
///
/// Ends with: CLI::ValidationError
void take_words(const CLI::App& parser, GetOptions& options, const Words& words);

/// Reads a list of URLs, one a line; empty lines and those that begin with `#` are skipped. Blocks.
///
/// Ends with: MalformedForm, with a text that names the line; the errors of read_file().
Result<std::vector<Url>, Problem> read_urls(const std::string& path, bool keeps_dots = false);

/// Checks combinations of options, and derives some of them from others.
///
/// Ends with: CLI::ValidationError
void check(GetOptions& options);

/// Parses a URL argument; the scheme defaults to http://, the host to localhost. Dot segments are
/// removed (RFC 3986 §5.2.4), as browsers do, unless `keeps_dots`.
///
/// Ends with: MalformedUrl, with a text that says what is wrong.
Result<Url, Problem> parse_url_argument(std::string_view text, bool keeps_dots = false);

/// Parses `HOST:PORT:ADDRESS`; an IPv6 address may be in brackets.
///
/// Ends with: CLI::ValidationError
HostOverride parse_override(const std::string& text);

}  // namespace skua::cli
