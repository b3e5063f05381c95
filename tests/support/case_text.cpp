// SPDX-License-Identifier: MIT
// Reads the layout of case files: a heading begins a case, and a code block holds its bytes.
#include "support/case_text.hpp"

#include <fstream>
#include <stdexcept>
#include <string_view>

namespace skua::testing {
namespace {

class Reader {
 public:
  explicit Reader(std::string file) : file_(std::move(file)) {}

  void read_line(std::string_view line, int number) {
    if (line.starts_with("```")) {
      if (cases_.empty()) throw std::runtime_error("bytes before the first heading");
      in_bytes_ = !in_bytes_;
    } else if (in_bytes_) {
      cases_.back().bytes += line;
    } else if (line.starts_with("## ")) {
      cases_.push_back({.file = file_, .line = number, .title = std::string(line.substr(3))});
    } else if (!cases_.empty() && !line.empty()) {
      cases_.back().lines.push_back({.number = number, .text = std::string(line)});
    }
  }

  std::vector<CaseText> finish() {
    if (in_bytes_) throw std::runtime_error("a code block is not closed");
    return std::move(cases_);
  }

 private:
  std::string file_;
  bool in_bytes_ = false;
  std::vector<CaseText> cases_;
};

}  // namespace

std::vector<CaseText> read_case_texts(const std::filesystem::path& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path.string());
  Reader reader(path.filename().string());
  std::string line;
  int number = 0;
  try {
    while (std::getline(file, line)) reader.read_line(line, ++number);
    return reader.finish();
  } catch (const std::runtime_error& error) {
    throw std::runtime_error(path.string() + ":" + std::to_string(number) + ": " + error.what());
  }
}

}  // namespace skua::testing
