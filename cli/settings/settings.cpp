// SPDX-License-Identifier: MIT
// In: variables and files. Out: options of a parser, as if the command line had set them.
#include "settings/settings.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <functional>
#include <set>
#include <string_view>
#include <utility>

#include "base/ascii.hpp"
#include "common_options.hpp"
#include "get/request_items.hpp"
#include "settings/settings_file.hpp"
#include "suggestion.hpp"
#include "system.hpp"

namespace skua::cli {
namespace {

std::string key_of(const CLI::Option& option) {
  if (!option.get_lnames().empty()) return option.get_lnames().front();
  std::string key = option.get_name(true);
  std::ranges::transform(key, key.begin(), ascii::to_lower);
  return key;
}

bool is_flag(const CLI::Option& option) { return option.get_items_expected_max() == 0; }

bool is_repeatable(const CLI::Option& option) {
  return option.get_items_expected_max() > 1 ||
         option.get_multi_option_policy() == CLI::MultiOptionPolicy::TakeAll;
}

// The options that a file may set; the others make no sense there.
std::vector<CLI::Option*> options_of(CLI::App& parser) {
  std::vector<CLI::Option*> options = parser.get_options();
  std::erase_if(options, [&parser](const CLI::Option* option) {
    const std::string key = key_of(*option);
    return option == parser.get_help_ptr() || key == "config" || key == "print-config";
  });
  return options;
}

[[noreturn]] void refuse(const std::string& file, const Place& place, const std::string& why) {
  throw CLI::ValidationError(at_place(file, place, why));
}

CLI::Option& find(const std::vector<CLI::Option*>& options, const std::string& file,
                  const Setting& setting) {
  const auto found = std::ranges::find_if(
      options, [&](const CLI::Option* option) { return key_of(*option) == setting.key; });
  if (found != options.end()) return **found;
  std::vector<std::string> keys;
  keys.reserve(options.size());
  for (const CLI::Option* const option : options) keys.push_back(key_of(*option));
  const std::string meant = nearest(setting.key, keys);
  refuse(file, setting.key_place,
         "unknown key '" + setting.key + "'" +
             (meant.empty() ? "" : ", did you mean '" + meant + "'?"));
}

void check_kind(const CLI::Option& option, const std::string& file, const Setting& setting) {
  const std::string& key = setting.key;
  if (setting.is_flag && !is_flag(option)) {
    refuse(file, setting.value_place, key + " needs a value, not true or false");
  }
  if (setting.is_array && !is_repeatable(option)) {
    refuse(file, setting.value_place, key + " takes one value, not an array");
  }
}

// Runs an option's own checks of its values.
void set(CLI::Option& option, const std::string& file, const Setting& setting) {
  try {
    for (const std::string& value : setting.values) option.add_result(value);
    option.run_callback();
  } catch (const CLI::Error& error) {
    std::string why = error.what();
    if (why.starts_with("--")) why.erase(0, 2);
    refuse(file, setting.value_place, why);
  }
}

constexpr std::string_view variable_prefix = "SKUA_SERVE_";

std::string variable_of(const CLI::Option& option) {
  std::string name = std::string(variable_prefix) + key_of(option);
  for (char& c : name) {
    c = c == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  }
  return name;
}

// A variable with the name of no option is a typing error. Those that Kubernetes sets for a service
// called skua-serve are not.
void check_environment(const CLI::App& parser) {
  std::vector<std::string> known;  // without the prefix, which all share
  for (const CLI::Option* const option : parser.get_options()) {
    known.push_back(variable_of(*option).substr(variable_prefix.size()));
  }
  for (const std::string& name : environment_names(variable_prefix)) {
    const std::string_view rest = std::string_view(name).substr(variable_prefix.size());
    const bool is_of_kubernetes = rest.starts_with("SERVICE_") || rest.starts_with("PORT_");
    if (is_of_kubernetes || std::ranges::find(known, rest) != known.end()) continue;
    std::string why = "no option has this variable";
    const std::string meant = nearest(rest, known);
    if (!meant.empty()) why.append(", did you mean ").append(variable_prefix).append(meant) += '?';
    throw CLI::ValidationError(name, why);
  }
}

}  // namespace

std::vector<std::string> words_of(const CLI::App& parser) {
  std::vector<std::string> words;
  std::vector<std::string> operands;
  for (const CLI::Option* const option : parser.get_options()) {
    for (const std::string& value : option->results()) {
      if (option->get_positional()) {
        operands.push_back(value);
      } else {
        words.push_back("--" + key_of(*option) + "=" + value);
      }
    }
  }
  words.emplace_back("--");
  words.insert(words.end(), operands.begin(), operands.end());
  return words;
}

void apply_environment(CLI::App& parser) {
  check_environment(parser);
  for (CLI::Option* const option : parser.get_options()) {
    if (option == parser.get_help_ptr() || !option->empty()) continue;
    const std::string name = variable_of(*option);
    const char* const value = std::getenv(name.c_str());
    if (value == nullptr) continue;
    try {
      option->add_result(value);
      option->run_callback();
    } catch (const CLI::Error& error) {
      throw CLI::ValidationError(name, error.what());
    }
  }
}

void apply_settings(CLI::App& parser, const std::string& file,
                    std::span<const std::string_view> left_out) {
  const auto text = read_file(file);
  if (!text) throw CLI::ValidationError("--config", text.error().text);
  const auto settings = parse_settings(*text, file);
  if (!settings) throw CLI::ValidationError(settings.error().text);
  std::vector<CLI::Option*> options = options_of(parser);
  std::erase_if(options, [&left_out](const CLI::Option* option) {
    return std::ranges::find(left_out, key_of(*option)) != left_out.end();
  });
  std::set<const CLI::Option*> own;
  for (const Setting& setting : *settings) {
    CLI::Option& option = find(options, file, setting);
    check_kind(option, file, setting);
    if (setting.values.empty() || !option.empty()) continue;
    const auto rivals = option.get_excludes();
    const auto rival =
        std::ranges::find_if(rivals, [](const CLI::Option* one) { return !one->empty(); });
    if (rival == rivals.end()) {
      own.insert(&option);
      set(option, file, setting);
    } else if (own.contains(*rival)) {
      refuse(file, setting.key_place,
             setting.key + " and " + key_of(**rival) + " cannot be used together");
    }
  }
}

// In: the options of a parser. Out: a file that sets them.

namespace {

Setting setting_of(const CLI::Option& option) {
  Setting setting{.key = key_of(option),
                  .values = option.results(),
                  .is_flag = is_flag(option),
                  .is_array = is_repeatable(option)};
  // A flag with an optional value, such as --spa=FILE, is a text if it has one.
  if (setting.is_flag && !option.empty()) setting.is_flag = option.results().back() == "true";
  if (setting.values.size() > 1 && !setting.is_array) setting.values = {option.results().back()};
  return setting;
}

// A comment with the default of an option, or with the kind of its value.
std::string default_line(const CLI::Option& option) {
  Setting setting = setting_of(option);
  if (setting.is_flag || setting.is_array) return "# " + format_setting(setting);
  setting.values = {default_of(option)};
  if (!setting.values.front().empty()) return "# " + format_setting(setting);
  return "# " + setting.key + " = " + option.get_option_text();
}

}  // namespace

std::string settings_text(CLI::App& parser) {
  std::string text;
  std::string group;
  for (const CLI::Option* const option : options_of(parser)) {
    if (option->get_group().empty()) continue;
    if (std::exchange(group, option->get_group()) != option->get_group()) {
      text += (text.empty() ? "# " : "\n# ") + group + "\n";
    }
    text += (option->empty() ? default_line(*option) : format_setting(setting_of(*option))) + "\n";
  }
  return text;
}

}  // namespace skua::cli
