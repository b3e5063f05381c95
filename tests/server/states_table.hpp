// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <istream>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// Reads tests/cases/server/states.md, which also explains the words.
namespace skua::testing {

/// The request of a row.
struct StateRequest {
  enum class Arrived { Nothing, HalfHead, Head, Start, All };

  Arrived arrived = Arrived::Nothing;
  bool is_get = false;
  bool is_chunked = false;  ///< over HTTP/2: without Content-Length
  bool expects_continue = false;
  bool takes_nothing = false;
  bool says_close = false;
  std::size_t content_bytes = 0;

  [[nodiscard]] bool is_whole() const noexcept { return arrived == Arrived::All; }
};

/// One row of the table.
struct StateRow {
  int line = 0;
  StateRequest request{};
  std::string handler{};
  std::vector<std::string> steps{};
  std::array<std::string, 2> expected{};  ///< over HTTP/1 and HTTP/2; `-`: it cannot be
};

/// Splits at each separator, and removes the spaces around each part.
inline std::vector<std::string> parts_of(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (true) {
    const std::size_t end = text.find(separator);
    const std::string_view part = text.substr(0, end);
    const std::size_t first = std::min(part.find_first_not_of(' '), part.size());
    const std::size_t last = part.find_last_not_of(' ') + 1;
    parts.emplace_back(part.substr(first, std::max(first, last) - first));
    if (end == text.npos) return parts;
    text.remove_prefix(end + 1);
  }
}

inline StateRequest read_state_request(const std::string& cell) {
  using Arrived = StateRequest::Arrived;
  static constexpr std::array<std::pair<std::string_view, Arrived>, 6> beginnings{{
      {"nothing", Arrived::Nothing},
      {"half a head", Arrived::HalfHead},
      {"GET", Arrived::All},
      {"head of POST", Arrived::Head},
      {"start of POST", Arrived::Start},
      {"all of POST", Arrived::All},
  }};
  const std::vector<std::string> words = parts_of(cell, ',');
  const auto* const found = std::find_if(beginnings.begin(), beginnings.end(),
                                         [&](const auto& it) { return it.first == words[0]; });
  if (found == beginnings.end()) throw std::runtime_error("unknown request: " + words[0]);
  StateRequest request;
  request.arrived = found->second;
  request.is_get = !words[0].ends_with("POST");
  if (!request.is_get) request.content_bytes = 100;
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (words[i] == "takes nothing") {
      request.takes_nothing = true;
    } else if (words[i] == "close") {
      request.says_close = true;
    } else if (words[i] == "Expect" && !request.is_get) {
      request.expects_continue = true;
    } else if (words[i] == "chunked" && !request.is_get) {
      request.is_chunked = true;
    } else if (words[i] == "large" && !request.is_get) {
      request.content_bytes = 60'000;
    } else if (words[i] == "too large" && !request.is_get) {
      request.content_bytes = 200'000;
    } else {
      throw std::runtime_error("unknown property of a request: " + words[i]);
    }
  }
  return request;
}

/// Reads every row; tables with another first line only explain.
///
/// Ends with: std::runtime_error that names the line.
inline std::vector<StateRow> read_states(std::istream& file) {
  static constexpr std::string_view head = "| request | handler | then | HTTP/1 | HTTP/2 |";
  std::vector<StateRow> rows;
  std::set<std::vector<std::string>> known;
  bool is_inside = false;
  std::string text;
  for (int line = 1; std::getline(file, text); ++line) {
    if (text == head) {
      is_inside = true;
      continue;
    }
    is_inside = is_inside && text.starts_with('|');
    if (!is_inside || text.starts_with("|---")) continue;
    try {
      std::vector<std::string> cells = parts_of(text, '|');
      if (cells.size() != 7) throw std::runtime_error("a row has five cells");
      if (std::count(cells.begin(), cells.end(), "") != 2)
        throw std::runtime_error("a cell is empty");
      if (!known.insert({cells[1], cells[2], cells[3]}).second) {
        throw std::runtime_error("the same row again");
      }
      rows.push_back({.line = line,
                      .request = read_state_request(cells[1]),
                      .handler = cells[2],
                      .steps = parts_of(cells[3], ','),
                      .expected = {cells[4], cells[5]}});
      if (rows.back().expected[0] == "-" && rows.back().expected[1] == "-") {
        throw std::runtime_error("a row without expectation");
      }
    } catch (const std::runtime_error& error) {
      throw std::runtime_error("states.md:" + std::to_string(line) + ": " + error.what());
    }
  }
  return rows;
}

}  // namespace skua::testing
