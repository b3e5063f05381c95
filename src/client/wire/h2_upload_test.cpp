// SPDX-License-Identifier: MIT
// Request content over HTTP/2: of every kind, at the server's pace, and cut short.

#include <gtest/gtest.h>

#include <fstream>
#include <memory>
#include <string>
#include <utility>

#include "base/disk.hpp"
#include "support/h2_client_fixture.hpp"
#include "support/temporary_directory.hpp"

namespace skua::client {
namespace {

class H2UploadTest : public H2ConnectionTest {
 protected:
  template <class Produce>
  static Body streamed(Produce produce, std::optional<std::uint64_t> length = {}) {
    auto stream = std::make_shared<BodyStream>();
    stream->produce = std::move(produce);
    stream->length_bytes = length;
    return Body(std::shared_ptr<const BodyStream>(std::move(stream)));
  }
  /// A file of `size` bytes, in a range that claims `told`.
  Body file(std::size_t size, std::uint64_t told) {
    const std::string path = directory_.string() + "/file";
    std::ofstream(path) << std::string(size, 'f');
    const auto opened =
        std::make_shared<disk::Descriptor>(disk::open(path.c_str(), disk::for_reading));
    FileRange range;
    range.owner = opened;
    range.file = opened->number();
    range.size_bytes = told;
    return Body(std::move(range));
  }

  support::TemporaryDirectory directory_;
};

TEST_F(H2UploadTest, WholeContentHasALength) {
  const H2Call first = greeted();
  const H2Call call = this->call(Method::Post, "/", "hello");
  EXPECT_EQ(content(taken(), 3), "hello");
  EXPECT_TRUE(call->is_all_sent());
  EXPECT_EQ(call->sent_bytes(), 5U);
  const H2Call empty = this->call(Method::Put, "/", std::string());
  EXPECT_EQ(said(), "HEADERS(5)!");
}

TEST_F(H2UploadTest, GoesAtThePaceOfTheWindows) {
  const H2Call first = greeted();
  const H2Call call = this->call(Method::Post, "/", std::string(100'000, 'x'));
  std::string got = content(taken(), 3);
  EXPECT_EQ(got.size(), 65'535U);
  EXPECT_FALSE(call->is_all_sent());
  EXPECT_EQ(call->sent_bytes(), 65'535U);
  const H2Call other = get("/");  // is not blocked
  EXPECT_EQ(said(), "HEADERS(5)!");
  feed(frames::window_update(3, 20'000));
  EXPECT_EQ(said(), "");
  clock_.advance(1s);
  feed(frames::window_update(0, 50'000));
  got += content(taken(), 3);
  EXPECT_EQ(got.size(), 85'535U);
  EXPECT_EQ(call->progress(), loop_->now());
  feed(frames::window_update(3, 20'000));
  got += content(taken(), 3);
  EXPECT_EQ(got, std::string(100'000, 'x'));
  EXPECT_TRUE(call->is_all_sent());
}

TEST_F(H2UploadTest, WhatWasNotTakenIsNotSent) {
  const H2Call first = greeted();
  stream_->take_at_most(0);
  const H2Call call = this->call(Method::Post, "/", "hello");
  EXPECT_FALSE(call->is_all_sent());
  clock_.advance(5s);
  stream_->take_at_most(1000);
  settle();
  EXPECT_TRUE(call->is_all_sent());
  EXPECT_EQ(call->progress(), loop_->now());
}

TEST_F(H2UploadTest, FilesAreRead) {
  const H2Call first = greeted();
  const H2Call call = this->call(Method::Post, "/", file(40'000, 40'000));
  EXPECT_EQ(content(taken(), 3), std::string(40'000, 'f'));
  EXPECT_TRUE(call->is_all_sent());
}

TEST_F(H2UploadTest, AFileThatIsShorterThanToldEndsTheExchange) {
  const H2Call first = greeted();
  const H2Call call = this->call(Method::Post, "/", file(10'000, 40'000));
  EXPECT_TRUE(said().ends_with("RST_STREAM(3,CANCEL)"));
  EXPECT_EQ(told(call), "error: request: a file: the content ended before its length");
}

TEST_F(H2UploadTest, WhoMakesContentWaitsForTheServer) {
  const H2Call first = greeted();
  int written = 0;
  const H2Call call = this->call(Method::Post, "/", streamed([&written](BodyWriter& out) -> Task<> {
                                   for (int i = 0; i < 20; ++i) {
                                     co_await out.write(std::string(50'000, 'x'));
                                     ++written;
                                   }
                                   out.trailer("X-Sum", "9");
                                 }));
  std::string bytes = taken();
  EXPECT_EQ(content(bytes, 3).size(), 65'535U);
  EXPECT_LT(written, 10);
  for (int i = 0; i < 30; ++i) {
    feed(frames::window_update(0, 60'000) + frames::window_update(3, 60'000));
    bytes += taken();
  }
  EXPECT_EQ(written, 20);
  EXPECT_EQ(content(bytes, 3).size(), 1'000'000U);
  EXPECT_TRUE(frames::describe(bytes).ends_with("HEADERS(3)!"));  // the trailers
  EXPECT_TRUE(call->is_all_sent());
}

TEST_F(H2UploadTest, WhatIsThrownComesOutOfReading) {
  const H2Call first = greeted();
  H2Call call = this->call(Method::Post, "/", streamed([](BodyWriter& out) -> Task<> {
                             co_await out.write("x");
                             throw std::runtime_error("no more");
                           }));
  EXPECT_EQ(said(), "HEADERS(3) RST_STREAM(3,CANCEL)");
  on_loop([&call] { EXPECT_THROW(static_cast<void>(call->read()), std::runtime_error); });
  EXPECT_EQ(told(call), "error: request: the operation was cancelled");
}

TEST_F(H2UploadTest, ContentHasTheLengthThatWasTold) {
  const H2Call first = greeted();
  const auto thrown = [this](std::uint64_t length) {
    const H2Call call = this->call(
        Method::Post, "/",
        streamed([](BodyWriter& out) -> Task<> { co_await out.write("hello"); }, length));
    Errc code = Errc::None;
    on_loop([&] {
      try {
        static_cast<void>(call->read());
      } catch (const Exception& exception) {
        code = exception.error().code();
      }
    });
    return code;
  };
  EXPECT_EQ(thrown(5), Errc::None);
  EXPECT_EQ(thrown(4), Errc::BodyTooLong);
  EXPECT_EQ(thrown(6), Errc::TruncatedBody);
}

TEST_F(H2UploadTest, WaitsForLeave) {
  const H2Call first = greeted();
  const H2Call asked = call(Method::Post, "/", "asked", {}, true);
  const H2Call impatient = call(Method::Post, "/", "now", {}, true);
  const H2Call refused = call(Method::Post, "/", "never", {}, true);
  EXPECT_EQ(said(), "HEADERS(3) HEADERS(5) HEADERS(7)");
  feed(head(3, {}, frames::open, "100") + head(7, {}, frames::whole, "417"));
  EXPECT_EQ(content(taken(), 3), "asked");
  on_loop([&impatient] { impatient->continue_now(); });
  EXPECT_EQ(content(taken(), 5), "now");
  EXPECT_EQ(told(refused), "Head(417) Complete");
  EXPECT_FALSE(refused->is_all_sent());
  feed(head(5, {}, frames::open, "100"));  // too late
  EXPECT_EQ(said(), "");
}

TEST_F(H2UploadTest, AnEarlyResponseEndsTheContent) {
  const H2Call first = greeted();
  int alive = 0;
  H2Call call = this->call(Method::Post, "/", streamed([&alive](BodyWriter& out) -> Task<> {
                             const auto held = std::shared_ptr<void>(
                                 &alive, [](void* count) { --*static_cast<int*>(count); });
                             ++alive;
                             while (true) co_await out.write(std::string(10'000, 'x'));
                           }));
  EXPECT_EQ(alive, 1);
  feed(head(3, {}, frames::whole, "413") + frames::reset(3, h2::ErrorCode::NoError));
  EXPECT_EQ(told(call), "Head(413) Complete");
  EXPECT_EQ(alive, 0);
  end(call);
}

TEST_F(H2UploadTest, EndingDropsWhoMakesTheContent) {
  const H2Call first = greeted();
  const auto alive = std::make_shared<int>();
  H2Call call = this->call(Method::Post, "/", streamed([alive](BodyWriter& out) -> Task<> {
                             const std::shared_ptr<int> held = alive;
                             while (true) co_await out.write(std::string(10'000, 'x'));
                           }));
  EXPECT_EQ(alive.use_count(), 3);
  end(call);
  EXPECT_EQ(alive.use_count(), 1);
  EXPECT_TRUE(said().ends_with("RST_STREAM(3,CANCEL)"));
}

TEST_F(H2UploadTest, AResponseMayComeWhereNothingCanBeSentAnyMore) {
  H2Call first = greeted();
  H2Call call = this->call(Method::Post, "/", std::string(100'000, 'x'));
  said();
  stream_->fail_send(Errc::Reset);
  feed(frames::window_update(0, 50'000) + frames::window_update(3, 50'000));
  EXPECT_EQ(connection_->capacity(), 0U);
  EXPECT_EQ(told(call), "");
  feed(head(3, {}, frames::whole, "413"));
  EXPECT_EQ(told(call), "Head(413) Complete");
  end(call);
  EXPECT_FALSE(is_gone_);
  end(first);
  EXPECT_TRUE(is_gone_);
}

}  // namespace
}  // namespace skua::client
