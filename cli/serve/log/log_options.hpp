// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "configure.hpp"
#include "serve/sandbox/user.hpp"
#include "server/access_log.hpp"
#include "skua/error.hpp"

namespace skua::cli {

struct ServeOptions;

/// How a line of the access log looks.
enum class LogFormat { Combined, Json, Pattern };

/// Options of the access log.
struct LogOptions {
  std::string file{};      ///< `-` for standard output; empty: none
  bool on_output = false;  ///< --access-log, the short form of `-`
  std::string format{};    ///< as given; empty: combined
  LogFormat kind = LogFormat::Combined;
  std::optional<server::LogPattern> pattern{};  ///< if the format is one

  [[nodiscard]] bool is_on() const noexcept { return on_output || !file.empty(); }
  /// Returns where to write: a path, or `-`.
  [[nodiscard]] std::string target() const { return on_output ? "-" : file; }
};

/// Adds --log, --log-format and --access-log. `log` must outlive the parser.
void declare_log(CLI::App& parser, LogOptions& log);

/// Refuses a format without a log, and a log that clients could ask for.
Result<void, Problem> check_log(const ServeOptions& options);

/// Returns the folder of the log, which is opened again there; also that of the file to which a
/// link leads. Empty if the log is not a file.
std::vector<std::string> log_folders(const LogOptions& log);

/// Formats a line.
std::string log_line(const LogOptions& log, const RequestRecord& record, server::LogTime now);

}  // namespace skua::cli
