// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <optional>

#include "serve/log/log_options.hpp"
#include "serve/log/log_writer.hpp"
#include "serve/log/rotation_signal.hpp"
#include "serve/options.hpp"
#include "serve/sandbox/user.hpp"
#include "skua/error.hpp"
#include "skua/options.hpp"

namespace skua::cli {

/// The access log of a server: a line for each response, in the format of --log-format.
class AccessLog final {
 public:
  /// Opens the log that the options ask for; null if they ask for none. To be called before threads
  /// are started and rights are given up. `say` prints messages.
  ///
  /// Ends with: a text that names the option.
  static Result<std::unique_ptr<AccessLog>, Problem> open(const ServeOptions& options,
                                                          const std::optional<User>& user,
                                                          LogWriter::Say say);

  AccessLog(const LogOptions& options, LogFile file, LogWriter::Say say);

  /// Starts to write, and to open the file again on SIGUSR1.
  void start();
  /// Adds the line of a response. Any thread may call it.
  void add(const RequestRecord& record);
  /// Reports whether lines go to a terminal.
  [[nodiscard]] bool is_terminal() const noexcept { return is_terminal_; }

 private:
  LogOptions options_;
  bool is_terminal_;
  LogWriter writer_;
  RotationSignal signal_;  // last: calls the writer
};

}  // namespace skua::cli
