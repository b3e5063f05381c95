// SPDX-License-Identifier: MIT
#include "heads.hpp"

#include <gtest/gtest.h>

#include <string>

namespace bench::raw {
namespace {

std::size_t count_whole(std::string_view bytes) {
  std::uint8_t matched = 0;
  return count_heads(bytes, matched);
}

// The plain definition: non-overlapping matches.
std::size_t count_slowly(std::string_view bytes) {
  std::size_t count = 0;
  for (std::size_t at = bytes.find("\r\n\r\n"); at != std::string_view::npos;
       at = bytes.find("\r\n\r\n", at + 4)) {
    ++count;
  }
  return count;
}

TEST(CountHeads, CountsEveryPipelinedRequest) {
  const std::string request = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
  EXPECT_EQ(count_whole(request), 1U);
  EXPECT_EQ(count_whole(request + request + request), 3U);
  EXPECT_EQ(count_whole("GET / HTTP/1.1\r\nHost: a\r\n"), 0U);
}

TEST(CountHeads, GivesTheSameSumForEveryPairOfCuts) {
  const std::string stream =
      "GET / HTTP/1.1\r\nHost: a\r\n\r\nGET /b HTTP/1.1\r\n\r\r\n\r\n\r\n\r\n";
  const std::size_t expected = count_slowly(stream);
  for (std::size_t first = 0; first <= stream.size(); ++first) {
    for (std::size_t second = first; second <= stream.size(); ++second) {
      std::uint8_t matched = 0;
      const std::string_view view = stream;
      std::size_t count = count_heads(view.substr(0, first), matched);
      count += count_heads(view.substr(first, second - first), matched);
      count += count_heads(view.substr(second), matched);
      ASSERT_EQ(count, expected) << "cut at " << first << " and " << second;
    }
  }
}

// Every string of up to nine bytes over CR, LF and one other byte, at every cut.
TEST(CountHeads, AgreesWithAPlainSearchOnEveryShortString) {
  const std::string alphabet = "\r\nx";
  for (std::size_t length = 0; length <= 9; ++length) {
    std::size_t variants = 1;
    for (std::size_t i = 0; i < length; ++i) variants *= alphabet.size();
    for (std::size_t variant = 0; variant < variants; ++variant) {
      std::string bytes;
      for (std::size_t i = 0, rest = variant; i < length; ++i, rest /= alphabet.size()) {
        bytes += alphabet[rest % alphabet.size()];
      }
      const std::size_t expected = count_slowly(bytes);
      for (std::size_t cut = 0; cut <= length; ++cut) {
        std::uint8_t matched = 0;
        std::size_t count = count_heads(std::string_view(bytes).substr(0, cut), matched);
        count += count_heads(std::string_view(bytes).substr(cut), matched);
        ASSERT_EQ(count, expected) << "variant " << variant << " cut at " << cut;
      }
    }
  }
}

}  // namespace
}  // namespace bench::raw
