// SPDX-License-Identifier: MIT
#include "middleware/compressed_stream.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "coding/decoder.hpp"
#include "skua/compression.hpp"
#include "skua/response.hpp"
#include "skua/testing.hpp"

namespace skua::middleware {
namespace {

using coding::Coding;

// A sink that always has room.
class Recorder final : public detail::BodySink {
 public:
  void write(Body&& piece) override { pieces.emplace_back(piece.text()); }
  void add_trailer(std::string_view name, std::string_view value) override {
    trailers.append(name).append("=").append(value);
  }
  [[nodiscard]] bool has_room() const noexcept override { return true; }
  void wait(detail::Waiter&, std::coroutine_handle<>) override { ADD_FAILURE() << "there is room"; }

  std::vector<std::string> pieces;
  std::string trailers;
};

Response lines(std::optional<std::uint64_t> length_bytes = std::nullopt) {
  return Response::stream(
      "text/plain",
      [](BodyWriter& out) -> Task<> {
        co_await out.write("one\n");
        co_await out.write("two\n");
        out.trailer("X-Count", "2");
      },
      length_bytes);
}

class CompressedStream : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!coding::is_available(Coding::Gzip)) GTEST_SKIP() << "this build does not know gzip";
  }
  /// Produces the content of a stream and rethrows the producer's exceptions.
  void produce(const BodyStream& stream) {
    BodyWriter writer(recorder_);
    Task<> task = stream.produce(writer);
    task.start([](void*) noexcept {}, nullptr);
    ASSERT_TRUE(task.is_done());
    task.result();
  }
  static std::shared_ptr<const BodyStream> compressed(const Response& response) {
    return compress_stream(*response.content().stream(), *coding::Encoder::create(Coding::Gzip, 6));
  }
  Recorder recorder_;
};

TEST_F(CompressedStream, EachPieceCanBeDecodedWhenItIsThere) {
  produce(*compressed(lines()));
  ASSERT_EQ(recorder_.pieces.size(), 3U);
  coding::Decoder decoder = *coding::Decoder::create(Coding::Gzip);
  std::string text;
  ASSERT_TRUE(decoder.push(recorder_.pieces[0], text));
  EXPECT_EQ(text, "one\n");
  ASSERT_TRUE(decoder.push(recorder_.pieces[1], text));
  EXPECT_EQ(text, "one\ntwo\n");
  ASSERT_TRUE(decoder.push(recorder_.pieces[2], text));
  EXPECT_TRUE(decoder.finish());
  EXPECT_EQ(recorder_.trailers, "X-Count=2");
}

TEST_F(CompressedStream, TheLengthThatWasToldIsAskedFor) {
  EXPECT_NO_THROW(produce(*compressed(lines(8))));
  EXPECT_FALSE(compressed(lines(8))->length_bytes);
  EXPECT_THROW(produce(*compressed(lines(9))), Exception);
  EXPECT_THROW(produce(*compressed(lines(7))), Exception);
}

TEST_F(CompressedStream, AFileRangeIsRefused) {
  const Response response = Response::stream("text/plain", [](BodyWriter& out) -> Task<> {
    FileRange range;
    range.size_bytes = 1;
    co_await out.write(range);
  });
  EXPECT_THROW(produce(*compressed(response)), Exception);
}

TEST_F(CompressedStream, WhatTheProducerThrowsGoesOn) {
  const Response response = Response::stream("text/plain", [](BodyWriter& out) -> Task<> {
    co_await out.write("x");
    throw std::runtime_error("no more");
  });
  EXPECT_THROW(produce(*compressed(response)), std::runtime_error);
  EXPECT_EQ(recorder_.pieces.size(), 1U);
}

TEST_F(CompressedStream, OnlyWhereItIsAskedForAndHasAnEnd) {
  const auto is_coded = [](const CompressionOptions& options, Response response) {
    testing::FakeRequest fake("GET /");
    fake.header("Accept-Encoding", "gzip");
    compression(options)(fake.request(), response);
    return response.header("Content-Encoding") == "gzip";
  };
  EXPECT_FALSE(is_coded({}, lines()));
  EXPECT_TRUE(is_coded({.streams = true}, lines()));
  EXPECT_FALSE(is_coded({.streams = true}, lines(8))) << "shorter than min_bytes";
  auto endless = std::make_shared<BodyStream>(**lines().content().stream());
  endless->is_endless = true;
  Response response = lines();
  response.content() = Body(std::shared_ptr<const BodyStream>(endless));
  EXPECT_FALSE(is_coded({.streams = true}, std::move(response)));
}

}  // namespace
}  // namespace skua::middleware
