// SPDX-License-Identifier: MIT
#include "base/file_io.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

namespace skua::base {
namespace {

struct CloseFile {
  void operator()(std::FILE* file) const noexcept { static_cast<void>(std::fclose(file)); }
};

std::unique_ptr<std::FILE, CloseFile> file_of(std::string_view text) {
  std::unique_ptr<std::FILE, CloseFile> file(std::tmpfile());
  EXPECT_EQ(std::fwrite(text.data(), 1, text.size(), file.get()), text.size());
  EXPECT_EQ(std::fflush(file.get()), 0);
  return file;
}

TEST(ReadAt, FillsTheMemoryFromTheOffset) {
  const auto file = file_of("0123456789");
  std::string piece(4, '-');
  const Result<std::size_t> count = read_at(fileno(file.get()), 3, piece);
  ASSERT_TRUE(count);
  EXPECT_EQ(*count, 4U);
  EXPECT_EQ(piece, "3456");
}

TEST(ReadAt, EndsWhereTheFileDoes) {
  const auto file = file_of("0123456789");
  std::string piece(4, '-');
  EXPECT_EQ(read_at(fileno(file.get()), 8, piece).value_or(99), 2U);
  EXPECT_EQ(piece, "89--");
  EXPECT_EQ(read_at(fileno(file.get()), 10, piece).value_or(99), 0U);
}

TEST(ReadAt, SaysWhyItCannotRead) {
  std::string piece(4, '-');
  const Result<std::size_t> count = read_at(-1, 0, piece);
  ASSERT_FALSE(count);
  EXPECT_EQ(count.error().system_code(), EBADF);
}

}  // namespace
}  // namespace skua::base
