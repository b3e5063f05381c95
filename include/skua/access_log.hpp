// SPDX-License-Identifier: MIT
#pragma once

#include "skua/release.hpp"  // first: checks the C++ version

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "skua/bytes.hpp"
#include "skua/config.hpp"
#include "skua/error.hpp"
#include "skua/literals.hpp"
#include "skua/log_level.hpp"
#include "skua/options.hpp"

namespace skua {

/// The user and group that a file is to belong to, as numbers of the system.
struct FileOwner {
  unsigned user = 0;
  unsigned group = 0;
};

/// Returns the names of query parameters that usually hold secrets, such as `access_token`,
/// `client_secret`, `code`, `jwt`, `password`, `session` and `X-Amz-Signature`. Lines of Hooks::log
/// never have their values.
[[nodiscard]] SKUA_API std::vector<std::string> secret_parameters();

/// Options of an access log.
struct AccessLogOptions {
  std::string file = "-";  ///< appended to, and made if it is missing: its owner may write it, its
                           ///< group read it. `-` is standard output
  /// `combined`, `json`, or a text with words such as `$time $status $target`. Words of nginx such
  /// as `$remote_addr` and `$request_time` are known, too.
  std::string format = "combined";
  /// The share of responses that get a line, from 0 to 1. Those that failed (5xx) or were cut
  /// always do.
  double sample = 1;
  /// Names of query parameters whose values are replaced by `***`, in targets and in Referer.
  std::vector<std::string> masked = secret_parameters();
  std::size_t queue_bytes = 16_MiB;  ///< lines that wait for the file; more are dropped and counted
  bool reopens_on_signal = true;     ///< on SIGUSR1, which then does not end the process
  std::optional<FileOwner> owner{};  ///< whom a new file belongs to, if not to this user
  /// Takes messages of one line, such as of a disk that is full, on the log's thread. What it
  /// throws is dropped.
  std::function<void(std::string_view)> on_problem{};
};

/// A log with a line for each response. A thread of its own writes the lines, so that a slow disk
/// or a stalled reader delays no request. A line is written whole or not at all.
///
/// ```cpp
/// auto log = skua::AccessLog::open({.file = "/var/log/shop/access.log", .format = "json"});
/// if (!log) return fail(log.error());
/// options.hooks.on_response = [&](const skua::RequestRecord& record) { (*log)->add(record); };
/// ```
/// Lines are printable ASCII: whatever a peer sends is escaped and cut after 2 KiB, so that no
/// request can forge a line or drive a terminal.
class SKUA_API AccessLog final {
 public:
  /// Opens a log. Call it before other threads are started if it shall be opened again on SIGUSR1,
  /// so that they inherit that the signal is blocked.
  ///
  /// Ends with: the system's error, with a text that names the file; MalformedText if the format
  ///            has an unknown word, with a text that lists the words.
  static Result<std::unique_ptr<AccessLog>, Problem> open(AccessLogOptions options);

  AccessLog(const AccessLog&) = delete;
  AccessLog& operator=(const AccessLog&) = delete;
  /// Writes what waits, for as long as the file takes it.
  ~AccessLog();

  /// Starts to write. Lines may be added before.
  void start();
  /// Adds the line of a response; never waits for the file. Thread-safe.
  void add(const RequestRecord& record) noexcept;
  /// Opens the file by its name again, after it was moved away. Thread-safe.
  void reopen();

  /// Returns how many lines were dropped because the queue was full or the file could not be
  /// written. Thread-safe.
  [[nodiscard]] std::uint64_t lost_count() const;
  /// Reports whether lines go to a terminal.
  [[nodiscard]] bool is_terminal() const noexcept;

 private:
  struct Impl;
  explicit AccessLog(std::unique_ptr<Impl> impl) noexcept;

  std::unique_ptr<Impl> impl_;
};

}  // namespace skua
