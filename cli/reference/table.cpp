// SPDX-License-Identifier: MIT
// In: the parser that the command itself uses. Out: its options as plain data.
#include "reference/table.hpp"

#include <CLI/CLI.hpp>

#include <string_view>
#include <utility>

#include "commands.hpp"
#include "common_options.hpp"

namespace skua::cli::reference {
namespace {

// The words of the validator that one_of() makes: `{auto,epoll}`.
std::vector<std::string> choices_of(const CLI::Option& option) {
  const std::string kind = option.get_type_name();
  const std::size_t begin = kind.find('{');
  if (begin == kind.npos) return {};
  return CLI::detail::split(kind.substr(begin + 1, kind.find('}', begin) - begin - 1), ',');
}

Value value_of(const CLI::Option& option, const Parameter& parameter) {
  if (option.get_items_expected_max() == 0) return Value::None;
  if (!parameter.choices.empty()) return Value::Choice;
  if (parameter.label == "DIR") return Value::Folder;
  const bool is_file = parameter.label == "FILE" || parameter.label == "PATH";
  return is_file ? Value::File : Value::Text;
}

Parameter parameter_of(const CLI::Option& option) {
  Parameter parameter{.text = option.get_description(),
                      .group = option.get_group(),
                      .choices = choices_of(option),
                      .required = option.get_required(),
                      .repeats = option.get_items_expected_max() > 1};
  for (const std::string& name : option.get_snames()) parameter.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) parameter.names.push_back("--" + name);
  parameter.fallback = default_of(option);
  if (option.get_positional()) {
    parameter.names = {option.get_name(true)};
    parameter.label = parameter.names.front();
  } else {
    // The text of the value in --help: `PORT [8080]`.
    const std::string& shown = option.get_option_text();
    const std::size_t end = parameter.fallback.empty() ? shown.npos : shown.rfind('[');
    parameter.label = CLI::detail::trim_copy(shown.substr(0, end));
  }
  parameter.value = value_of(option, parameter);
  return parameter;
}

// Options in the order of their declaration, except that --help and --version are last. Those
// without a group are hidden.
std::vector<Parameter> options_of(const CLI::App& parser) {
  std::vector<Parameter> options;
  std::vector<Parameter> last;
  for (const CLI::Option* const option : parser.get_options()) {
    if (option->get_positional() || option->get_group().empty()) continue;
    const bool is_late = option == parser.get_help_ptr() || option == parser.get_version_ptr();
    (is_late ? last : options).push_back(parameter_of(*option));
  }
  options.insert(options.end(), last.begin(), last.end());
  return options;
}

Command command_of(const CLI::App& parser) {
  Command command{.name = parser.get_name(), .text = parser.get_description()};
  for (const CLI::Option* const option : parser.get_options()) {
    if (option->get_positional()) command.operands.push_back(parameter_of(*option));
  }
  return command;
}

}  // namespace

Table read_table() {
  CLI::App parser;
  Table table;
  for (const auto& [own, action] : declare_commands(parser)) {
    std::vector<Parameter> options = options_of(*own);
    if (table.families.empty() || table.families.back().options != options) {
      table.families.push_back({.options = std::move(options), .footer = own->get_footer()});
    }
    table.families.back().commands.push_back(command_of(*own));
  }
  table.options = options_of(parser);
  return table;
}

}  // namespace skua::cli::reference
