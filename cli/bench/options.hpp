// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/plan.hpp"
#include "configure.hpp"
#include "skua/error.hpp"
#include "skua/tls.hpp"

namespace skua::cli {

/// Options of `skua bench`.
struct BenchOptions {
  std::string url{};
  std::string method{};  ///< empty: GET, or POST if there is content
  std::vector<std::pair<std::string, std::string>> fields{};
  std::optional<std::string> data{};  ///< content of each request
  std::string unix_path{};
  ClientTlsOptions tls{};
  bench::Plan plan{};  ///< the values that options set directly
  bool json = false;
  bool quiet = false;
};

/// Adds the options, in groups, to the command; `options` must outlive the parser.
void declare(CLI::App& parser, BenchOptions& options);

/// Builds the plan of a load test.
///
/// Ends with: MalformedUrl, UnknownMethod or MalformedField for a wrong option; TlsConfiguration.
Result<bench::Plan, Problem> make_plan(const BenchOptions& options);

}  // namespace skua::cli
