// SPDX-License-Identifier: MIT
// The `skua` command.
#include <CLI/CLI.hpp>

#include "base/file_io.hpp"
#include "commands.hpp"
#include "suggestion.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>

namespace {

// If a standard descriptor is closed, a socket or file of ours would get its number, and output
// would go there. Opens /dev/null instead, in a mode that still makes reads or writes fail.
void hold_standard_descriptors() noexcept {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(descriptor, F_GETFD) >= 0) continue;
    // open() returns the lowest free number: this one.
    (void)!::open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  }
}

int run(int count, char** arguments) {
  CLI::App parser;
  const auto actions = skua::cli::declare_commands(parser);
  // Checked before parsing: a --help after it would hide the unknown command.
  const auto is_named = [&](const auto& one) { return one.first->get_name() == arguments[1]; };
  if (count > 1 && *arguments[1] != '-' && std::ranges::none_of(actions, is_named)) {
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
