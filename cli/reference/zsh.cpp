// SPDX-License-Identifier: MIT
// In: the table of options. Out: a completion for zsh's _arguments, where each option is one
// specification: '(-p --port)'{-p+,--port=}'[help]:PORT:action'.
#include "reference/output.hpp"
#include "reference/text.hpp"

namespace skua::cli::reference {
namespace {

std::string action_of(const Parameter& one) {
  switch (one.value) {
    case Value::File: return "_files";
    case Value::Folder: return "_files -/";
    case Value::Choice: return "(" + joined(one.choices, " ") + ")";
    case Value::None:
    case Value::Text: break;
  }
  return " ";  // only shows what is expected
}

// `:label:action`, after an option or an operand
std::string argument(const Parameter& one) {
  return ":" + escaped(one.label, ":\\") + ":" + action_of(one);
}

// -p+ takes its value in the same word or in the next; --port= also after an equals sign.
std::string with_value(const std::string& name, Value value) {
  if (value == Value::None) return name;
  return name + (name.starts_with("--") ? "=" : "+");
}

std::string option(const Parameter& one) {
  const std::string rest =
      "[" + escaped(one.text, "[]:\\") + "]" + (one.value == Value::None ? "" : argument(one));
  const std::string before = one.repeats            ? "*"
                             : one.names.size() > 1 ? "(" + joined(one.names, " ") + ")"
                                                    : "";
  const auto name = [&one](const std::string& text) { return with_value(text, one.value); };
  if (one.names.size() == 1) return shell_quoted(before + name(one.names.front()) + rest);
  const std::string names = "{" + joined(one.names, ",", name) + "}";
  return (before.empty() ? "" : shell_quoted(before)) + names + shell_quoted(rest);
}

std::string operands(const Command& command) {
  std::string out;
  for (std::size_t i = 0; i < command.operands.size(); ++i) {
    const Parameter& one = command.operands[i];
    const std::string place = one.repeats ? "*" : std::to_string(i + 1) + (one.required ? "" : ":");
    out += " \\\n        " + shell_quoted(place + argument(one));
  }
  return out;
}

std::string commands(const Family& family) {
  return joined(family.commands, "", [](const Command& command) {
    return "    " + shell_quoted(command.name + ":" + escaped(command.text, ":\\")) + "\n";
  });
}

// A family's options are said once; its commands differ in their operands.
std::string cases(const Family& family) {
  std::string out = "    " + names_of(family, " | ") + ")\n      specs=(";
  for (const Parameter& one : family.options) out += "\n        " + option(one);
  out += "\n      ) ;;\n";
  return out;
}

}  // namespace

std::string zsh_completion(const Table& table) {
  std::string out =
      "#compdef skua\n# zsh completion for skua, generated from the options of the command\n\n"
      "_skua() {\n  local state\n  local -a names specs\n  names=(\n" +
      joined(table.families, "", commands) + "  )\n  _arguments -C";
  for (const Parameter& one : table.options) out += " \\\n    " + option(one);
  out +=
      " \\\n    '1:command:->command' \\\n    '*::argument:->arguments'\n"
      "  if [[ $state == command ]]; then\n    _describe command names\n    return\n  fi\n"
      "  [[ $state == arguments ]] || return\n"
      "  case $words[1] in\n" +
      joined(table.families, "", cases) + "  esac\n  case $words[1] in\n";
  for (const Family& family : table.families) {
    for (const Command& command : family.commands) {
      out +=
          "    " + command.name + ")\n      _arguments -s -S $specs" + operands(command) + " ;;\n";
    }
  }
  return out + "  esac\n}\n\n_skua \"$@\"\n";
}

}  // namespace skua::cli::reference
