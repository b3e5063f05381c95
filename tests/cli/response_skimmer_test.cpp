// SPDX-License-Identifier: MIT
// For any input, split in any way, a skimmer finds the same as a reader.
#include "bench/response_skimmer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace skua::h1 {
namespace {

const std::string hello =
    "HTTP/1.1 200 OK\r\nDate: Thu, 01 Jan 2026 00:00:00 GMT\r\nContent-Length: 5\r\n\r\n";
const std::string later =
    "HTTP/1.1 200 OK\r\nDate: Thu, 01 Jan 2026 00:00:01 GMT\r\nContent-Length: 5\r\n\r\n";

/// Results: "200", "200 close", or "error " and the number of the Errc.
using Found = std::vector<std::string>;

std::string text_of(unsigned status, bool can_be_reused) {
  return std::to_string(status) + (can_be_reused ? "" : " close");
}

std::string text_of(Error error) {
  return "error " + std::to_string(static_cast<unsigned>(error.code()));
}

Found read_all(const std::vector<std::string_view>& pieces, ResponseTo request) {
  Found found;
  ResponseReader reader;
  reader.start(request);
  for (std::string_view piece : pieces) {
    while (true) {
      const ResponseReader::Step step = reader.read(piece);
      piece.remove_prefix(step.consumed_bytes);
      if (step.event == ResponseEvent::NeedMore) break;
      if (step.event == ResponseEvent::Failed) {
        found.push_back(text_of(reader.error()));
        return found;
      }
      if (step.event != ResponseEvent::Complete) continue;
      found.push_back(text_of(reader.head().status, reader.can_be_reused()));
      if (!reader.can_be_reused()) return found;
      reader.start(request);
    }
  }
  if (!reader.has_begun()) return found;
  const bool is_whole = reader.end_of_input().has_value();
  found.push_back(is_whole ? text_of(reader.head().status, false) : text_of(reader.error()));
  return found;
}

Found skim_all(SkimmerMemory& memory, const std::vector<std::string_view>& pieces) {
  using Event = ResponseSkimmer::Event;
  Found found;
  ResponseSkimmer skimmer(memory);
  for (std::string_view piece : pieces) {
    while (true) {
      const Event event = skimmer.read(piece);
      if (event == Event::NeedMore) {
        EXPECT_TRUE(piece.empty());
        break;
      }
      if (event == Event::Failed) {
        found.push_back(text_of(skimmer.error()));
        return found;
      }
      found.push_back(text_of(skimmer.status(), skimmer.can_be_reused()));
      if (!skimmer.can_be_reused()) return found;
    }
  }
  if (!skimmer.has_begun()) return found;
  const bool is_whole = skimmer.end_of_input() == Event::Complete;
  found.push_back(is_whole ? text_of(skimmer.status(), skimmer.can_be_reused())
                           : text_of(skimmer.error()));
  return found;
}

TEST(ResponseSkimmer, FindsWhatAReaderFinds) {
  const std::vector<std::string> messages = {
      hello + "hello",
      hello + "world",
      later + "again",
      "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
      "HTTP/1.1 204 No Content\r\n\r\n",
      "HTTP/1.1 500 Broken\r\nContent-Length: 3\r\n\r\nsad",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
      "HTTP/1.1 103 Hints\r\n\r\n" + hello + "hints",
      "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno",
      "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nno",
      "HTTP/1.1 204 No Content\r\nContent-Length: 2\r\n\r\n",
      "HTTP/1.1 200 OK\r\n\r\nuntil the end",
      "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
      "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n",
      hello + "hel",  // the rest comes from the next message
      "garbage\r\n\r\n",
  };
  std::mt19937 random(4711);
  const auto below = [&random](std::size_t end) {
    return std::uniform_int_distribution<std::size_t>(0, end - 1)(random);
  };
  for (const Method method : {Method::Get, Method::Head}) {
    const ResponseTo request{.method = method};
    SkimmerMemory memory(request);
    for (int round = 0; round < 3000; ++round) {
      std::string stream;
      for (std::size_t left = 1 + below(6); left != 0; --left) {
        // Servers mostly repeat themselves.
        stream += messages[below(3) != 0 ? below(3) : below(messages.size())];
      }
      if (below(8) == 0) stream.resize(below(stream.size()));
      std::vector<std::string_view> pieces;
      for (std::string_view rest = stream; !rest.empty();) {
        const std::size_t most = below(3) == 0 ? 4 : stream.size();
        const std::size_t count = std::min(rest.size(), 1 + below(most));
        pieces.push_back(rest.substr(0, count));
        rest.remove_prefix(count);
      }
      ASSERT_EQ(skim_all(memory, pieces), read_all(pieces, request)) << stream;
    }
  }
}

TEST(ResponseSkimmer, AHeadThatOnlyBeginsLikeTheKnownOneIsRead) {
  SkimmerMemory memory({.method = Method::Get});
  const std::string first = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
  const std::string other = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
  EXPECT_EQ(skim_all(memory, {first, first, other}), (Found{"200", "200", "200 close"}));
}

TEST(ResponseSkimmer, EndsInTheMiddleOfWhatItKnows) {
  SkimmerMemory memory({.method = Method::Get});
  const Found found = skim_all(memory, {hello, "hello", hello, "hel"});
  EXPECT_EQ(found, (Found{"200", text_of(Errc::TruncatedBody)}));
}

TEST(ResponseSkimmer, ForgetsOneConnectionForTheNext) {
  SkimmerMemory memory({.method = Method::Get});
  ResponseSkimmer skimmer(memory);
  const std::string whole = hello + "hello";
  for (const std::string& broken : {hello, hello.substr(0, 9), std::string("rubbish\r\n\r\n")}) {
    std::string_view input = broken;
    EXPECT_NE(skimmer.read(input), ResponseSkimmer::Event::Complete);
    skimmer.forget();
    EXPECT_FALSE(skimmer.has_begun());
    input = whole;
    EXPECT_EQ(skimmer.read(input), ResponseSkimmer::Event::Complete);
    EXPECT_EQ(skimmer.status(), 200);
    EXPECT_TRUE(input.empty());
  }
}

}  // namespace
}  // namespace skua::h1
