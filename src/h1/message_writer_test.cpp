// SPDX-License-Identifier: MIT

#include <gtest/gtest.h>
#include <limits>
#include <string>

#include "h1/body_decoder.hpp"
#include "h1/message_writer.hpp"

namespace skua::h1 {
namespace {

std::string written(const ResponseHead& head) {
  std::string out = "before ";
  append_head(head, out);
  EXPECT_LE(out.size() - 7, head_bytes_at_most(head));
  return out.substr(7);
}

TEST(HeadWriter, WritesEveryPartInOrder) {
  EXPECT_EQ(written({.body = BodyField::Length,
                     .connection = ConnectionField::KeepAlive,
                     .length_bytes = 13,
                     .standard_fields = "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\nServer: skua\r\n",
                     .content_type = "text/plain",
                     .fields = "X-A: 1\r\nX-B: 2\r\n"}),
            "HTTP/1.1 200 OK\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\nServer: skua\r\n"
            "Content-Type: text/plain\r\nContent-Length: 13\r\nConnection: keep-alive\r\n"
            "X-A: 1\r\nX-B: 2\r\n\r\n");
}

TEST(HeadWriter, LeavesOutWhatIsNotThere) {
  EXPECT_EQ(written({.status = Status::NoContent}), "HTTP/1.1 204 No Content\r\n\r\n");
  EXPECT_EQ(written({.status = Status::BadRequest,
                     .body = BodyField::Chunked,
                     .connection = ConnectionField::Close}),
            "HTTP/1.1 400 Bad Request\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n");
}

TEST(HeadWriter, ACodeWithoutReasonKeepsItsSpace) {
  EXPECT_EQ(written({.status = Status(299)}), "HTTP/1.1 299 \r\n\r\n");
  EXPECT_EQ(written({.status = Status(999)}), "HTTP/1.1 999 \r\n\r\n");
  EXPECT_EQ(status_line(Status(299)), "");
}

TEST(HeadWriter, EveryRegisteredStatusHasItsLine) {
  for (std::uint16_t c = 100; c < 600; ++c) {
    const Status status{c};
    if (reason(status).empty()) continue;
    const std::string line =
        "HTTP/1.1 " + std::to_string(c) + " " + std::string(reason(status)) + "\r\n";
    EXPECT_EQ(status_line(status), line);
    EXPECT_EQ(written({.status = status}), line + "\r\n");
  }
}

TEST(HeadWriter, WritesDecimals) {
  for (const std::uint64_t number :
       {std::uint64_t{0}, std::uint64_t{9}, std::uint64_t{10}, std::uint64_t{99},
        std::uint64_t{100}, std::uint64_t{12345}, std::uint64_t{1000000},
        std::numeric_limits<std::uint64_t>::max()}) {
    char out[20];
    EXPECT_EQ(std::string(out, write_decimal(number, out)), std::to_string(number));
  }
}

}  // namespace
namespace {

std::string header(std::uint64_t size) {
  char out[chunk_header_bytes];
  return {out, write_chunk_header(size, out)};
}

TEST(BodyEncoder, WritesSizesInHexWithoutLeadingZeros) {
  EXPECT_EQ(header(1), "1\r\n");
  EXPECT_EQ(header(15), "f\r\n");
  EXPECT_EQ(header(16), "10\r\n");
  EXPECT_EQ(header(0xabcdef), "abcdef\r\n");
  EXPECT_EQ(header(~std::uint64_t{0}), "ffffffffffffffff\r\n");
}

TEST(BodyEncoder, WhatItWritesDecodesAgain) {
  const std::string trailers = "X-Sum: 7\r\n";
  std::string end(last_chunk_bytes(trailers), '\0');
  EXPECT_EQ(write_last_chunk(trailers, end.data()), end.data() + end.size());
  const std::string wire = header(5) + "hello" + std::string(chunk_end) + end;
  BodyDecoder decoder;
  ASSERT_TRUE(decoder.start({.body = BodyKind::Chunked}, {}));
  const BodyDecoder::Step step = decoder.step(wire);
  EXPECT_EQ(step.data, "hello");
  EXPECT_EQ(step.status, BodyStatus::Done);
  EXPECT_EQ(step.consumed_bytes, wire.size());
  EXPECT_EQ(decoder.trailers().value(*decoder.trailers().find("x-sum")), "7");
}

TEST(BodyEncoder, NoTrailersIsTheLastChunkAlone) {
  std::string end(last_chunk_bytes(""), '\0');
  write_last_chunk("", end.data());
  EXPECT_EQ(end, last_chunk);
}

}  // namespace
}  // namespace skua::h1
