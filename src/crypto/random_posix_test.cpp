// SPDX-License-Identifier: MIT
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdint>

#include <gtest/gtest.h>

#include "crypto/random.hpp"

namespace skua::crypto {
namespace {

using Draws = std::array<std::uint64_t, 4>;

Draws draw_some() {
  Draws draws{};
  for (std::uint64_t& word : draws) word = random_word();
  return draws;
}

TEST(RandomWords, AChildDoesNotRepeatItsParent) {
  static_cast<void>(random_word());  // both have a buffer now
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const Draws own = draw_some();
    _exit(write(ends[1], own.data(), sizeof own) == sizeof own ? 0 : 1);
  }
  const Draws own = draw_some();
  Draws of_child{};
  ASSERT_EQ(read(ends[0], of_child.data(), sizeof of_child), static_cast<ssize_t>(sizeof of_child));
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  close(ends[0]);
  close(ends[1]);
  EXPECT_NE(own, of_child);
}

}  // namespace
}  // namespace skua::crypto
