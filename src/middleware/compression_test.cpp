// SPDX-License-Identifier: MIT

#include <gtest/gtest.h>
#include <atomic>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "coding/coding.hpp"
#include "middleware/compression.hpp"
#include "skua/body_writer.hpp"
#include "skua/compression.hpp"
#include "skua/response.hpp"
#include "skua/router.hpp"
#include "skua/task.hpp"
#include "skua/testing.hpp"

namespace skua {
namespace {

using coding::Coding;
using testing::FakeRequest;

std::string page() {
  std::string text;
  for (int i = 0; i < 500; ++i) text.append("<li>").append(std::to_string(i)).append("</li>\n");
  return text;
}

std::string decoded(const Response& response) {
  const auto coding = coding::find_coding(response.header("Content-Encoding").value_or(""));
  if (!coding) return "not encoded";
  auto decoder = coding::Decoder::create(*coding);
  std::string text;
  if (!decoder || !decoder->push(response.body(), text) || !decoder->finish()) return "malformed";
  return text;
}

class CompressionTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!coding::is_available(Coding::Gzip)) GTEST_SKIP() << "this build does not know gzip";
    middleware_ = compression();
  }
  /// Returns the response after compression for a client that accepts `accepted`.
  Response finish(Response response, std::string_view accepted = "gzip",
                  std::string_view line = "GET /") {
    FakeRequest fake(line);
    if (!accepted.empty()) fake.header("Accept-Encoding", accepted);
    (*middleware_)(fake.request(), response);
    return response;
  }
  bool leaves_alone(const Response& response) {
    const Response after = finish(response);
    return after.body() == response.body() && after.lines().wire() == response.lines().wire() &&
           after.prepared() == response.prepared();
  }

  std::optional<Compression> middleware_;
};

TEST_F(CompressionTest, CompressesAPage) {
  const Response response = finish(Response::html(page()));
  EXPECT_EQ(response.header("Content-Encoding"), "gzip");
  EXPECT_EQ(response.header("Vary"), "Accept-Encoding");
  EXPECT_EQ(response.content_type(), Response::html_text);
  EXPECT_LT(response.body().size(), page().size() / 2);
  EXPECT_EQ(decoded(response), page());
}

TEST_F(CompressionTest, SpeaksWhatTheClientLikesBest) {
  for (const Coding coding : {Coding::Zstd, Coding::Brotli, Coding::Gzip}) {
    if (!coding::is_available(coding)) continue;
    const Response response = finish(page(), coding::name(coding));
    EXPECT_EQ(response.header("Content-Encoding"), coding::name(coding));
    EXPECT_EQ(decoded(response), page());
    const Response weighed = finish(page(), "*;q=0.5, " + std::string(coding::name(coding)));
    EXPECT_EQ(weighed.header("Content-Encoding"), coding::name(coding));
  }
}

TEST_F(CompressionTest, SaysThatItCouldHaveCompressed) {
  for (const std::string_view accepted : {"", "identity", "gzip;q=0", "deflate", "*;q=0"}) {
    const Response response = finish(page(), accepted);
    EXPECT_EQ(response.body(), page());
    EXPECT_EQ(response.lines().wire(), "Vary: Accept-Encoding\r\n") << accepted;
  }
}

TEST_F(CompressionTest, JoinsVary) {
  EXPECT_EQ(finish(Response(page()).header("Vary", "Origin")).header("Vary"),
            "Origin, Accept-Encoding");
  EXPECT_EQ(finish(Response(page()).header("Vary", "*")).header("Vary"), "*");
}

TEST_F(CompressionTest, LeavesAloneWhatWouldNotShrink) {
  const std::string text = page();
  EXPECT_TRUE(leaves_alone(Response(Status::Ok, text, "image/png")));
  EXPECT_TRUE(leaves_alone(Response(Status::Ok, text, "application/zip")));
  EXPECT_TRUE(leaves_alone(std::string(1023, 'x')));
  EXPECT_FALSE(leaves_alone(std::string(1024, 'x')));
  EXPECT_FALSE(leaves_alone(std::string(1U << 20U, 'x')));
  EXPECT_TRUE(leaves_alone(std::string((1U << 20U) + 1, 'x')));
  std::string noise;
  for (unsigned state = 1; noise.size() < 2000; state = state * 1664525U + 1013904223U) {
    noise += static_cast<char>(state >> 24U);
  }
  const Response kept = finish(noise);
  EXPECT_EQ(kept.body(), noise);
  EXPECT_FALSE(kept.header("Content-Encoding"));
}

TEST_F(CompressionTest, LeavesAloneWhatMustNotChange) {
  EXPECT_TRUE(leaves_alone(Response(page()).header("Content-Encoding", "br")));
  EXPECT_TRUE(leaves_alone(Response(page()).header("Cache-Control", "public, No-Transform")));
  EXPECT_TRUE(leaves_alone(Response(page()).header("Content-Range", "bytes 0-9/10")));
  const Response lines = Response(page()).header("Cache-Control", "public");
  EXPECT_TRUE(leaves_alone(Response(lines).add_header("Cache-Control", "no-transform")));
  EXPECT_TRUE(leaves_alone(Response(Status::NoContent, page())));
  EXPECT_TRUE(leaves_alone(FileRange{.size_bytes = 10'000}));
  EXPECT_TRUE(leaves_alone(Status::NoContent));
}

TEST_F(CompressionTest, FieldsStayTrue) {
  const Response response = finish(Response(page())
                                       .header("ETag", "\"abc\"")
                                       .header("Content-MD5", "x")
                                       .header("Content-Digest", "sha-256=:x:")
                                       .header("Repr-Digest", "sha-256=:x:")
                                       .header("Digest", "x")
                                       .header("Accept-Ranges", "bytes")
                                       .header("X-Own", "stays"));
  EXPECT_EQ(response.lines().wire(),
            "X-Own: stays\r\nVary: Accept-Encoding\r\nContent-Encoding: gzip\r\nETag: "
            "W/\"abc\"\r\n");
  EXPECT_EQ(finish(Response(page()).header("ETag", "W/\"a\"")).header("ETag"), "W/\"a\"");
  EXPECT_EQ(finish(Response(page()).header("ETag", "\"a\""), "br;q=0").header("ETag"), "\"a\"");
}

TEST_F(CompressionTest, NotModifiedSaysWhatTheContentWouldHaveSaid) {
  const auto fields = [this](std::string_view known, Response response) {
    FakeRequest fake("GET /");
    fake.header("If-None-Match", known);
    response.header("ETag", "\"1\"");
    (*middleware_)(fake.request(), response);
    return std::string(response.lines().wire());
  };
  EXPECT_EQ(fields("\"0\", W/\"1\"", Status::NotModified),
            "Vary: Accept-Encoding\r\nETag: W/\"1\"\r\n");
  EXPECT_EQ(fields("\"1\"", Status::NotModified), "ETag: \"1\"\r\nVary: Accept-Encoding\r\n");
  EXPECT_EQ(fields("W/\"1\"", Response(Status::NotModified, "", "image/png")),
            "Content-Type: image/png\r\nETag: \"1\"\r\n");
}

TEST_F(CompressionTest, APartSaysOnWhatTheWholeDepends) {
  const auto vary = [this](std::string_view type) {
    const Response part = finish(Response(Status::PartialContent, page(), type));
    EXPECT_EQ(part.body(), page());
    EXPECT_FALSE(part.header("Content-Encoding"));
    return std::string(part.header("Vary").value_or(""));
  };
  EXPECT_EQ(vary("text/css"), "Accept-Encoding");
  EXPECT_EQ(vary("multipart/byteranges; boundary=x"), "Accept-Encoding");
  EXPECT_EQ(vary("image/png"), "");
}

TEST_F(CompressionTest, AnErrorIsCompressedToo) {
  const Response response = finish(Response(Status::NotFound, page(), Response::html_text));
  EXPECT_EQ(response.status(), Status::NotFound);
  EXPECT_EQ(decoded(response), page());
}

TEST_F(CompressionTest, HeadSaysWhatGetWouldSay) {
  const Response get = finish(page());
  const Response head = finish(page(), "gzip", "HEAD /");
  EXPECT_EQ(head.lines().wire(), get.lines().wire());
  EXPECT_EQ(head.body().size(), get.body().size()) << "the writer takes the length from it";
}

TEST_F(CompressionTest, APreparedResponseIsCompressedForWhoAsks) {
  const PreparedResponse prepared(Response::html(page()));
  EXPECT_EQ(decoded(finish(prepared)), page());
  EXPECT_EQ(finish(prepared, "").prepared(), &prepared);
  EXPECT_EQ(prepared.body(), page());
}

TEST_F(CompressionTest, SeveralThreadsMayUseIt) {
  std::vector<std::thread> threads;
  std::atomic<int> good = 0;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([this, &good] {
      for (int i = 0; i < 50; ++i) {
        good += decoded(finish(page(), i % 2 == 0 ? "gzip" : "zstd, br, gzip")) == page() ? 1 : 0;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good, 200);
}

TEST_F(CompressionTest, LeavesAloneWhatIsNotInMemory) {
  const Response made =
      Response::stream("text/plain", [](BodyWriter& out) -> Task<> { co_await out.write("x"); });
  for (Response response : {made, Response(Status::Ok, FileRange{}, "text/plain")}) {
    FakeRequest fake("GET /");
    fake.header("Accept-Encoding", "gzip");
    compression({.min_bytes = 0})(fake.request(), response);
    EXPECT_FALSE(response.header("Content-Encoding"));
    EXPECT_FALSE(response.header("Vary"));
  }
}

TEST_F(CompressionTest, IsOneCallOfUse) {
  Router router;
  router.use(compression({.min_bytes = 10}));
  router.get("/", [] { return page(); });
  FakeRequest fake("GET /");
  fake.header("Accept-Encoding", "gzip");
  EXPECT_EQ(decoded(router.handle(fake.request())), page());
}

TEST(CompressionOptions, RefusesWhatCannotBe) {
  EXPECT_THROW((void)compression({.zstd_level = 0, .brotli_level = 0, .gzip_level = 0}),
               std::invalid_argument);
  EXPECT_THROW((void)compression({.gzip_level = 10}), std::invalid_argument);
  EXPECT_THROW((void)compression({.brotli_level = -1}), std::invalid_argument);
  EXPECT_THROW((void)compression({.min_bytes = 2, .max_bytes = 1}), std::invalid_argument);
}

}  // namespace
}  // namespace skua

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
