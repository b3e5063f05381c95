// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "configure.hpp"
#include "get/options.hpp"

namespace skua::cli::curl {

/// The requests of a command line, in order.
struct CurlRequests {
  std::vector<GetOptions> all{};
  bool stops_early = false;  ///< at the first that fails
};

/// Adds the options of `skua curl` to a command. `requests`, which parsing fills and checks, must
/// outlive the parser.
void declare(CLI::App& parser, CurlRequests& requests);

/// Configures `skua curl`, which takes a command line of curl, as browsers copy it.
std::function<int()> configure(CLI::App& parser);

/// How an option of curl is treated; see OtherOption.
enum class Treatment : std::uint8_t { Done, Harmless, Noted, Refused, Unknown };

/// Returns it for an option, named with its dashes.
Treatment treatment_of(std::string_view name);
/// Returns why a command line is refused; empty if it is not.
std::string refusal_of(std::vector<std::string> words);

}  // namespace skua::cli::curl
