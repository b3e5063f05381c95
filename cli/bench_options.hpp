// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/plan.hpp"
#include "command.hpp"
#include "skua/error.hpp"
#include "skua/tls.hpp"

namespace skua::cli {

/// What `skua bench` is told.
struct BenchOptions {
  std::string url{};
  std::string method{};  ///< empty: GET, or POST where there is content
  std::vector<std::pair<std::string, std::string>> fields{};
  std::optional<std::string> data{};  ///< content of each request
  std::string unix_path{};
  ClientTlsOptions tls{};
  bench::Plan plan{};  ///< as far as single options say
  bool json = false;
  bool quiet = false;
};

/// Adds the options, grouped, to the command; `options` outlives the parser.
void declare(CLI::App& parser, BenchOptions& options);

/// The load that is asked for.
///
/// Ends with: MalformedUrl and the like for what makes no sense; TlsConfiguration.
Result<bench::Plan, Problem> make_plan(const BenchOptions& options);

}  // namespace skua::cli
