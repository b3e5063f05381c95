// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "skua/bytes.hpp"
#include "skua/error.hpp"
#include "skua/inherited_sockets.hpp"

namespace skua::cli {

/// A process that stays outside of the sandbox, and keeps the user: at the server's wish, it starts
/// the command of this process once more, to take over the server's sockets. It does nothing else.
///
/// It ends with the server, or once a new process serves.
class Launcher final {
 public:
  /// Starts the process. To be called first of all, before files and sockets are opened.
  /// Ends with: Unsupported on Windows; the errors of service::own_command(), fork() and the like.
  Result<void, Problem> start();
  Launcher() = default;
  Launcher(const Launcher&) = delete;
  Launcher& operator=(const Launcher&) = delete;
  ~Launcher() { end(); }

  /// Starts the command with these sockets, and returns the process's id once it serves.
  ///
  /// Waits for: that, at most half a minute. SIGINT and SIGTERM, if pending, end the wait.
  /// Ends with: a text that says why it does not serve.
  Result<int, Problem> launch(const std::vector<ListeningSocket>& sockets) const;
  /// Ends the process, and one that it is starting, and waits for that for a moment.
  void end() noexcept;

 private:
  int channel_ = -1;
};

}  // namespace skua::cli
