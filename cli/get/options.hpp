// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "configure.hpp"
#include "get/netrc.hpp"
#include "get/request_items.hpp"
#include "skua/client.hpp"
#include "skua/release.hpp"
#include "skua/url.hpp"
#include "terminal.hpp"

namespace skua::cli {

/// How often failed requests are repeated.
struct RetryOptions {
  unsigned count = 0;                 ///< of attempts after the first
  Duration delay = 1s;                ///< before the second attempt; then twice as long each time
  Duration max_time = no_time_limit;  ///< from the first attempt to the last
};

/// Options of `skua get`, `post`, `put`, `patch`, `delete`, `head` and `request`.
struct GetOptions {
  std::string method{};     ///< empty before parsing: the first argument
  bool any_method = false;  ///< the method was given as a word, so it may have content
  std::vector<Url> urls{};
  std::string input_file{};  ///< a list of further URLs
  RequestItems items{};
  std::optional<std::string> data{};  ///< the content, `@FILE`, or `-` for standard input
  bool is_data_literal = false;       ///< `data` is the content, whatever it begins with
  std::string type{};                 ///< media type of the content; empty: guessed
  std::optional<std::pair<std::string, std::string>> credentials{};  ///< user and password
  std::string token{};
  NetrcOptions netrc{};
  std::string cookie_file{};                 ///< read before the request
  std::string cookie_output{};               ///< written after it
  std::string session{};                     ///< the name of one; empty: none
  std::string config{};                      ///< a file of options; empty: the user's own
  std::optional<std::string> json_report{};  ///< a file, or empty for standard error
  std::string write_out{};                   ///< a format; see write_out_problem()
  std::string output{};                      ///< a file; `-`: standard output; empty: not given
  std::string head_file{};  ///< takes the heads of all responses; `-`: standard output; empty: none
  std::string etag_file{};  ///< takes the ETag of the response; empty: none
  unsigned parallel = 3;
  std::uint64_t bytes_per_second = 0;  ///< of each transfer's content; zero: no limit
  RetryOptions retry{};
  ClientOptions client{.proxy = {.from_environment = true},
                       .user_agent = "skua/" SKUA_VERSION_TEXT};
  Colour colour = Colour::Auto;
  bool digest = false;
  bool form = false;
  bool multipart = false;  ///< a form is multipart even without a file
  bool json = false;
  bool download = false;
  bool resume = false;
  bool fail = false;
  unsigned fails_from = 300;       ///< the lowest status that --fail means
  bool hides_errors = false;       ///< --fail prints no content of these
  bool saves_errors = false;       ///< saves content whatever the status
  bool refuses_redirects = false;  ///< a redirect that is not followed is a failure
  bool is_conditional = false;     ///< 304 is a success, which saves nothing
  bool keeps_dots = false;         ///< sends dot segments of URLs as they are
  bool makes_folders = false;      ///< makes the folders of `output`
  bool hides_head = false;         ///< prints no head of a response to HEAD
  bool is_first = true;            ///< of several on a command line: later ones append to head_file
  bool timing = false;
  bool verbose = false;
  bool shows_secrets = false;  ///< --verbose hides no credentials
  bool with_head = false;
  bool quiet = false;
  bool raw = false;
  bool session_read_only = false;
  bool no_config = false;
  bool offline = false;  ///< prints the request instead of sending it
  bool curl = false;     ///< prints the curl command instead of sending anything

  /// Reports whether content is saved to files.
  [[nodiscard]] bool saves() const noexcept {
    return download || (!output.empty() && output != "-");
  }
};

/// Adds the options, in groups, to a command, with a check of their combinations after parsing.
/// `options` must outlive the parser.
void declare(CLI::App& parser, GetOptions& options);

}  // namespace skua::cli
