// SPDX-License-Identifier: MIT
// The options of the access log.
#include "serve/log/log_options.hpp"

#include <CLI/CLI.hpp>

#include "operations/log_line.hpp"
#include "serve/options.hpp"
#include "serve/site/virtual_hosts.hpp"
#include "system.hpp"

#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

namespace skua::cli {
namespace {

namespace fs = std::filesystem;

fs::path folder_of_log(const std::string& file) {
  const fs::path folder = fs::path(file).parent_path();
  return folder.empty() ? fs::path(".") : folder;
}

void set_format(LogOptions& log, const std::string& text) {
  log.format = text;
  if (text == "combined" || text == "json") return;
  if (const auto pattern = operations::LogPattern::parse(text); !pattern) {
    throw CLI::ValidationError(
        "--log-format",
        "'" + text + "' is not combined, json or a line of words: " + pattern.error().text);
  }
}

Result<void, Problem> check_log(const ServeOptions& options) {
  const LogOptions& log = options.log;
  if (!log.is_on()) {
    if (log.format.empty()) return {};
    return Problem{Error(Errc::Unsupported, "--log-format"),
                   "--log-format needs --log FILE, or --log - for standard output"};
  }
  if (log_folders(log).empty()) return {};
  // The file itself may be missing, but not its folder.
  const fs::path file =
      fs::path(resolved(folder_of_log(log.file).string())) / fs::path(log.file).filename();
  for (const std::string& path : {file.string(), resolved(file.string())}) {
    if (!is_served(path, options)) continue;
    return Problem{Error(Errc::Unsupported, "--log"),
                   "--log: " + log.file +
                       " is in the served folder: move it, so that no client can ask for it"};
  }
  return {};
}

}  // namespace

void declare_log(CLI::App& parser, LogOptions& log) {
  CLI::Option* const file =
      parser
          .add_option("--log", log.file,
                      "Append a line for each request to this file; - for standard output. "
                      "SIGUSR1 opens the file again")
          ->option_text("FILE|-");
  parser
      .add_option_function<std::string>(
          "--log-format", [&log](const std::string& text) { set_format(log, text); },
          "combined, json, or a text with words such as '$time $status $target'")
      ->option_text("FORMAT [combined]");
  parser.add_flag("--access-log", log.on_output, "Print a line for each request, like --log -")
      ->excludes(file);
}

Result<std::unique_ptr<AccessLog>, Problem> open_log(const ServeOptions& options,
                                                     const std::optional<User>& user,
                                                     std::function<void(std::string_view)> say) {
  if (auto checked = check_log(options); !checked) return std::move(checked).error();
  const LogOptions& log = options.log;
  if (!log.is_on()) return std::unique_ptr<AccessLog>();
  AccessLogOptions told{.file = log.target(), .on_problem = std::move(say)};
  if (!log.format.empty()) told.format = log.format;
  if (user) told.owner = FileOwner{user->id, user->group};
  auto opened = AccessLog::open(std::move(told));
  if (!opened) return Problem{opened.error().error, "--log: " + opened.error().text};
  return opened;
}

std::vector<std::string> log_folders(const LogOptions& log) {
  const std::string file = log.target();
  if (file.empty() || file == "-") return {};
  std::error_code none;
  const fs::file_status status = fs::status(file, none);
  if (fs::exists(status) && !fs::is_regular_file(status)) return {};
  return {folder_of_log(file).string(), folder_of_log(resolved(file)).string()};
}

}  // namespace skua::cli
