// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>
#include <vector>

/// The layout that the case files of all protocols share. See tests/cases/README.md.
namespace skua::testing {

/// The text of one case.
struct CaseText {
  struct Line {
    int number = 0;
    std::string text{};
  };

  std::string file{};  ///< `chunked.md`
  int line = 0;        ///< of the heading
  std::string title{};
  std::string bytes{};        ///< the code block in its notation, see unescape()
  std::vector<Line> lines{};  ///< all other lines
};

/// Ends with: std::runtime_error that names the line.
std::vector<CaseText> read_case_texts(const std::filesystem::path& path);

}  // namespace skua::testing
