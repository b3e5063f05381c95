// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>

#include "configure.hpp"
#include "skua/middleware.hpp"
#include "skua/router.hpp"

namespace skua::cli {

struct SiteOptions;

/// A rate limit that a site takes over from the one that it replaces, if it is the same: clients
/// keep what they have used.
struct KeptRate {
  std::string text{};  ///< the value of --rate; empty: no limit
  std::optional<RateLimit> limit{};
};

/// Parses `N`, `N/s` or `N/min`, each with `:BURST` or without.
///
/// Ends with: std::invalid_argument if it is malformed.
RateLimitOptions parse_rate(const std::string& text);

/// Adds the option to the command; `options` must outlive the parser.
void declare_rate(CLI::App& parser, SiteOptions& options);

/// Limits the requests of each client.
void add_rate(Router& router, const std::string& text, KeptRate& kept);

}  // namespace skua::cli
