// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "configure.hpp"
#include "get/request_items.hpp"
#include "skua/client.hpp"
#include "skua/method.hpp"
#include "skua/release.hpp"
#include "skua/url.hpp"
#include "terminal.hpp"

namespace skua::cli {

/// Options of `skua get`, `post`, `put`, `patch`, `delete`, `head` and `request`.
struct GetOptions {
  Method method = Method::Get;
  bool any_method = false;  ///< the first argument is the method
  std::vector<Url> urls{};  ///< several only to download
  RequestItems items{};
  std::optional<std::string> data{};  ///< the content, `@FILE`, or `-` for standard input
  std::string type{};                 ///< media type of the content; empty: guessed
  std::optional<std::pair<std::string, std::string>> credentials{};  ///< user and password
  std::string token{};
  std::string cookie_file{};
  std::string output{};  ///< a file; `-`: standard output; empty: not given
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

  /// Reports whether content is saved to files.
  [[nodiscard]] bool saves() const noexcept {
    return download || (!output.empty() && output != "-");
  }
};

/// Adds the options, in groups, to a command, with a check of their combinations after parsing.
/// `options` must outlive the parser.
void declare(CLI::App& parser, GetOptions& options);

/// Parses a URL argument; the scheme defaults to http://, the host to localhost.
///
/// Ends with: MalformedUrl, with a text that says what is wrong.
Result<Url, Problem> parse_url_argument(std::string_view text);

/// Parses `HOST:PORT:ADDRESS`; an IPv6 address may be in brackets.
///
/// Ends with: CLI::ValidationError
HostOverride parse_override(const std::string& text);

}  // namespace skua::cli
