// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "http/message/field.hpp"
#include "support/case_file.hpp"

/// Code shared by all test levels that run the case files. A Player is built from a Case, takes its
/// bytes in pieces (`feed`), and returns the outcome (`finish`).
namespace skua::testing {

/// Copies the fields of a head.
Expected::Fields fields_of(const http::Head& head);

/// Describes how the outcome differs from the expected one; empty if it does not.
std::string difference(const std::vector<Expected>& events, const std::vector<Expected>& wanted);

/// Feeds a piece of `first` bytes, then pieces of `step` bytes.
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
    // Long inputs are repetitive, so they are split at fewer places.
    const std::size_t stride = one.bytes.size() > 2000 ? 97 : 1;
    for (std::size_t at = 1; at < one.bytes.size(); at += stride) {
      ASSERT_EQ(difference(play<Player>(one, at, one.bytes.size()), one.expected), "")
          << one.where() << " split at " << at;
    }
  }
}

}  // namespace skua::testing
