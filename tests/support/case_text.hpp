// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>
#include <vector>

/// What all case files have in common, whatever the protocol: tests/cases/README.md.
namespace skua::testing {

/// One case as it is written.
struct CaseText {
  struct Line {
    int number = 0;
    std::string text{};
  };

  std::string file{};  ///< `framing.md`
  int line = 0;        ///< of the heading
  std::string title{};
  std::string bytes{};        ///< the code block in its notation, see unescape()
  std::vector<Line> lines{};  ///< all others
};

/// Ends with: std::runtime_error that names the line.
std::vector<CaseText> read_case_texts(const std::filesystem::path& path);

}  // namespace skua::testing
