// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "skua/error.hpp"

namespace skua::cli {

/// Returns the URL by which a browser of this machine reaches a server: that of the server, with a
/// loopback address in place of the one that stands for all; empty for a Unix socket.
std::string browser_url(const std::string& url);

/// The program that opens a URL in the user's browser.
class BrowserLauncher {
 public:
  /// Starts it, without a shell, and without files, sockets or blocked signals of this process. To
  /// be called before the sandbox forbids to start programs.
  ///
  /// Ends with: a text that names the program; Unsupported for an empty URL.
  Result<void, Problem> start(const std::string& url);
  /// Prints a line on stderr if the program fails, whenever it ends.
  void report_failure() const;

 private:
  int process_ = -1;
};

}  // namespace skua::cli
