// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "skua/bytes.hpp"
#include "skua/error.hpp"
#include "skua/inherited_sockets.hpp"

namespace skua::service {

/// A program that is going to take the place of this one.
struct Successor {
  std::vector<std::string> command;      ///< the program, by its path or name, and its arguments
  std::vector<std::string> variables{};  ///< for its environment, besides those of this process
  std::vector<ListeningSocket> sockets{};
  Duration deadline{};
  std::function<bool()> is_unwanted{};  ///< asked now and then; ends the wait
};

/// Starts the program: it inherits the sockets, as inherited_sockets() says, the standard
/// descriptors, and a pipe that ServiceManager::ready() writes to. It gets no blocked signals.
/// Returns its process id once it is ready. Otherwise, it is killed, and has ended on return.
///
/// Waits for: the program, at most `deadline`.
/// Ends with: a text that says what went wrong.
Result<int, Problem> start(const Successor& successor);

/// Returns the program and the arguments of this process.
/// Ends with: Unsupported except on Linux.
Result<std::vector<std::string>, Problem> own_command();

}  // namespace skua::service
