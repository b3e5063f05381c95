// SPDX-License-Identifier: MIT
#include "base/disk.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace skua::disk {
namespace {

struct Path {
  std::string_view text;
  std::string_view name;
};

void expect_names(const std::vector<Path>& paths) {
  for (const Path& path : paths) {
    EXPECT_EQ(path.text.substr(name_begin(path.text)), path.name) << path.text;
  }
}

TEST(Disk, TheLastNameFollowsTheLastSeparator) {
  expect_names({{"", ""}, {"a", "a"}, {"/a", "a"}, {"a/b.txt", "b.txt"}, {"/a/b/", ""}});
}

// A backslash or a colon is part of a name on other systems.
TEST(Disk, OnlyWindowsHasDrivesAndBackslashes) {
  if (separators == "/") {
    expect_names({{R"(a\b)", R"(a\b)"}, {"C:a", "C:a"}, {R"(d/a\b)", R"(a\b)"}});
  } else {
    expect_names({{R"(a\b)", "b"},
                  {"C:a", "a"},
                  {R"(C:\a)", "a"},
                  {R"(C:/a\b/c)", "c"},
                  {R"(\\host\share\a)", "a"},
                  {R"(\\?\C:\a)", "a"}});
  }
}

}  // namespace
}  // namespace skua::disk
