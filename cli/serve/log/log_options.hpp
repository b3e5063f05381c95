// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "configure.hpp"
#include "serve/sandbox/user.hpp"
#include "skua/access_log.hpp"
#include "skua/error.hpp"

namespace skua::cli {

struct ServeOptions;

/// Options of the access log.
struct LogOptions {
  std::string file{};      ///< `-` for standard output; empty: none
  bool on_output = false;  ///< --access-log, the short form of `-`
  std::string format{};    ///< as given; empty: combined

  [[nodiscard]] bool is_on() const noexcept { return on_output || !file.empty(); }
  /// Returns where to write: a path, or `-`.
  [[nodiscard]] std::string target() const { return on_output ? "-" : file; }
};

/// Adds --log, --log-format and --access-log. `log` must outlive the parser.
void declare_log(CLI::App& parser, LogOptions& log);

/// Opens the log that the options ask for; null if they ask for none. Refuses a format without a
/// log, and a log that clients could ask for. Call it before threads are started and rights are
/// given up. `say` prints messages of one line.
///
/// Ends with: a text that names the option.
Result<std::unique_ptr<AccessLog>, Problem> open_log(const ServeOptions& options,
                                                     const std::optional<User>& user,
                                                     std::function<void(std::string_view)> say);

/// Returns the folder of the log, which is opened again there; also that of the file to which a
/// link leads. Empty if the log is not a file.
std::vector<std::string> log_folders(const LogOptions& log);

}  // namespace skua::cli
