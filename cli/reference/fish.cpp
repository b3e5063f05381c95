// SPDX-License-Identifier: MIT
// In: the table of options. Out: a completion for fish, a `complete` command for each option.
#include "reference/output.hpp"
#include "reference/text.hpp"

namespace skua::cli::reference {
namespace {

constexpr const char* beginning =
    R"(# fish completion for skua, generated from the options of the command

function __skua_command_is --description 'Report whether the first word after skua is one of these'
    set --local words (commandline --tokenize --cut-at-cursor --current-process) ''
    contains -- "$words[2]" $argv
end

complete --command skua --no-files
)";

// In fish, only the backslash and the single quote are special between single quotes.
std::string quoted(std::string_view text) { return "'" + escaped(text, "\\'") + "'"; }

// Completes a value. Without files, fish suggests nothing but what the option names.
std::string value_of(const Parameter& one) {
  switch (one.value) {
    case Value::None: return "";
    case Value::Text: return " --exclusive";
    case Value::File: return " --require-parameter --force-files";
    case Value::Folder: return " --exclusive --arguments '(__fish_complete_directories)'";
    case Value::Choice: return " --exclusive --arguments " + quoted(joined(one.choices, " "));
  }
  return "";
}

std::string option(const std::string& condition, const Parameter& one) {
  std::string out = "complete --command skua --condition " + quoted(condition);
  for (const std::string& name : one.names) {
    out += name.starts_with("--") ? " --long-option " + name.substr(2)
                                  : " --short-option " + name.substr(1);
  }
  return out + value_of(one) + " --description " + quoted(one.text) + "\n";
}

// The first operand of a command, if it can be completed.
std::string operand(const Command& command) {
  if (command.operands.empty()) return "";
  const Parameter& first = command.operands.front();
  if (first.value == Value::Text) return "";
  std::string condition = "__skua_command_is " + command.name;
  if (first.value == Value::Choice) {
    condition += "; and test (count (commandline --tokenize --cut-at-cursor)) -eq 2";
  }
  return "complete --command skua --condition " + quoted(condition) + value_of(first) + "\n";
}

std::string command(const Command& one) {
  return "complete --command skua --condition " + quoted("__skua_command_is ''") + " --arguments " +
         one.name + " --description " + quoted(one.text) + "\n";
}

}  // namespace

std::string fish_completion(const Table& table) {
  std::string out = beginning;
  for (const Parameter& one : table.options) out += option("__skua_command_is ''", one);
  for (const Family& family : table.families) {
    out += "\n" + joined(family.commands, "", command) + joined(family.commands, "", operand);
    const std::string condition = "__skua_command_is " + names_of(family, " ");
    for (const Parameter& one : family.options) out += option(condition, one);
  }
  return out;
}

}  // namespace skua::cli::reference
