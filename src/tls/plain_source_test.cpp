// SPDX-License-Identifier: MIT
#include "tls/plain_source.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

namespace skua::tls {
namespace {

constexpr std::size_t record_bytes = Engine::record_bytes;

class PlainSourceTest : public ::testing::Test {
 protected:
  // Takes all pieces; returns their sizes, and sets `text`.
  std::vector<std::size_t> take(PlainSource& source, std::size_t max_bytes) {
    std::vector<std::size_t> sizes;
    text.clear();
    while (source.left_bytes() > 0) {
      const auto piece = source.next(scratch, max_bytes);
      if (!piece) break;
      sizes.push_back(piece->size());
      text.append(piece->data(), piece->size());
      is_copied = piece->data() == scratch.data();
    }
    return sizes;
  }

  std::array<char, record_bytes> scratch;
  std::string text;
  bool is_copied = false;  // the last piece
};

TEST_F(PlainSourceTest, SlicesFillRecordsAndLongOnesAreNotCopied) {
  const std::string head(200, 'h');
  const std::string body(100'000, 'b');
  const std::array<net::Slice, 2> slices{net::Slice{head.data(), head.size()},
                                         net::Slice{body.data(), body.size()}};
  SliceSource source(slices);
  EXPECT_EQ(source.next(scratch, 64_KiB)->size(), record_bytes);
  const auto next = source.next(scratch, 64_KiB);
  EXPECT_EQ(next->data(), body.data() + record_bytes - head.size());
  EXPECT_EQ(next->size(), 64_KiB);
  EXPECT_EQ(take(source, 64_KiB), std::vector<std::size_t>{100'200 - 5 * record_bytes});
  EXPECT_FALSE(is_copied);
}

TEST_F(PlainSourceTest, SlicesBehindALongOneFillItsLastRecord) {
  const std::string body(20'000, 'b');
  const std::string end(300, 'e');
  const std::array<net::Slice, 2> slices{net::Slice{body.data(), body.size()},
                                         net::Slice{end.data(), end.size()}};
  SliceSource source(slices);
  EXPECT_EQ(take(source, 64_KiB), (std::vector<std::size_t>{record_bytes, 20'300 - record_bytes}));
  EXPECT_EQ(text, body + end);
  EXPECT_TRUE(is_copied);
}

TEST_F(PlainSourceTest, SlicesThatFillRecordsAreNotCopied) {
  const std::string head(200, 'h');
  const std::string frames(3 * record_bytes, 'f');
  const std::string last(5'000, 'l');
  const std::array<net::Slice, 5> slices{
      net::Slice{head.data(), head.size()}, net::Slice{frames.data(), record_bytes},
      net::Slice{frames.data(), 0}, net::Slice{frames.data() + record_bytes, 2 * record_bytes},
      net::Slice{last.data(), last.size()}};
  SliceSource source(slices);
  EXPECT_EQ(source.next(scratch, 64_KiB)->size(), head.size());
  EXPECT_EQ(source.next(scratch, 64_KiB)->data(), frames.data());
  const auto next = source.next(scratch, 64_KiB);
  EXPECT_EQ(next->data(), frames.data() + record_bytes);
  EXPECT_EQ(next->size(), 2 * record_bytes);
  EXPECT_EQ(source.next(scratch, 64_KiB)->data(), last.data());
  EXPECT_EQ(source.left_bytes(), 0U);
}

TEST_F(PlainSourceTest, NoPieceIsLongerThanWanted) {
  const std::string body(50'000, 'b');
  const std::array<net::Slice, 2> slices{net::Slice{body.data(), 100},
                                         net::Slice{body.data() + 100, 49'900}};
  SliceSource source(slices);
  for (const std::size_t size : take(source, 1000)) EXPECT_LE(size, 1000U);
  EXPECT_EQ(text, body);
}

TEST_F(PlainSourceTest, AFileIsReadInPiecesOfSeveralRecords) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::tmpfile(), std::fclose);
  std::string content(150'000, 'x');
  for (std::size_t i = 0; i < content.size(); ++i) content[i] = static_cast<char>(i * 7 % 251);
  std::fwrite(content.data(), 1, content.size(), file.get());
  std::fflush(file.get());
  FileSource source(::fileno(file.get()), 10, content.size() - 10);
  EXPECT_EQ(take(source, 112_KiB),
            (std::vector<std::size_t>{48_KiB, 48_KiB, 48_KiB, 149'990 - 144_KiB}));
  EXPECT_EQ(text, content.substr(10));
  FileSource longer(::fileno(file.get()), 10, content.size());
  take(longer, 1_MiB);
  EXPECT_EQ(longer.left_bytes(), 10U);
  EXPECT_EQ(longer.next(scratch, 1000).error().code(), Errc::TruncatedBody);
}

}  // namespace
}  // namespace skua::tls
