// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/disk.hpp"
#include "skua/access_log.hpp"
#include "skua/error.hpp"

namespace skua::operations {

/// The end of a log: a file that is only appended to, standard output, a pipe or a device.
///
/// The folder stays open, so that the file can be opened again by its name although the process
/// has become another user, or the folder has been renamed.
class LogFile final {
 public:
  /// Opens a file, or standard output for `-`. A file that is missing is made: its owner may write
  /// it, and its group read it. It then belongs to `owner`, if there is one, who has to open it
  /// again later.
  ///
  /// Ends with: the system's error; the text names the file.
  static Result<LogFile, Problem> open(const std::string& path,
                                       const std::optional<FileOwner>& owner);

  /// Opens the file by its name again, and makes it if it was moved away. On failure, the old file
  /// stays open. Does nothing for standard output, pipes and devices.
  Result<void> reopen();

  /// Blocks, in this thread, the signals of writes that fail: SIGPIPE and SIGXFSZ would end the
  /// process.
  static void block_signals() noexcept;

  /// Writes as much as the file takes within `patience`, which may be nothing, but never waits for
  /// longer if it is a pipe, a terminal or a socket. Returns the size.
  Result<std::size_t> write_some(std::string_view bytes, std::chrono::milliseconds patience);

  /// Returns the path, or `standard output`.
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] bool is_terminal() const noexcept;

 private:
  enum class Kind : unsigned char { File, Socket, Other };

  Result<void> open_by_name(const std::optional<FileOwner>& owner);
  void look_at_kind();

  std::string name_;
  std::string file_name_;    // in the folder; empty: standard output
  disk::Descriptor folder_;  // POSIX only
  disk::Descriptor file_;
  Kind kind_ = Kind::File;
};

}  // namespace skua::operations
