// SPDX-License-Identifier: MIT
// Floods of frames that are cheap for a peer: the connection ends when it should and not before,
// and memory does not grow.
#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <string>

#include "h2/connection.hpp"
#include "support/h2_frames.hpp"
#include "support/h2_recorder.hpp"

namespace skua::h2 {
namespace {

using namespace std::chrono_literals;
using frames::field;

constexpr loop::Instant start{};

class SessionFloodTest : public ::testing::Test {
 protected:
  void SetUp() override { open({}); }
  void open(const Options& options) {
    session = std::make_unique<Connection>(options, recorder, recorder.workspace, start);
    recorder.session = session.get();
    recorder.streams.clear();
    recorder.log.clear();
    session->receive(frames::hello(), start);
    recorder.flush();
  }
  /// Returns how many pass before the connection ends with ENHANCE_YOUR_CALM; -1 if all 30,000 do.
  int passed(const std::function<std::string(int)>& make) {
    open({});
    for (int i = 0; i < 30'000; ++i) {
      session->receive(make(i), start);
      recorder.flush();
      if (!session->is_over()) continue;
      EXPECT_NE(session->failure(), nullptr);
      EXPECT_EQ(name(session->failure()->code), "ENHANCE_YOUR_CALM") << session->failure()->reason;
      return i;
    }
    return -1;
  }
  int passed(const std::string& bytes) {
    return passed([&](int) { return bytes; });
  }
  static std::uint32_t id(int n) { return static_cast<std::uint32_t>(2 * n + 1); }

  Recorder recorder;
  std::unique_ptr<Connection> session;
};

TEST_F(SessionFloodTest, FramesThatCostThePeerNothing) {
  // The first SETTINGS cost 40 of the 20,000 points.
  EXPECT_EQ(passed(frames::ping()), 998);
  EXPECT_EQ(passed(frames::settings()), 499);
  EXPECT_EQ(passed(frames::priority(1, 0)), 1996);
  EXPECT_EQ(passed(frames::priority_update(1, "u=1")), 1996);
  EXPECT_EQ(passed(frames::frame(FrameType{0xfa}, 0, 0, "?")), 998);
  EXPECT_EQ(passed(frames::frame(FrameType{0xfa}, 0, 0, std::string(10'000, '?'))), 998);
  EXPECT_EQ(passed(frames::window_update(0, 1)), 998);
  EXPECT_EQ(passed(frames::window_update(0, 4096)), 19'960);
}

TEST_F(SessionFloodTest, DataThatIsNone) {
  const auto first = [](int n) { return n == 0 ? frames::post(1) : std::string(); };
  EXPECT_EQ(passed([&](int n) { return first(n) + frames::data(1, ""); }), 199);
  EXPECT_EQ(passed([&](int n) { return first(n) + frames::padded_data(1, "", 0); }), 166);
  EXPECT_EQ(passed([&](int n) { return first(n) + frames::padded_data(1, "x", 200); }), 998);
  EXPECT_EQ(passed([&](int n) { return first(n) + frames::data(1, "x"); }), -1);
  // Late DATA after we reset a stream for bad trailers: 40 for SETTINGS, 200 for the reset.
  EXPECT_EQ(passed([&](int n) {
              return n == 0 ? frames::post(1) + frames::headers(1, field("x", "y"), frames::open)
                            : frames::data(1, "x");
            }),
            (20'000 - 240) + 1);
}

TEST_F(SessionFloodTest, RapidReset) {
  EXPECT_EQ(passed([](int n) { return frames::get(id(n)) + frames::reset(id(n)); }), 199);
  recorder.releases = false;  // handlers keep running
  open({});
  for (int n = 0; n < 150; ++n) {
    session->receive(frames::get(id(n)) + frames::reset(id(n)), start);
    recorder.flush();
  }
  EXPECT_EQ(session->stream_count(), 100U);
}

TEST_F(SessionFloodTest, ResetsThatWeAreMadeToSend) {
  const std::string bad = frames::request_block("GET", "/") + field("connection", "close");
  EXPECT_EQ(passed([&](int n) { return frames::headers(id(n), bad); }), 99);
  EXPECT_EQ(
      passed([&](int n) { return frames::get(id(n)) + frames::window_update(id(n), 0x7fff'ffff); }),
      99);
  EXPECT_EQ(passed([&](int n) {
              return frames::post(id(n), {{"content-length", "1"}}) + frames::data(id(n), "ab");
            }),
            99);
  EXPECT_EQ(passed([&](int n) {
              return frames::headers(id(n), frames::request_block("GET", "/", {{"host", "other"}}));
            }),
            99);
}

TEST_F(SessionFloodTest, StreamsThatAreRefused) {
  recorder.releases = false;  // a hundred handlers that never end
  EXPECT_EQ(
      passed([](int n) { return frames::get(id(n)) + (n < 100 ? frames::reset(id(n)) : ""); }),
      100 + (20'000 - 40 - 100 * 100) / 5);
}

TEST_F(SessionFloodTest, ResetsAsTimePassesAndRequestsAreServed) {
  recorder.when_requested = [this](Stream& stream, bool) {
    if (stream.id() % 4 == 1) recorder.answer(stream, "hello");
  };
  std::uint32_t next = 1;
  for (int second = 0; second < 600; ++second) {  // half of the requests are cancelled
    session->receive(frames::window_update(0, 5'000), start + second * 1s);
    for (int i = 0; i < 50; ++i, next += 4) {
      session->receive(frames::get(next) + frames::get(next + 2) + frames::reset(next + 2),
                       start + second * 1s);
      recorder.flush();
    }
    ASSERT_FALSE(session->is_over()) << second;
  }
}

TEST_F(SessionFloodTest, AThousandStreamsAtWorkAreFine) {
  open({.streams = 1000});
  recorder.when_requested = [this](Stream& stream, bool) { recorder.answer(stream, "hello"); };
  std::uint32_t next = 1;
  for (int round = 0; round < 20; ++round) {
    std::string bytes;
    for (int i = 0; i < 1000; ++i, next += 2) bytes += frames::get(next);
    session->receive(bytes + frames::window_update(0, 5000), start);
    while (session->wants_write()) session->write(60'000);
    recorder.written.clear();
    ASSERT_FALSE(session->is_over());
    ASSERT_EQ(session->stream_count(), 0U);
  }
}

TEST_F(SessionFloodTest, AFieldThatIsRepeatedByItsIndex) {
  const std::string large(3'000, 'x');
  std::string bomb = frames::request_block("GET", "/") + frames::remembered("a", large);
  for (int i = 0; i < 15; ++i) bomb += frames::indexed(62);
  session->receive(frames::headers(1, bomb), start);
  EXPECT_EQ(recorder.log.rfind("1 GET / h.example a=", 0), 0U);
  recorder.log.clear();
  for (int i = 0; i < 10; ++i) bomb += frames::indexed(62);
  session->receive(frames::headers(3, bomb), start);
  EXPECT_EQ(recorder.log.rfind("3 GET / h.example error=431", 0), 0U);
  recorder.log.clear();
  for (int i = 0; i < 10'000; ++i) bomb += frames::indexed(62);  // 30 MB in 13 KB
  session->receive(frames::headers(5, bomb), start);
  EXPECT_EQ(recorder.log, "");
  const std::string sent = frames::describe(recorder.flush());
  EXPECT_NE(sent.find("GOAWAY"), std::string::npos) << sent;
  EXPECT_NE(sent.find("ENHANCE_YOUR_CALM"), std::string::npos) << sent;
  EXPECT_TRUE(session->is_over());
}

TEST_F(SessionFloodTest, ManyShortFieldsAreChargedForEach) {
  std::string many = frames::request_block("GET", "/");
  for (int i = 0; i < 2'000; ++i)
    many += frames::indexed(17 - 1);  // accept-encoding: gzip, deflate
  session->receive(frames::headers(1, many), start);
  EXPECT_NE(recorder.log.find("error=431"), std::string::npos);
  EXPECT_LE(recorder.streams.at(1)->request().head.fields.size(), 128U);
  for (int i = 0; i < 4'000; ++i) many += frames::indexed(16);
  session->receive(frames::headers(3, many), start);
  EXPECT_EQ(frames::describe(recorder.flush()), "GOAWAY(3,ENHANCE_YOUR_CALM)");
}

TEST_F(SessionFloodTest, CrumbsOfCookiesCount) {
  std::string crumbs = frames::request_block("GET", "/") + frames::remembered("cookie", "a");
  for (int i = 0; i < 126; ++i) crumbs += frames::indexed(62);
  session->receive(frames::headers(1, crumbs), start);
  EXPECT_EQ(recorder.log.find("error="), std::string::npos) << recorder.log;
  session->receive(frames::headers(3, crumbs + frames::indexed(62)), start);
  EXPECT_NE(recorder.log.find("error=431"), std::string::npos);
}

TEST_F(SessionFloodTest, ContinuationsWithoutEnd) {
  EXPECT_EQ(passed([](int n) {
              return n == 0 ? frames::headers(1, frames::request_block("GET", "/"), 0)
                            : frames::continuation(1, "", 0);
            }) < 1'000,
            true);
  open({});
  std::string bytes = frames::headers(1, frames::request_block("GET", "/"), frames::end);
  for (int i = 0; i < 6; ++i)
    bytes += frames::continuation(1, field("a", std::string(1000, 'b')), 0);
  for (const char byte : bytes + frames::continuation(1, "", frames::open)) {
    session->receive({&byte, 1}, start);
  }
  EXPECT_EQ(recorder.log.rfind("1 GET / h.example a=b", 0), 0U) << recorder.log;
}

TEST_F(SessionFloodTest, APeerThatReadsNothingDoesNotMakeUsKeepMore) {
  // Output that waits to be sent is bounded.
  for (int i = 0; i < 30'000; ++i) session->receive(frames::ping() + frames::settings(), start);
  recorder.flush();
  EXPECT_LT(recorder.output.size(), 40'000U);
  EXPECT_TRUE(session->is_over());
}

}  // namespace
}  // namespace skua::h2
