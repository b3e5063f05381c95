// SPDX-License-Identifier: MIT
// In: the table of options. Out: a completion for bash 4 or newer, without the functions of
// bash-completion. Readline itself completes files and folders: it knows quotes and `~`.
#include <algorithm>
#include <utility>

#include "reference/output.hpp"
#include "reference/text.hpp"

namespace skua::cli::reference {
namespace {

constexpr const char* beginning =
    R"(# bash completion for skua, generated from the options of the command

_skua_words() {
  mapfile -t COMPREPLY < <(compgen -W "$1" -- "$word")
}

_skua() {
  local word=$2 previous=$3
  COMPREPLY=()
  # Bash splits --option=value into three words.
  if [[ $word == = ]]; then
    word=
  elif [[ $previous == = ]]; then
    previous=${COMP_WORDS[COMP_CWORD - 2]}
  fi
)";

constexpr const char* end = R"(  esac
}
complete -F _skua skua
)";

std::string all_names(const std::vector<Parameter>& options) {
  return joined(options, " ", [](const Parameter& one) { return joined(one.names, " "); });
}

// The command that completes a value; empty if nothing can be suggested.
std::string completed(const Parameter& one) {
  switch (one.value) {
    case Value::File: return "compopt -o default";
    case Value::Folder: return "compopt -o dirnames";
    case Value::Choice: return "_skua_words " + shell_quoted(joined(one.choices, " "));
    case Value::None:
    case Value::Text: break;
  }
  return "";
}

// Cases for the word after an option that takes a value, one for each kind of value.
std::string values(const std::vector<Parameter>& options) {
  std::vector<std::pair<std::string, std::vector<std::string>>> cases;  // a command, its options
  for (const Parameter& one : options) {
    if (one.value == Value::None) continue;
    const std::string command = completed(one);
    auto place = std::ranges::find(cases, command, [](const auto& each) { return each.first; });
    if (place == cases.end()) place = cases.insert(place, {command, {}});
    place->second.insert(place->second.end(), one.names.begin(), one.names.end());
  }
  if (cases.empty()) return "";
  std::string out = "      case $previous in\n";
  for (const auto& [command, names] : cases) {
    out += "        " + joined(names, " | ") + ") " + command + (command.empty() ? "" : "; ") +
           "return ;;\n";
  }
  return out + "      esac\n";
}

// The first operand of a command, if it can be completed.
std::string operand(const Command& command) {
  if (command.operands.empty()) return "";
  const Parameter& first = command.operands.front();
  const std::string how = completed(first);
  if (how.empty()) return "";
  const bool is_second_word = first.value == Value::Choice;
  return "      elif [[ ${COMP_WORDS[1]} == " + command.name + " ]]" +
         (is_second_word ? " && ((COMP_CWORD == 2))" : "") + "; then\n        " + how + "\n";
}

}  // namespace

std::string bash_completion(const Table& table) {
  const std::string commands =
      joined(table.families, " ", [](const Family& family) { return names_of(family, " "); });
  std::string out = std::string(beginning) + "  if ((COMP_CWORD == 1)); then\n    _skua_words " +
                    shell_quoted(commands + " " + all_names(table.options)) +
                    "\n    return\n  fi\n  case ${COMP_WORDS[1]} in\n";
  for (const Family& family : table.families) {
    out += "    " + names_of(family, " | ") + ")\n" + values(family.options) +
           "      if [[ $word == -* ]]; then\n        _skua_words " +
           shell_quoted(all_names(family.options)) + "\n" + joined(family.commands, "", operand) +
           "      fi\n      ;;\n";
  }
  return out + end;
}

}  // namespace skua::cli::reference
