// SPDX-License-Identifier: MIT
#include "net/append_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include <array>
#include <fstream>
#include <string>

#include "support/temporary_directory.hpp"

namespace skua::net {
namespace {

class AppendFile : public ::testing::Test {
 protected:
  AppendFile() {
    for (int i = 0; i < 20'000; ++i) text_ += static_cast<char>('a' + i % 26);
    const std::string path = directory_.string() + "/file";
    std::ofstream(path) << text_;
    file_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  }
  ~AppendFile() override { ::close(file_); }

  std::string taken() {
    std::string text;
    while (!output_.empty()) {
      std::array<Slice, 8> slices;
      const std::size_t count = output_.gather(slices);
      std::size_t size = 0;
      for (std::size_t i = 0; i < count; ++i) {
        text.append(slices[i].data, slices[i].size_bytes);
        size += slices[i].size_bytes;
      }
      output_.consume(size);
    }
    return text;
  }

  support::TemporaryDirectory directory_;
  std::string text_;
  int file_ = -1;
  OutputQueue::Blocks blocks_{4};
  OutputQueue output_{blocks_};
};

TEST_F(AppendFile, ReadsARange) {
  output_.append("head ");
  EXPECT_TRUE(append_file(output_, file_, 3, 15'000));
  EXPECT_EQ(taken(), "head " + text_.substr(3, 15'000));
}

TEST_F(AppendFile, FillsUpWhatTheFileDoesNotHave) {
  EXPECT_FALSE(append_file(output_, file_, 10'000, 15'000));
  const std::string got = taken();
  EXPECT_EQ(got.size(), 15'000U);
  EXPECT_EQ(got.substr(0, 5'000), text_.substr(10'000, 5'000));
  EXPECT_EQ(got.substr(14'000), std::string(1'000, '\0'));
  EXPECT_FALSE(append_file(output_, -1, 0, 1));
}

}  // namespace
}  // namespace skua::net
