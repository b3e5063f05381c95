// SPDX-License-Identifier: MIT
// Tests what case files cannot express: lifetimes, the end of input, and long random streams.
#include "h1/response_reader.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace skua::h1 {
namespace {

std::string value(const http::Head& head, std::string_view name) {
  const http::FieldLine* const line = head.find(name);
  return line == nullptr ? "missing" : std::string(head.value(*line));
}

TEST(ResponseReader, HeadAndTrailersNeedNoInput) {
  for (const bool in_one_piece : {true, false}) {
    ResponseReader reader;
    std::string bytes =
        "HTTP/1.1 200 Fine\r\nTransfer-Encoding: chunked\r\nX-A: long enough for no small "
        "string\r\n"
        "\r\n1\r\na\r\n0\r\nX-T: trailer\r\n\r\n";
    std::string content;
    auto event = ResponseEvent::NeedMore;
    for (std::size_t at = 0; event != ResponseEvent::Complete;) {
      std::string piece = in_one_piece ? bytes.substr(at) : bytes.substr(at, 1);
      const ResponseReader::Step step = reader.read(piece);
      ASSERT_NE(step.event, ResponseEvent::Failed);
      content += step.data;
      at += step.consumed_bytes;
      event = step.event;
      piece.assign(piece.size(), '?');  // exposes reads of stale input
    }
    EXPECT_EQ(content, "a");
    EXPECT_EQ(reader.head().target(), "Fine");
    EXPECT_EQ(value(reader.head(), "x-a"), "long enough for no small string");
    EXPECT_EQ(value(reader.trailers(), "x-t"), "trailer");
    EXPECT_TRUE(reader.can_be_reused());
  }
}

TEST(ResponseReader, AnInterimHeadStaysUntilTheNextRead) {
  ResponseReader reader;
  std::string_view input =
      "HTTP/1.1 103 Hints\r\nLink: <a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n";
  ResponseReader::Step step = reader.read(input);
  ASSERT_EQ(step.event, ResponseEvent::Interim);
  input.remove_prefix(step.consumed_bytes);
  EXPECT_EQ(value(reader.head(), "link"), "<a>");
  EXPECT_EQ(reader.read("").event, ResponseEvent::NeedMore);
  EXPECT_EQ(value(reader.head(), "link"), "<a>") << "nothing was read";
  step = reader.read(input);
  ASSERT_EQ(step.event, ResponseEvent::Head);
  EXPECT_EQ(value(reader.head(), "link"), "missing");
  EXPECT_EQ(reader.framing().length_bytes, 1U);
}

TEST(ResponseReader, SaysWhyNothingCame) {
  ResponseReader reader;
  EXPECT_FALSE(reader.has_begun());
  EXPECT_EQ(reader.end_of_input().error().code(), Errc::Closed);
  EXPECT_EQ(reader.error().context(), "before the response");
  EXPECT_EQ(reader.read("HTTP/1.1 200 OK\r\n\r\n").event, ResponseEvent::Failed) << "for good";
  reader.start({});
  static_cast<void>(reader.read("H"));
  EXPECT_TRUE(reader.has_begun());
  EXPECT_EQ(reader.end_of_input().error().code(), Errc::Closed);
  EXPECT_EQ(reader.error().context(), "inside the head of a response");
  reader.start({});
  EXPECT_FALSE(reader.has_begun());
  EXPECT_EQ(reader.read("HTTP/1.1 100 Continue\r\n\r\n").event, ResponseEvent::Interim);
  EXPECT_TRUE(reader.has_begun()) << "the server has seen the request";
  EXPECT_EQ(reader.end_of_input().error().code(), Errc::Closed);
}

TEST(ResponseReader, TheEndOfTheInputEndsWhatHasNoLengthAndNothingElse) {
  const auto end_behind = [](std::string_view input, Method method = Method::Get) {
    ResponseReader reader;
    reader.start({.method = method});
    ResponseReader::Step step;
    do {
      step = reader.read(input);
      input.remove_prefix(step.consumed_bytes);
    } while (step.event == ResponseEvent::Head || step.event == ResponseEvent::Data);
    const Errc error = reader.end_of_input().error().code();
    EXPECT_FALSE(reader.can_be_reused());
    EXPECT_EQ(reader.error().code(), error);
    const ResponseEvent event = reader.read("").event;
    EXPECT_EQ(event == ResponseEvent::Failed, error != Errc::None);
    return error;
  };
  EXPECT_EQ(end_behind("HTTP/1.1 200 OK\r\n\r\n"), Errc::None);
  EXPECT_EQ(end_behind("HTTP/1.1 200 OK\r\n\r\nabc"), Errc::None);
  EXPECT_EQ(end_behind("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na"), Errc::None);
  EXPECT_EQ(end_behind("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n", Method::Head), Errc::None);
  EXPECT_EQ(end_behind("HTTP/1.1 200 OK\r\n\r\nabc", Method::Connect), Errc::None);
  EXPECT_EQ(end_behind("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n"), Errc::TruncatedBody);
  EXPECT_EQ(end_behind("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n"),
            Errc::TruncatedBody);
  EXPECT_EQ(end_behind("HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n"), Errc::InvalidContentLength);
}

TEST(ResponseReader, AHeadIsTooLongHoweverItIsSplit) {
  const std::string bytes = "HTTP/1.1 200 OK\r\nA: " + std::string(200, 'a') + "\r\n\r\n";
  for (const std::size_t limit : {bytes.size(), bytes.size() - 1}) {
    for (std::size_t at = 0; at < bytes.size(); ++at) {
      ResponseReader reader({.head = {.head_bytes = limit}});
      ResponseReader::Step step = reader.read(std::string_view(bytes).substr(0, at));
      ASSERT_EQ(step.event, ResponseEvent::NeedMore);
      const std::string rest = bytes.substr(at) + std::string(1000, 'x');
      step = reader.read(rest);
      if (limit == bytes.size()) {
        ASSERT_EQ(step.event, ResponseEvent::Head) << at;
        ASSERT_EQ(step.consumed_bytes, bytes.size() - at);
      } else {
        ASSERT_EQ(step.event, ResponseEvent::Failed) << at;
        ASSERT_EQ(reader.error().code(), Errc::HeadTooLong);
      }
    }
  }
}

// Returns all events of a connection as text, with content in one piece.
std::string events_of(std::string_view bytes, std::size_t piece, ResponseTo request) {
  ResponseReader reader({.head = {.head_bytes = 90, .fields = 4},
                         .body = {.body_bytes = 9, .extension_bytes = 6, .trailer_bytes = 12},
                         .interim_responses = 2});
  std::string text;
  reader.start(request);
  bool has_ended = false;
  for (std::string_view input;;) {
    const ResponseReader::Step step = reader.read(input);
    input.remove_prefix(step.consumed_bytes);
    switch (step.event) {
      case ResponseEvent::NeedMore:
        EXPECT_TRUE(input.empty());
        if (has_ended) return text + " open";
        input = bytes.substr(0, piece);
        bytes.remove_prefix(input.size());
        has_ended = input.empty();
        if (has_ended) static_cast<void>(reader.end_of_input());
        break;
      case ResponseEvent::Interim:
      case ResponseEvent::Head: text += "\n" + std::to_string(reader.head().status) + " "; break;
      case ResponseEvent::Data: text += step.data; break;
      case ResponseEvent::Complete:
        for (const http::FieldLine& line : reader.trailers().fields) {
          text.append(" ").append(reader.trailers().value(line));
        }
        if (!reader.can_be_reused()) return text + " closed";
        reader.start(request);
        break;
      case ResponseEvent::Switched: return text + " switched";
      case ResponseEvent::Failed:
        return text + " error " + std::to_string(static_cast<int>(reader.error().code()));
    }
  }
}

TEST(ResponseReader, EventsNeverDependOnSplits) {
  static const std::string pieces[] = {"HTTP/1.1 200 OK\r\n",
                                       "HTTP/1.1 103 E\r\n\r\n",
                                       "HTTP/1.1 204 N\r\n",
                                       "HTTP/1.1 101 S\r\n",
                                       "Content-Length: 3\r\n",
                                       "Transfer-Encoding: chunked\r\n",
                                       "Connection: upgrade\r\nUpgrade: a\r\n",
                                       "Connection: close\r\n",
                                       "A: b\r\n",
                                       "\r\n",
                                       "abc",
                                       "3\r\nabc\r\n",
                                       "0\r\n\r\n",
                                       "0\r\nA: b\r\n\r\n",
                                       "\n",
                                       "x"};
  std::mt19937 random(5);
  const ResponseTo requests[] = {
      {}, {.method = Method::Head}, {.offers_upgrade = true}, {.method = Method::Connect}};
  for (int round = 0; round < 20000; ++round) {
    std::string bytes;
    for (auto n = random() % 14; n > 0; --n) bytes += pieces[random() % std::size(pieces)];
    const ResponseTo request = requests[random() % std::size(requests)];
    const std::string whole = events_of(bytes, 1000, request);
    for (const std::size_t piece : {1U, 3U, 17U}) {
      ASSERT_EQ(events_of(bytes, piece, request), whole) << bytes;
    }
  }
}

}  // namespace
}  // namespace skua::h1
