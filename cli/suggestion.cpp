// SPDX-License-Identifier: MIT
#include "suggestion.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>
#include <vector>

#include "terminal.hpp"

namespace skua::cli {
namespace {

constexpr std::size_t longest_word = 64;  // all known words are much shorter

// Optimal string alignment: a row for each letter of `from`, of which the last three are kept.
std::size_t distance(std::string_view from, std::string_view to) {
  std::array<std::vector<std::size_t>, 3> rows;
  for (auto& row : rows) row.resize(to.size() + 1);
  std::iota(rows[0].begin(), rows[0].end(), std::size_t{0});
  for (std::size_t i = 1; i <= from.size(); ++i) {
    const std::vector<std::size_t>& above = rows[(i - 1) % 3];
    std::vector<std::size_t>& row = rows[i % 3];
    row[0] = i;
    for (std::size_t j = 1; j <= to.size(); ++j) {
      const std::size_t changed = above[j - 1] + (from[i - 1] == to[j - 1] ? 0 : 1);
      row[j] = std::min({changed, above[j] + 1, row[j - 1] + 1});
      const bool is_swapped =
          i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1];
      if (is_swapped) row[j] = std::min(row[j], rows[(i - 2) % 3][j - 2] + 1);
    }
  }
  return rows[from.size() % 3][to.size()];
}

}  // namespace

std::string nearest(std::string_view word, std::span<const std::string> known) {
  if (word.size() > longest_word) return {};
  const std::size_t dashes = std::min(word.find_first_not_of('-'), word.size());
  std::size_t best = (word.size() - dashes) / 3 + 1;  // exclusive
  std::string found;
  for (const std::string& one : known) {
    const std::size_t apart = distance(word, one);
    if (apart >= best) continue;
    best = apart;
    found = one;
  }
  return found;
}

namespace {

// Options of other clients, such as curl.
constexpr std::array<std::pair<std::string_view, std::string_view>, 5> habits = {{
    {"-L", "Redirects are followed by default."},
    {"-I", "Use `skua head URL`."},
    {"-O", "Use -d to save to a file."},
    {"-u", "Use --auth USER:PASSWORD."},
    {"-F", "Use --form NAME=VALUE or NAME@FILE."},
}};

const CLI::App& command_of(const CLI::App& parser) {
  const std::vector<CLI::App*> parsed = parser.get_subcommands();
  return parsed.empty() ? parser : *parsed.front();
}

std::vector<std::string> known_words(const CLI::App& command) {
  std::vector<std::string> known;
  for (const CLI::Option* const option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
  }
  for (const CLI::App* const one : command.get_subcommands([](const CLI::App*) { return true; })) {
    known.push_back(one->get_name());
  }
  return known;
}

std::string suggestion(std::span<const std::string> words, std::span<const std::string> known) {
  for (const std::string& word : words) {
    for (const auto& [habit, advice] : habits) {
      const bool is_it = word.starts_with(habit) && !word.starts_with("--");
      if (is_it) return std::string(advice) + "\n";
    }
    const std::string meant = nearest(word.substr(0, word.find('=')), known);
    if (!meant.empty()) return "Did you mean " + meant + "?\n";
  }
  return {};
}

std::string unexpected(const CLI::App& command, const std::string& word) {
  if (word.size() > 1 && word.starts_with('-')) {
    return "unknown option " + word.substr(0, word.find('='));
  }
  const bool has_commands = !command.get_subcommands([](const CLI::App*) { return true; }).empty();
  return (has_commands ? "unknown command '" : "unexpected argument '") + word + "'";
}

// Rewrites `A verb B` as `A between B end`.
std::string with_both(const std::string& text, std::string_view verb, std::string_view between,
                      std::string_view end) {
  const std::size_t at = text.find(verb);
  if (at == text.npos) return text;
  std::string out = text.substr(0, at);
  return out.append(between).append(text.substr(at + verb.size())).append(end);
}

// Rewords the parser's error in the style of our own.
std::string reason_of(const CLI::App& command, const CLI::Error& error,
                      std::span<const std::string> words) {
  const auto is = [&error](CLI::ExitCodes kind) {
    return error.get_exit_code() == static_cast<int>(kind);
  };
  const std::string text = error.what();
  if (is(CLI::ExitCodes::ExtrasError) && !words.empty()) return unexpected(command, words.front());
  if (is(CLI::ExitCodes::RequiredError)) return with_both(text, " is required", " is missing", "");
  if (is(CLI::ExitCodes::ExcludesError)) {
    return with_both(text, " excludes ", " and ", " cannot be used together");
  }
  if (is(CLI::ExitCodes::RequiresError)) return with_both(text, " requires ", " needs ", "");
  if (is(CLI::ExitCodes::ArgumentMismatch)) {
    const std::string option = text.substr(0, text.find_first_of(": "));
    const bool is_flag = text.find("flag") != text.npos;
    if (option.starts_with('-')) return option + (is_flag ? " takes no value" : " needs a value");
  }
  return error.what();
}

std::string whole_error(const CLI::App& command, const std::string& reason,
                        const std::string& advice) {
  const bool is_command = command.get_parent() != nullptr;
  const std::string help = is_command ? "skua " + command.get_name() : "skua";
  return "skua: " + harmless(reason) + "\n" + advice + "Try `" + help + " --help`.\n";
}

}  // namespace

std::string command_line_error(const CLI::App& parser, const CLI::Error& error) {
  const CLI::App& command = command_of(parser);
  std::vector<std::string> words = parser.remaining(true);
  std::ranges::reverse(words);  // CLI11 stores them in reverse
  return whole_error(command, reason_of(command, error, words),
                     suggestion(words, known_words(command)));
}

std::string unknown_command(const CLI::App& parser, std::string_view word) {
  const std::vector<std::string> words{std::string(word)};
  return whole_error(parser, unexpected(parser, words.front()),
                     suggestion(words, known_words(parser)));
}

}  // namespace skua::cli
