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

/// An option of another tool, and what to say to it.
struct Habit {
  std::string_view commands;  ///< ours, separated by spaces
  std::string_view option;
  std::string_view advice;
};

constexpr std::string_view requests = "get post put patch delete head request";

// From curl, wget and HTTPie; from python -m http.server, npx serve, http-server, miniserve and
// caddy; of wrk, ab, hey and oha; of websocat and wscat.
constexpr Habit habits[] = {
    {requests, "-L", "Redirects are followed by default."},
    {requests, "--location", "Redirects are followed by default."},
    {requests, "-I", "Use `skua head URL`."},
    {requests, "--head", "Use `skua head URL`."},
    {requests, "-O", "Use -d to save to a file."},
    {requests, "--remote-name", "Use -d to save to a file."},
    {requests, "-u", "Use --auth USER:PASSWORD."},
    {requests, "--user", "Use --auth USER:PASSWORD."},
    {requests, "-F", "Use --form NAME=VALUE or NAME@FILE."},
    {requests, "-T", "Use `skua put URL --data @FILE`."},
    {requests, "-x", "Use --proxy URL."},
    {requests, "-A", "Use the item User-Agent:NAME."},
    {requests, "-e", "Use the item Referer:URL."},
    {requests, "-b", "Use --cookie-jar FILE, or the item Cookie:NAME=VALUE."},
    {requests, "-s", "Use -q."},
    {requests, "--silent", "Use -q."},
    {requests, "--compressed", "Content is decoded by default."},
    {requests, "--cacert", "Use --ca FILE."},
    {requests, "-m", "Use --timeout SECONDS."},
    {requests, "--max-time", "Use --timeout SECONDS."},
    {requests, "--tries", "Use --retry COUNT."},
    {"serve", "--bind", "Use --host ADDRESS, or --public for all."},
    {"serve", "-b", "Use --host ADDRESS, or --public for all."},
    {"serve", "--address", "Use --host ADDRESS, or --public for all."},
    {"serve", "-a", "Use --host ADDRESS, or --public for all."},
    {"serve", "-i", "Use --host ADDRESS, or --public for all."},
    {"serve", "--listen", "Use --host ADDRESS and --port PORT."},
    {"serve", "-l", "Use --host ADDRESS and --port PORT."},
    {"serve", "--https", "Use --tls-self-signed, or --tls-cert FILE."},
    {"serve", "--tls", "Use --tls-self-signed, or --tls-cert FILE."},
    {"serve", "--ssl", "Use --tls-self-signed, or --tls-cert FILE."},
    {"serve", "-S", "Use --tls-self-signed, or --tls-cert FILE."},
    {"serve", "--cert", "Use --tls-cert FILE."},
    {"serve", "--key", "Use --tls-key FILE."},
    {"serve", "-d", "The folder is the argument: `skua serve DIR`."},
    {"serve", "--directory", "The folder is the argument: `skua serve DIR`."},
    {"serve", "--root", "The folder is the argument: `skua serve DIR`."},
    {"serve", "-s", "Use --spa."},
    {"serve", "--single", "Use --spa."},
    {"serve", "--browse", "Folders are listed by default."},
    {"serve", "-u", "Use --upload."},
    {"serve", "--upload-files", "Use --upload."},
    {"serve", "-o", "Use --open."},
    {"serve", "-c", "Use --max-age SECONDS."},
    {"serve", "--no-cache", "Nothing is cached without a check by default: --max-age 0."},
    {"serve", "--gzip", "Use --compress, or --precompressed."},
    {"serve", "-g", "Use --compress, or --precompressed."},
    {"serve", "--livereload", "Use --watch."},
    {"serve", "--verbose", "Use --log -."},
    {"serve", "-v", "Use --log -."},
    {"bench", "-z", "Use -d SECONDS."},
    {"bench", "--latency", "Latencies are always shown."},
    {"bench", "--clients", "Use -c COUNT."},
    {"bench", "--concurrency", "Use -c COUNT."},
    {"bench", "-q", "Use --rate COUNT."},
    {"bench", "--rps", "Use --rate COUNT."},
    {"bench", "-p", "Use --data @FILE."},
    {"bench", "-T", "Use -H 'Content-Type: TYPE'."},
    {"bench", "-A", "Use -H 'Authorization: ...'."},
    {"ws", "--one-message", "Use -n 1."},
    {"ws", "-x", "Use -m TEXT."},
    {"ws", "--execute", "Use -m TEXT."},
    {"ws", "--connect", "The URL is the argument: `skua ws URL`."},
    {"ws", "-t", "Messages are texts by default; --binary sends bytes."},
    {"ws", "--text", "Messages are texts by default; --binary sends bytes."},
    {"ws", "--no-check", "Use -k."},
    {"ws", "--protocol", "Use -s NAME."},
};

bool is_for(const Habit& habit, std::string_view command) {
  std::string_view rest = habit.commands;
  while (!rest.empty()) {
    const std::string_view one = rest.substr(0, rest.find(' '));
    if (one == command) return true;
    rest.remove_prefix(std::min(rest.size(), one.size() + 1));
  }
  return false;
}

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

// Reports whether a word is this option: `-L`, `-Lsv`, `--bind` or `--bind=ADDRESS`.
bool is_option(std::string_view word, std::string_view option) {
  const bool is_long = option.starts_with("--");
  return is_long ? word.substr(0, word.find('=')) == option
                 : word.starts_with(option) && !word.starts_with("--");
}

bool is_number(std::string_view word) {
  return !word.empty() && word.find_first_not_of("0123456789") == word.npos;
}

std::string suggestion(const std::string& command, std::span<const std::string> words,
                       std::span<const std::string> known) {
  for (const std::string& word : words) {
    for (const Habit& habit : habits) {
      if (is_for(habit, command) && is_option(word, habit.option)) {
        return std::string(habit.advice) + "\n";
      }
    }
    const std::string meant = nearest(word.substr(0, word.find('=')), known);
    if (!meant.empty()) return "Did you mean " + meant + "?\n";
    if (command == "serve" && is_number(word)) return "Use --port " + word + ".\n";
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

// Rewords `Could not convert: --count = x`.
std::string conversion_error(const CLI::App& command, const std::string& text) {
  const std::size_t begin = text.find("--");
  const std::size_t equals = text.find(" = ");
  if (begin == text.npos || equals == text.npos || equals < begin) return text;
  const std::string name = text.substr(begin, text.find_first_of(" ,", begin) - begin);
  const CLI::Option* const option = command.get_option_no_throw(name);
  const bool is_flag = option != nullptr && option->get_items_expected_max() == 0;
  return is_flag ? name + " takes no value"
                 : name + ": '" + text.substr(equals + 3) + "' is not a value that it takes";
}

// Rewords the parser's error in the style of our own.
std::string reason_of(const CLI::App& command, const CLI::Error& error,
                      std::span<const std::string> words) {
  const auto is = [&error](CLI::ExitCodes kind) {
    return error.get_exit_code() == static_cast<int>(kind);
  };
  const std::string text = error.what();
  if (is(CLI::ExitCodes::ExtrasError) && !words.empty()) {
    // The word behind an unknown option may be its value.
    const auto option = std::ranges::find_if(
        words, [](const std::string& word) { return word.size() > 1 && word.starts_with('-'); });
    return unexpected(command, option == words.end() ? words.front() : *option);
  }
  if (is(CLI::ExitCodes::ConversionError)) return conversion_error(command, text);
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
                     suggestion(command.get_name(), words, known_words(command)));
}

std::string unknown_command(const CLI::App& parser, std::string_view word) {
  const std::vector<std::string> words{std::string(word)};
  return whole_error(parser, unexpected(parser, words.front()),
                     suggestion("", words, known_words(parser)));
}

}  // namespace skua::cli
