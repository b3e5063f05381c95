// SPDX-License-Identifier: MIT
// The `skua` command.
#include <CLI/CLI.hpp>

#include "base/file_io.hpp"
#include "commands.hpp"
#include "suggestion.hpp"
#include "system.hpp"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

namespace {

int run(const std::vector<std::string>& arguments) {
  CLI::App parser;
  const auto actions = skua::cli::declare_commands(parser);
  // Checked before parsing: a --help after it would hide the unknown command.
  const auto is_named = [&](const auto& one) { return one.first->get_name() == arguments.at(1); };
  if (arguments.size() > 1 && !arguments[1].starts_with('-') &&
      std::ranges::none_of(actions, is_named)) {
    std::fputs(skua::cli::unknown_command(parser, arguments[1]).c_str(), stderr);
    return skua::cli::misunderstood;
  }
  std::vector<const char*> words;
  words.reserve(arguments.size());
  for (const std::string& argument : arguments) words.push_back(argument.c_str());
  try {
    parser.parse(static_cast<int>(words.size()), words.data());
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
  skua::cli::prepare_process();
  skua::base::raise_open_files_limit();
  try {
    return run(skua::cli::arguments_of(count, arguments));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "skua: %s\n", error.what());
    return skua::cli::failed;
  }
}
