// SPDX-License-Identifier: MIT
// Writes the manual pages or the shell completions of `skua`, from the options that the command
// declares. It is a program of the build, so that `skua` itself does not carry them.
#include <cstdio>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>

#include "reference/output.hpp"

namespace skua::cli::reference {
namespace {

void write(const std::filesystem::path& path, const std::string& content) {
  std::filesystem::create_directories(path.parent_path());
  std::FILE* const file = std::fopen(path.string().c_str(), "w");
  if (file == nullptr) throw std::runtime_error("cannot write " + path.string());
  const bool is_written = std::fputs(content.c_str(), file) >= 0;
  if (std::fclose(file) != 0 || !is_written) {
    throw std::runtime_error("cannot write " + path.string());
  }
}

void write_pages(const Table& table, const std::filesystem::path& folder, std::string_view date) {
  write(folder / "skua.1", overview_page(table, date));
  for (const Family& family : table.families) {
    const std::string name = "skua-" + family.commands.front().name + ".1";
    write(folder / name, family_page(table, family, date));
  }
}

void write_completions(const Table& table, const std::filesystem::path& folder) {
  write(folder / "skua.bash", bash_completion(table));
  write(folder / "_skua", zsh_completion(table));
  write(folder / "skua.fish", fish_completion(table));
}

int run(int count, char** arguments) {
  const std::string_view what = count > 1 ? arguments[1] : "";
  if (what == "man" && count == 4) {
    write_pages(read_table(), arguments[2], arguments[3]);
  } else if (what == "completions" && count == 3) {
    write_completions(read_table(), arguments[2]);
  } else {
    std::fputs("usage: skua-reference man FOLDER DATE | completions FOLDER\n", stderr);
    return 2;
  }
  return 0;
}

}  // namespace
}  // namespace skua::cli::reference

int main(int count, char** arguments) {
  try {
    return skua::cli::reference::run(count, arguments);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "skua-reference: %s\n", error.what());
    return 1;
  }
}
