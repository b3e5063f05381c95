// SPDX-License-Identifier: MIT
// In: the command line, variables, and the user's file of defaults. Out: options.
#include "get/scripting.hpp"

#include <CLI/CLI.hpp>

#include <array>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "base/disk.hpp"
#include "common_options.hpp"
#include "get/session.hpp"
#include "get/write_out.hpp"
#include "settings/settings.hpp"
#include "settings/settings_file.hpp"
#include "system.hpp"

namespace skua::cli {
namespace {

// They belong to one request.
constexpr std::array<std::string_view, 4> not_in_files = {"url", "item", "method", "no-config"};

// Returns the file of defaults; empty if there is none.
std::string settings_path(const GetOptions& options) {
  if (options.no_config) return {};
  if (!options.config.empty()) return options.config;
  if (const char* const told = std::getenv("SKUA_CONFIG")) return told;
  const std::string folder = settings_folder();
  if (folder.empty()) return {};
  const std::string path = folder + "/get.toml";
  return disk::stat_of(path) ? path : "";
}

void declare_config(CLI::App& parser, GetOptions& options) {
  CLI::Option* const config =
      parser
          .add_option("--config", options.config,
                      "Also take options from this TOML file, instead of the user's get.toml")
          ->option_text("FILE");
  if (!has_settings_files()) disable(*config, "toml++");
  parser.add_flag("--no-config", options.no_config, "Do not read the user's get.toml")
      ->excludes(config);
  // After the command line is parsed, and before the options are checked together.
  parser.parse_complete_callback([&parser, &options] {
    const std::string path = settings_path(options);
    if (!path.empty()) apply_settings(parser, path, not_in_files);
  });
}

void declare_session(CLI::App& parser, GetOptions& options) {
  CLI::Option* const session =
      parser
          .add_option("--session", options.session,
                      "Keep cookies and headers for later requests to this server")
          ->check([](const std::string& name) {
            return is_session_name(name)
                       ? std::string()
                       : "'" + name + "' is not a name of letters, digits, '-', '_' and '.'";
          })
          ->excludes(parser.get_option("--cookie-jar"))
          ->option_text("NAME");
  parser
      .add_flag("--session-read-only", options.session_read_only,
                "Use the session without changing it")
      ->needs(session);
}

}  // namespace

void declare_scripting(CLI::App& parser, GetOptions& options) {
  parser.option_defaults()->group("Request");
  declare_session(parser, options);
  parser.option_defaults()->group("Output");
  parser.add_flag("--offline", options.offline, "Print the request and send nothing");
  std::string text =
      "Print a line of JSON about each request to standard error, or to --json-report=FILE";
  parser.add_flag("--json-report", std::as_const(text))
      ->each([&options](const std::string& value) {
        options.json_report = value == "true" ? "" : value;  // CLI11's value of a lone flag
      })
      ->option_text(" ");
  parser
      .add_option("-w,--write-out", options.write_out,
                  "Print this text at the end, with words such as %{http_code} and \\n")
      ->check(write_out_problem)
      ->option_text("FORMAT");
  declare_config(parser, options);
}

}  // namespace skua::cli
