// SPDX-License-Identifier: MIT
#include "suggestion.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

namespace skua::cli {
namespace {

constexpr std::size_t longest_word = 64;  // nothing of ours is nearly as long

// Optimal string alignment: a row for each letter of `from`, of which three are kept.
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
  std::size_t best = (word.size() - dashes) / 3 + 1;  // less than this
  std::string found;
  for (const std::string& one : known) {
    const std::size_t apart = distance(word, one);
    if (apart >= best) continue;
    best = apart;
    found = one;
  }
  return found;
}

std::string suggestion(const CLI::App& parser) {
  const std::vector<CLI::App*> parsed = parser.get_subcommands();
  const CLI::App& command = parsed.empty() ? parser : *parsed.front();
  std::vector<std::string> known;
  for (const CLI::Option* const option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
  }
  for (const CLI::App* const one : command.get_subcommands([](const CLI::App*) { return true; })) {
    known.push_back(one->get_name());
  }
  std::vector<std::string> words = parser.remaining(true);
  std::ranges::reverse(words);  // CLI11 takes them off the end
  for (const std::string& word : words) {
    const std::string meant = nearest(word.substr(0, word.find('=')), known);
    if (!meant.empty()) return "Did you mean " + meant + "?\n";
  }
  return {};
}

}  // namespace skua::cli
