// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "serve/options.hpp"
#include "skua/error.hpp"
#include "skua/ip_filter.hpp"

namespace skua::cli {

/// Returns the rules of --allow and --deny; reads their files.
///
/// Ends with: a text that names the option or file and the line; also if there are --allow options,
///            but all their files are empty: that would allow everyone.
Result<IpRules, Problem> read_ip_rules(const ServeOptions& options);

/// Returns the files of --allow and --deny.
std::vector<std::string> ip_rule_files(const ServeOptions& options);

}  // namespace skua::cli
