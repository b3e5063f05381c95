// SPDX-License-Identifier: MIT
// What Python, tar and unzip make of whole archives is tested in tests/interop/archives_test.py.
#include "files/archive/archive_writer.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/byte_order.hpp"
#include "coding/coding.hpp"
#include "files/archive/crc32.hpp"
#include "files/archive/zip_deflate.hpp"

namespace skua::files {
namespace {

constexpr std::uint64_t gibibyte = std::uint64_t{1} << 30U;

std::string repeated(std::string_view word, std::size_t size_bytes) {
  std::string text;
  while (text.size() < size_bytes) text += word;
  text.resize(size_bytes);
  return text;
}

// Content that does not shrink.
std::string noise(std::size_t size_bytes) {
  std::string text(size_bytes, '\0');
  std::uint64_t state = 1;
  for (char& c : text) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    c = static_cast<char>(state >> 56U);
  }
  return text;
}

std::uint64_t little(std::string_view text, std::size_t at, std::size_t size_bytes) {
  std::uint64_t number = 0;
  for (std::size_t i = size_bytes; i-- > 0;) {
    number = number << 8U | static_cast<unsigned char>(text.at(at + i));
  }
  return number;
}

std::string inflated(std::string_view raw) {
  const coding::DecodeLimits limits{.ratio = 0};
  auto decoder =
      coding::Decoder::create(coding::Coding::Deflate, limits, coding::RawDeflate::Taken);
  std::string out;
  EXPECT_TRUE(decoder && decoder->push(raw, out) && decoder->finish());
  return out;
}

TEST(Crc32, IsThatOfTheStandard) {
  EXPECT_EQ(crc32(0, ""), 0U);
  EXPECT_EQ(crc32(0, "123456789"), 0xcbf43926U);
  EXPECT_EQ(crc32(0, "The quick brown fox jumps over the lazy dog"), 0x414fa339U);
}

TEST(Crc32, PiecesAddUp) {
  const std::string text = noise(300);
  const std::uint32_t whole = crc32(0, text);
  for (std::size_t split = 0; split <= text.size(); ++split) {
    const std::string_view view = text;
    ASSERT_EQ(crc32(crc32(0, view.substr(0, split)), view.substr(split)), whole) << split;
  }
}

TEST(ZipDeflate, ContentComesBack) {
  if (!coding::is_available(coding::Coding::Deflate)) GTEST_SKIP() << "built without zlib";
  ZipDeflate deflate;
  const std::string texts[] = {repeated("gull ", 700'000), noise(200'000), "",
                               repeated("gull ", 70'000) + noise(300'000),
                               noise(70'000) + repeated("gull ", 300'000)};
  for (const std::string& text : texts) {
    std::string out;
    deflate.begin();
    for (std::string_view rest = text; !rest.empty();) {
      const std::string_view piece = rest.substr(0, 100'000);
      ASSERT_TRUE(deflate.write(piece, out));
      rest.remove_prefix(piece.size());
    }
    ASSERT_TRUE(deflate.end(out));
    EXPECT_EQ(inflated(out), text);
    EXPECT_LE(out.size(), text.size() + text.size() / 1000 + 100);
    const auto whole = deflate.whole(text);
    ASSERT_TRUE(whole);
    EXPECT_EQ(whole->empty() ? text : inflated(*whole), text);
  }
  EXPECT_FALSE(deflate.whole(texts[0])->empty());
  EXPECT_TRUE(deflate.whole(texts[1])->empty());
}

TEST(TarWriter, ASmallEntryIsOneHeaderAndItsContent) {
  std::string out;
  const auto tar = make_tar_writer();
  ASSERT_TRUE(tar->add({.name = "a/b.txt", .modified = 8, .size_bytes = 3}, "abc", out));
  ASSERT_EQ(out.size(), 1024U);
  EXPECT_EQ(out.substr(0, 8), std::string("a/b.txt\0", 8));
  EXPECT_EQ(out.substr(100, 8), std::string("0000644\0", 8));
  EXPECT_EQ(out.substr(124, 12), std::string("00000000003\0", 12));
  EXPECT_EQ(out.substr(136, 12), std::string("00000000010\0", 12));
  EXPECT_EQ(out[156], '0');
  EXPECT_EQ(out.substr(257, 8), std::string("ustar\00000", 8));
  unsigned sum = 8 * ' ';
  for (std::size_t i = 0; i < 512; ++i) {
    if (i < 148 || i >= 156) sum += static_cast<unsigned char>(out[i]);
  }
  EXPECT_EQ(std::stoul(out.substr(148, 6), nullptr, 8), sum);
  EXPECT_EQ(out.substr(512, 4), std::string("abc\0", 4));
  ASSERT_TRUE(tar->finish(out));
  EXPECT_EQ(out.substr(1024), std::string(1024, '\0'));
}

TEST(TarWriter, WhatDoesNotFitIsInAPaxHeader) {
  const auto header = [](const ArchiveEntry& entry) {
    std::string out;
    EXPECT_TRUE(make_tar_writer()->begin(entry, out));
    return out;
  };
  const std::string large = header({.name = "a", .size_bytes = 8 * gibibyte});
  ASSERT_EQ(large.size(), 3 * 512U);
  EXPECT_EQ(large[156], 'x');
  EXPECT_TRUE(large.substr(512).starts_with(std::string("19 size=8589934592\n\0", 20)));
  EXPECT_EQ(large[1024 + 156], '0');
  EXPECT_EQ(header({.name = "a", .size_bytes = 8 * gibibyte - 1}).size(), 512U);
  const std::string old = header({.name = "a", .modified = -1});
  EXPECT_TRUE(old.substr(512).starts_with("12 mtime=-1\n"));
  EXPECT_TRUE(header({.name = "a", .modified = 8'589'934'592})
                  .substr(512)
                  .starts_with("20 mtime=8589934592\n"));
  const std::string wide = header({.name = "\u00e4/"});
  EXPECT_TRUE(wide.substr(512).starts_with("12 path=\u00e4/\n"));
  EXPECT_TRUE(wide.substr(1024).starts_with("__/"));
  EXPECT_EQ(wide[1024 + 156], '5');
  // A cut name must not look like a folder.
  const std::string name = std::string(99, 'a') + "/b";
  const std::string cut = header({.name = name});
  EXPECT_TRUE(cut.substr(512).starts_with("111 path=" + name + "\n"));
  EXPECT_TRUE(cut.substr(1024).starts_with(std::string(99, 'a') + "_"));
}

TEST(TarWriter, TheLengthOfARecordCountsItsOwnDigits) {
  for (std::size_t size = 80; size < 110; ++size) {
    std::string out;
    ASSERT_TRUE(make_tar_writer()->begin({.name = repeated("\u00e4", size * 2)}, out));
    const std::size_t length = std::stoul(out.substr(512));
    EXPECT_EQ(out.at(512 + length - 1), '\n') << size;
    EXPECT_EQ(out.at(512 + length), '\0') << size;
  }
}

TEST(ZipWriter, SmallEntriesHaveTheirSizesInFront) {
  std::string out;
  const auto zip = make_zip_writer();
  ASSERT_TRUE(zip->add({.name = "\u00e4", .modified = 784'111'777, .size_bytes = 3}, "abc", out));
  EXPECT_EQ(little(out, 0, 4), 0x04034b50U);
  EXPECT_EQ(little(out, 6, 2), 0x800U) << "UTF-8, and nothing follows";
  EXPECT_EQ(little(out, 8, 2), 0U);
  EXPECT_EQ(little(out, 10, 2), 8U << 11U | 49U << 5U | 37U / 2);
  EXPECT_EQ(little(out, 12, 2), 14U << 9U | 11U << 5U | 6U);
  EXPECT_EQ(little(out, 14, 4), crc32(0, "abc"));
  EXPECT_EQ(little(out, 18, 4), 3U);
  EXPECT_EQ(little(out, 22, 4), 3U);
  const std::size_t content_end = out.size();
  ASSERT_TRUE(zip->finish(out));
  EXPECT_EQ(little(out, content_end, 4), 0x02014b50U);
  EXPECT_EQ(little(out, out.size() - 22, 4), 0x06054b50U);
  EXPECT_EQ(little(out, out.size() - 6, 4), content_end) << "the offset of the directory";
}

TEST(ZipWriter, LargeEntriesAreZip64) {
  std::string out;
  const auto zip = make_zip_writer();
  ASSERT_TRUE(zip->begin({.name = "a", .size_bytes = 4 * gibibyte}, out));
  EXPECT_EQ(little(out, 4, 2), 45U);
  EXPECT_EQ(little(out, 6, 2), 0x808U) << "the sizes follow";
  EXPECT_EQ(little(out, 8, 2), 8U);
  EXPECT_EQ(little(out, 18, 4), 0xffffffffU);
  EXPECT_EQ(little(out, 22, 4), 0xffffffffU);
  EXPECT_EQ(little(out, 31, 2), 1U) << "the extra field of Zip64";
  std::string small;
  ASSERT_TRUE(make_zip_writer()->begin({.name = "a", .size_bytes = 3 * gibibyte}, small));
  EXPECT_EQ(little(small, 4, 2), 20U);
  EXPECT_EQ(little(small, 18, 4), 0U);
}

TEST(ZipWriter, ManyEntriesAreZip64) {
  for (const unsigned count : {65'534U, 65'535U}) {
    std::string out;
    const auto zip = make_zip_writer();
    for (unsigned i = 0; i < count; ++i) {
      out.clear();
      ASSERT_TRUE(zip->add({.name = "a/"}, {}, out));
    }
    out.clear();
    ASSERT_TRUE(zip->finish(out));
    const bool is_zip64 = count == 65'535;
    EXPECT_EQ(little(out, out.size() - 12, 2), count);
    EXPECT_EQ(little(out, out.size() - 42, 4) == 0x07064b50, is_zip64);
    if (is_zip64) {
      EXPECT_EQ(little(out, out.size() - 6, 4), 0xffffffffU);
      EXPECT_EQ(little(out, out.size() - 98, 4), 0x06064b50U);
      EXPECT_EQ(little(out, out.size() - 98 + 32, 8), count);
    }
  }
}

TEST(ZipWriter, ItsDirectoryIsBounded) {
  std::string out;
  const auto zip = make_zip_writer(1000);
  int count = 0;
  auto added = zip->add({.name = "a/"}, {}, out);
  while (added && ++count < 1000) added = zip->add({.name = "a/"}, {}, out);
  EXPECT_LT(count, 25);
  EXPECT_EQ(added.error().code(), Errc::BodyTooLong);
}

}  // namespace
}  // namespace skua::files
