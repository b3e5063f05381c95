// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "command.hpp"
#include "request_items.hpp"
#include "skua/client.hpp"
#include "skua/method.hpp"
#include "skua/release.hpp"
#include "skua/url.hpp"
#include "terminal.hpp"

namespace skua::cli {

/// What `skua get`, `post`, `put`, `patch`, `delete`, `head` and `request` are told.
struct GetOptions {
  Method method = Method::Get;
  bool any_method = false;  ///< the first word of the command line is the method
  std::vector<Url> urls{};  ///< one, or several to download
  RequestItems items{};
  std::optional<std::string> data{};  ///< the content, `@FILE`, or `-` for standard input
  std::string type{};                 ///< of the content, instead of what it seems to be
  std::optional<std::pair<std::string, std::string>> credentials{};  ///< a name and a password
  std::string token{};
  std::string cookie_file{};
  std::string output{};  ///< a file; `-`: the standard output; empty: nothing was said
  unsigned parallel = 3;
  ClientOptions client{.proxy = {.from_environment = true},
                       .user_agent = "skua/" SKUA_VERSION_TEXT};
  Colour colour = Colour::Auto;
  bool digest = false;
  bool form = false;
  bool json = false;
  bool download = false;
  bool resume = false;
  bool fail = false;
  bool timing = false;
  bool verbose = false;
  bool with_head = false;
  bool quiet = false;
  bool raw = false;

  /// Whether content goes into files.
  [[nodiscard]] bool saves() const noexcept {
    return download || (!output.empty() && output != "-");
  }
};

/// Adds the options, grouped, to the command of a method; `options` outlives the parser. They are
/// checked together once all are parsed.
void declare(CLI::App& parser, GetOptions& options);

/// The URL that a person means: without a scheme it is http://, without a host localhost.
///
/// Ends with: MalformedUrl, and a text that says what is wrong.
Result<Url, Problem> parse_url_argument(std::string_view text);

/// `HOST:PORT:ADDRESS`, where an address of IPv6 may have brackets.
///
/// Ends with: CLI::ValidationError
HostOverride parse_override(const std::string& text);

}  // namespace skua::cli
