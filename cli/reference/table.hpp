// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

namespace skua::cli::reference {

/// The kind of an option's value or of an operand.
enum class Value {
  None,  ///< a flag
  Text,
  File,
  Folder,
  Choice,
};

/// An option or an operand of a command.
struct Parameter {
  std::vector<std::string> names{};  ///< `-p`, `--port`; the one name of an operand: `DIR`
  std::string text{};                ///< one sentence, without a full stop
  std::string group{};               ///< the heading in --help
  Value value = Value::None;
  std::string label{};     ///< the name of the value: `PORT`
  std::string fallback{};  ///< the value if the option is not given; empty: none
  std::vector<std::string> choices{};
  bool required = false;
  bool repeats = false;

  bool operator==(const Parameter&) const = default;
};

struct Command {
  std::string name{};  ///< `serve`
  std::string text{};  ///< one sentence, without a full stop
  std::vector<Parameter> operands{};
};

/// Commands with the same options, which share a manual page named after the first.
struct Family {
  std::vector<Command> commands{};
  std::vector<Parameter> options{};
  std::string footer{};  ///< of --help
};

/// All that the command line of `skua` declares.
struct Table {
  std::vector<Parameter> options{};  ///< of `skua` itself
  std::vector<Family> families{};
};

Table read_table();

}  // namespace skua::cli::reference
