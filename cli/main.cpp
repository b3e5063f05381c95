// SPDX-License-Identifier: MIT
// The `skua` command: a table with one row per subcommand.
#include <CLI/CLI.hpp>

#include "base/file_io.hpp"
#include "bench/command.hpp"
#include "get/command.hpp"
#include "serve/command.hpp"
#include "skua/release.hpp"
#include "suggestion.hpp"
#include "ws/command.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <functional>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using skua::cli::configure_request;

struct Command {
  const char* name;
  const char* description;
  skua::cli::Configure* configure;
};

constexpr Command commands[] = {
    {"serve", "Serve a folder over HTTP", skua::cli::configure_serve},
    {"get", "Fetch a URL, or download it to a file", configure_request<skua::Method::Get>},
    {"post", "Send a POST request", configure_request<skua::Method::Post>},
    {"put", "Send a PUT request", configure_request<skua::Method::Put>},
    {"patch", "Send a PATCH request", configure_request<skua::Method::Patch>},
    {"delete", "Send a DELETE request", configure_request<skua::Method::Delete>},
    {"head", "Send a HEAD request and print the head", configure_request<skua::Method::Head>},
    {"request", "Send a request with any method", skua::cli::configure_any_method},
    {"bench", "Load-test a server", skua::cli::configure_bench},
    {"ws", "Connect to a WebSocket server", skua::cli::configure_ws},
};

// If a standard descriptor is closed, a socket or file of ours would get its number, and output
// would go there. Opens /dev/null instead, in a mode that still makes reads or writes fail.
void hold_standard_descriptors() noexcept {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(descriptor, F_GETFD) >= 0) continue;
    // open() returns the lowest free number: this one.
    (void)!::open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  }
}

bool has_command(std::string_view word) {
  const auto is_it = [word](const Command& command) { return word == command.name; };
  return std::any_of(std::begin(commands), std::end(commands), is_it);
}

int run(int count, char** arguments) {
  CLI::App parser("An HTTP toolkit.", "skua");
  parser.set_version_flag("--version", "skua " SKUA_VERSION_TEXT, "Print the version and exit");
  parser.set_help_flag("-h,--help", "Print this help and exit");
  parser.require_subcommand(0, 1);
  parser.failure_message([](const CLI::App* failed, const CLI::Error& error) {
    return skua::cli::command_line_error(*failed, error);
  });
  std::vector<std::pair<CLI::App*, std::function<int()>>> actions;
  for (const Command& command : commands) {
    CLI::App* const own = parser.add_subcommand(command.name, command.description);
    actions.emplace_back(own, command.configure(*own));
  }
  parser.footer("Run `skua COMMAND --help` for more information about a command.");
  // Checked before parsing: a --help after it would hide the unknown command.
  if (count > 1 && *arguments[1] != '-' && !has_command(arguments[1])) {
    std::fputs(skua::cli::unknown_command(parser, arguments[1]).c_str(), stderr);
    return skua::cli::misunderstood;
  }
  try {
    parser.parse(count, arguments);
  } catch (const CLI::ParseError& error) {
    return parser.exit(error) == 0 ? skua::cli::succeeded : skua::cli::misunderstood;
  }
  for (const auto& [own, action] : actions) {
    if (own->parsed()) return action();
  }
  std::fputs(parser.help().c_str(), stdout);
  return skua::cli::succeeded;
}

}  // namespace

int main(int count, char** arguments) {
  hold_standard_descriptors();
  // A closed pipe or a file size limit is an error of the write, not the end of the program.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  skua::base::raise_open_files_limit();
  try {
    return run(count, arguments);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "skua: %s\n", error.what());
    return skua::cli::failed;
  }
}
