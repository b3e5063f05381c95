// SPDX-License-Identifier: MIT
// The command line of `skua`: a table with one row per subcommand.
#include "commands.hpp"

#include <CLI/CLI.hpp>

#include <string>

#include "bench/command.hpp"
#include "get/command.hpp"
#include "get/curl/command.hpp"
#include "proxy/command.hpp"
#include "serve/command.hpp"
#include "skua/release.hpp"
#include "suggestion.hpp"
#include "ws/command.hpp"

namespace skua::cli {
namespace {

struct Command {
  const char* name;
  const char* description;
  Configure* configure;
};

constexpr Command commands[] = {
    {"serve", "Serve a folder over HTTP", configure_serve},
    {"proxy", "Pass requests on to other servers", configure_proxy},
    {"get", "Fetch a URL, or download it to a file", configure_request<Method::Get>},
    {"post", "Send a POST request", configure_request<Method::Post>},
    {"put", "Send a PUT request", configure_request<Method::Put>},
    {"patch", "Send a PATCH request", configure_request<Method::Patch>},
    {"delete", "Send a DELETE request", configure_request<Method::Delete>},
    {"head", "Send a HEAD request and print the head", configure_request<Method::Head>},
    {"request", "Send a request with any method", configure_any_method},
    {"curl", "Send the request of a curl command line", curl::configure},
    {"bench", "Load-test a server", configure_bench},
    {"ws", "Connect to a WebSocket server", configure_ws},
};

}  // namespace

Actions declare_commands(CLI::App& parser) {
  parser.allow_windows_style_options(false);  // or `/folder` would be an option there
  parser.name("skua");
  parser.description("An HTTP toolkit.");
  parser.set_version_flag("--version", "skua " SKUA_VERSION_TEXT, "Print the version and exit");
  parser.set_help_flag("-h,--help", "Print this help and exit");
  parser.require_subcommand(0, 1);
  parser.failure_message([](const CLI::App* parsed, const CLI::Error& error) {
    return command_line_error(*parsed, error);
  });
  Actions actions;
  for (const Command& command : commands) {
    CLI::App* const own = parser.add_subcommand(command.name, command.description);
    actions.emplace_back(own, command.configure(*own));
  }
  parser.footer("Run `skua COMMAND --help` for more information about a command.");
  return actions;
}

}  // namespace skua::cli
