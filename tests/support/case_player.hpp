// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "http/field.hpp"
#include "support/case_file.hpp"

/// What every level that runs the case files has in common. A Player is made of a Case, is fed its
/// bytes in pieces (`feed`), and says what came of them (`finish`).
namespace skua::testing {

/// The fields of a head, copied.
Expected::Fields fields_of(const http::Head& head);

/// What is wrong with the outcome, or nothing.
std::string difference(const std::vector<Expected>& events, const std::vector<Expected>& wanted);

/// Feeds the bytes in pieces that end at `first` and then every `step` bytes.
template <class Player>
std::vector<Expected> play(const Case& test_case, std::size_t first, std::size_t step) {
  Player player(test_case);
  const std::string_view bytes = test_case.bytes;
  player.feed(std::string(bytes.substr(0, first)));
  for (std::size_t at = first; at < bytes.size(); at += step) {
    player.feed(std::string(bytes.substr(at, step)));
  }
  return player.finish();
}

template <class Player>
void check_all_at_once(const std::vector<Case>& cases) {
  for (const Case& one : cases) {
    EXPECT_EQ(difference(play<Player>(one, one.bytes.size(), 1), one.expected), "") << one.where();
  }
}

template <class Player>
void check_byte_by_byte(const std::vector<Case>& cases) {
  for (const Case& one : cases) {
    EXPECT_EQ(difference(play<Player>(one, 0, 1), one.expected), "") << one.where();
  }
}

template <class Player>
void check_every_split_in_two(const std::vector<Case>& cases) {
  for (const Case& one : cases) {
    // Bytes that repeat themselves by the thousand are split less often.
    const std::size_t stride = one.bytes.size() > 2000 ? 97 : 1;
    for (std::size_t at = 1; at < one.bytes.size(); at += stride) {
      ASSERT_EQ(difference(play<Player>(one, at, one.bytes.size()), one.expected), "")
          << one.where() << " split at " << at;
    }
  }
}

}  // namespace skua::testing
