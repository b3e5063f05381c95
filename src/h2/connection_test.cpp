// SPDX-License-Identifier: MIT
// Tests a server's session against handmade frames: its events, its responses, and the ends of
// streams and the connection.
#include "h2/connection.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "support/h2_frames.hpp"
#include "support/h2_recorder.hpp"
#include "support/h2_server_session.hpp"

namespace skua::h2 {
namespace {

using namespace std::chrono_literals;
using frames::field;

/// Runs each test with the bytes in one piece, in several, and byte by byte.
class SessionTest : public ServerSessionTest, public ::testing::WithParamInterface<std::size_t> {
 protected:
  /// Returns the response to these bytes.
  std::string exchange(const std::string& bytes) {
    receive(bytes);
    return frames::describe(recorder.flush());
  }
  void receive(std::string_view bytes) {
    for (; !bytes.empty(); bytes.remove_prefix(std::min(GetParam(), bytes.size()))) {
      session->receive(bytes.substr(0, GetParam()), start);
    }
  }
  void answer_all() {
    recorder.when_requested = [this](Stream& stream, bool is_end) {
      if (is_end) recorder.answer(stream, "hello");
    };
    recorder.when_ended = [this](Stream& stream) { recorder.answer(stream, "hello"); };
  }
};

TEST_P(SessionTest, BeginsWithItsSettings) {
  session = std::make_unique<Connection>(Options{.allows_extended_connect = true}, recorder,
                                         recorder.workspace, start + 1s);
  recorder.session = session.get();
  EXPECT_EQ(session->settings_pending_since(), start + 1s);
  const auto sent = frames::split(recorder.flush());
  ASSERT_EQ(sent.size(), 2U);
  EXPECT_EQ(sent[0].head.type, FrameType::Settings);
  std::string expected =
      frames::settings({{3, 100}, {4, 65536}, {5, 16384}, {6, 65536}, {9, 1}, {8, 1}});
  EXPECT_EQ(sent[0].payload, expected.substr(frame_header_bytes));
  EXPECT_EQ(sent[1].head.type, FrameType::WindowUpdate);
  session->receive(std::string(client_preface) + frames::settings(), start + 2s);
  EXPECT_TRUE(session->settings_pending_since().has_value());
  session->receive(frames::settings_ack(), start + 3s);
  EXPECT_FALSE(session->settings_pending_since().has_value());
  EXPECT_EQ(frames::describe(recorder.flush()), "SETTINGS+");
}

TEST_P(SessionTest, ServesARequest) {
  answer_all();
  EXPECT_EQ(exchange(frames::get(1, "/a?b")), "HEADERS(1) DATA(1)!");
  EXPECT_EQ(recorder.log, "1 GET /a?b h.example end\n1 closed NO_ERROR\n");
  EXPECT_EQ(session->stream_count(), 0U);
  EXPECT_FALSE(session->wants_write());
}

TEST_P(SessionTest, PassesContentAndTrailersOn) {
  answer_all();
  EXPECT_EQ(exchange(frames::post(1, {{"content-length", "5"}}) + frames::data(1, "abc") +
                     frames::padded_data(1, "de", 7) +
                     frames::headers(1, field("x-sum", "9") + field("content-type", "no"))),
            "HEADERS(1) DATA(1)!");
  EXPECT_EQ(recorder.log,
            "1 POST / h.example length=5 content-length=5\n1 end [abcde] x-sum=9\n"
            "1 closed NO_ERROR\n");
}

TEST_P(SessionTest, TellsTheSameHoweverTheBytesAreCut) {
  const std::string bytes =
      frames::hello() +
      frames::headers(1, frames::request_block("GET", "/1", {{"cookie", "a"}, {"cookie", "b"}})) +
      frames::post(3, {{"expect", "100-continue"}}) + frames::data(3, "abc") + frames::ping() +
      frames::headers(5, frames::request_block("PUT", "/5"), 0) +
      frames::continuation(5, field("x", "y"), frames::open) + frames::data(5, "", frames::end) +
      frames::data(3, "def", frames::end) + frames::get(7, "/a\"b") + frames::post(9) +
      frames::reset(9) + frames::headers(11, field(":method", "GET")) +
      frames::goaway(0, ErrorCode::NoError);
  const auto run = [&](std::size_t first, std::size_t piece) {
    recorder.log.clear();
    recorder.received.clear();
    recorder.contents.clear();
    session = std::make_unique<Connection>(Options{}, recorder, recorder.workspace, start);
    recorder.session = session.get();
    std::string_view rest = bytes;
    session->receive(rest.substr(0, first), start);
    rest.remove_prefix(first);
    for (; !rest.empty(); rest.remove_prefix(std::min(piece, rest.size()))) {
      session->receive(rest.substr(0, piece), start);
    }
    const std::string sent = frames::describe(recorder.flush());
    return recorder.log + sent;
  };
  answer_all();
  const std::string expected =
      "1 GET /1 h.example cookie=a; b end\n3 POST / h.example expects expect=100-continue\n"
      "5 PUT /5 h.example x=y\n5 end []\n3 end [abcdef]\n7 GET /a\"b h.example error=400 end\n"
      "9 POST / h.example\n9 closed CANCEL\ngoaway NO_ERROR\n";
  const std::string whole = run(bytes.size(), 1);
  EXPECT_EQ(whole.substr(0, expected.size()), expected);
  EXPECT_EQ(run(0, 1), whole);
  for (std::size_t first = 1; first < bytes.size(); ++first) {
    ASSERT_EQ(run(first, bytes.size()), whole) << first;
  }
}

TEST_P(SessionTest, RefusesAWrongPreface) {
  session = std::make_unique<Connection>(Options{}, recorder, recorder.workspace, start);
  recorder.session = session.get();
  receive("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_EQ(frames::describe(recorder.flush()),
            "SETTINGS WINDOW_UPDATE(0) GOAWAY(0,PROTOCOL_ERROR)");
  EXPECT_TRUE(session->is_over());
  ASSERT_NE(session->failure(), nullptr);
  EXPECT_EQ(session->failure()->code, ErrorCode::ProtocolError);
}

TEST_P(SessionTest, MalformedRequestsResetTheirStreamOnly) {
  const std::string ordinary = frames::request_block("GET", "/");
  const std::string cases[] = {
      ordinary + field("connection", "close"),
      ordinary + field("keep-alive", "1"),
      ordinary + field("proxy-connection", "close"),
      ordinary + field("transfer-encoding", "chunked"),
      ordinary + field("upgrade", "h2c"),
      ordinary + field("te", "gzip"),
      ordinary + field("X-Upper", "1"),
      ordinary + field("", "1"),
      ordinary + field("a b", "1"),
      ordinary + field("a", "1\r\nb: 2"),
      ordinary + field("a", std::string("1\0", 2)),
      ordinary + field("a", " 1"),
      ordinary + field("a", "1\t"),
      ordinary + field("a", "\x7f"),
      ordinary + field("host", "other.example"),
      ordinary + field("host", "h.example") + field("host", "h.example"),
      ordinary + field("content-length", "1"),
      ordinary + field("content-length", "x"),
      ordinary + field("content-length", "0") + field("content-length", "0"),
      ordinary + field(":path", "/again"),
      ordinary + field(":unknown", "1"),
      ordinary + field("x", "y") + field(":late", "1"),
      field("x", "y") + ordinary,
      field(":method", "GET") + field(":scheme", "http") + field(":path", "/"),
      field(":method", "GET") + field(":scheme", "http") + field(":authority", "a"),
      field(":method", "GET") + field(":authority", "a") + field(":path", "/"),
      field(":scheme", "http") + field(":authority", "a") + field(":path", "/"),
      frames::request_block("GET", ""),
      frames::request_block("GET", "a"),
      frames::request_block("GET", "*"),
      frames::request_block("G T", "/"),
      frames::request_block("CONNECT", "/"),
      frames::request_block("CONNECT", "/") + field(":protocol", "websocket"),
      ordinary + field(":status", "200"),
  };
  std::uint32_t id = 1;
  for (const std::string& block : cases) {
    EXPECT_EQ(exchange(frames::headers(id, block)),
              "RST_STREAM(" + std::to_string(id) + ",PROTOCOL_ERROR)")
        << block;
    id += 2;
  }
  EXPECT_EQ(recorder.log, "");
  EXPECT_EQ(session->stream_count(), 0U);
  EXPECT_EQ(session->abuse_score(),
            AbuseGuard::weight(Abuse::Settings) +
                std::size(cases) * AbuseGuard::weight(Abuse::ProvokedReset));
  answer_all();
  EXPECT_EQ(exchange(frames::headers(id, ordinary + field("te", "trailers"))),
            "HEADERS(" + std::to_string(id) + ") DATA(" + std::to_string(id) + ")!");
}

TEST_P(SessionTest, WhatHttp1AnswersWithAnErrorIsToldWithOne) {
  const auto status = [this](std::uint32_t id, const std::string& block) {
    recorder.log.clear();
    receive(frames::headers(id, block));
    const std::size_t at = recorder.log.find("error=");
    return at == std::string::npos ? recorder.log : recorder.log.substr(at + 6, 3);
  };
  EXPECT_EQ(status(1, frames::request_block("GET", "/a\"b")), "400");
  EXPECT_EQ(status(3, frames::request_block("get", "/")), "501");
  EXPECT_EQ(status(5, frames::request_block("GET", "/" + std::string(9000, 'a'))), "414");
  EXPECT_EQ(status(7, frames::request_block("GET", "/", {{"a", std::string(16'400, 'a')}})).size(),
            0U)
      << "the frame is longer than we allow, and ends the connection";
  open({});
  std::string many = frames::request_block("GET", "/");
  for (int i = 0; i < 128; ++i) many += field("a", "");
  EXPECT_EQ(status(1, many), "431");
  EXPECT_EQ(status(3, frames::request_block("GET", "/") + field("expect", "x")), "417");
  EXPECT_EQ(status(5, field(":method", "GET") + field(":scheme", "http") + field(":path", "/") +
                          field(":authority", "a_b:99999")),
            "400");
  EXPECT_EQ(exchange(""), "");
}

TEST_P(SessionTest, ContentThatDisagreesWithItsLengthResetsTheStream) {
  answer_all();
  const frames::Fields five{{"content-length", "5"}};
  EXPECT_EQ(exchange(frames::post(1, five) + frames::data(1, "abcdef", frames::end)),
            "RST_STREAM(1,PROTOCOL_ERROR)");
  EXPECT_EQ(exchange(frames::post(3, five) + frames::data(3, "abcd", frames::end)),
            "RST_STREAM(3,PROTOCOL_ERROR)");
  EXPECT_EQ(exchange(frames::post(5, five) + frames::data(5, "abcd") +
                     frames::headers(5, field("x", "y"))),
            "RST_STREAM(5,PROTOCOL_ERROR)");
  EXPECT_EQ(recorder.log.find("end ["), std::string::npos);
  EXPECT_EQ(session->abuse_score(),
            AbuseGuard::weight(Abuse::Settings) + 3 * AbuseGuard::weight(Abuse::ProvokedReset));
  EXPECT_EQ(session->stream_count(), 0U);
}

TEST_P(SessionTest, TrailersHaveRulesOfTheirOwn) {
  EXPECT_EQ(exchange(frames::post(1) + frames::headers(1, field("x", "y"), frames::open)),
            "RST_STREAM(1,PROTOCOL_ERROR)");  // without END_STREAM
  EXPECT_EQ(exchange(frames::post(3) + frames::headers(3, field(":path", "/"))),
            "RST_STREAM(3,PROTOCOL_ERROR)");
  EXPECT_EQ(exchange(frames::post(5) + frames::headers(5, field("X", "y"))),
            "RST_STREAM(5,PROTOCOL_ERROR)");
  EXPECT_EQ(exchange(frames::post(7) + frames::headers(7, "")), "");
  EXPECT_EQ(recorder.log.substr(recorder.log.rfind("7 end")), "7 end []\n");
  EXPECT_EQ(exchange(frames::post(9) + frames::headers(9, field("x", std::string(9000, 'y')))),
            "RST_STREAM(9,ENHANCE_YOUR_CALM)");
}

TEST_P(SessionTest, ConnectIsToldAndExtendedConnectWhereItIsAllowed) {
  const std::string tunnel = field(":method", "CONNECT") + field(":authority", "a.b:443");
  const std::string socket = field(":method", "CONNECT") + field(":scheme", "https") +
                             field(":authority", "a.b") + field(":path", "/chat") +
                             field(":protocol", "websocket");
  receive(frames::headers(1, tunnel, frames::open));
  EXPECT_EQ(recorder.log, "1 CONNECT a.b:443 a.b:443\n");
  EXPECT_EQ(exchange(frames::headers(3, socket, frames::open)), "RST_STREAM(3,PROTOCOL_ERROR)");
  recorder.log.clear();
  open({.allows_extended_connect = true});
  receive(frames::headers(1, socket, frames::open) + frames::data(1, "frames"));
  EXPECT_EQ(recorder.log, "1 CONNECT /chat a.b protocol=websocket https\n");
  EXPECT_EQ(recorder.received[1], "frames");
  EXPECT_EQ(exchange(frames::headers(
                3, frames::request_block("GET", "/") + field(":protocol", "websocket"))),
            "RST_STREAM(3,PROTOCOL_ERROR)");
}

TEST_P(SessionTest, ErrorsOfTheConnectionEndIt) {
  const std::pair<std::string, const char*> cases[] = {
      {frames::data(0, "x"), "PROTOCOL_ERROR"},
      {frames::data(1, "x"), "PROTOCOL_ERROR"},
      {frames::get(2), "PROTOCOL_ERROR"},
      {frames::headers(1, "\x80"), "COMPRESSION_ERROR"},
      {frames::frame(FrameType::Ping, 0, 0, "short"), "FRAME_SIZE_ERROR"},
      {frames::settings({{4, 0x8000'0000}}), "FLOW_CONTROL_ERROR"},
      {frames::settings({{5, 1}}), "PROTOCOL_ERROR"},
      {frames::window_update(0, 0x7fff'ffff), "FLOW_CONTROL_ERROR"},
      {frames::window_update(0, 0), "PROTOCOL_ERROR"},
      {frames::continuation(1, "", frames::open), "PROTOCOL_ERROR"},
      {frames::headers(1, "", 0) + frames::ping(), "PROTOCOL_ERROR"},
      {frames::reset(1), "PROTOCOL_ERROR"},
      {frames::frame(FrameType::PushPromise, frames::open, 1, "abcd"), "PROTOCOL_ERROR"},
      {frames::data(1, std::string(16'385, 'x')), "FRAME_SIZE_ERROR"},
      {frames::get(1) + frames::data(1, "x"), "STREAM_CLOSED"},
  };
  for (const auto& [bytes, reason] : cases) {
    open({});
    const std::string sent = exchange(bytes);
    EXPECT_NE(sent.find(reason), std::string::npos) << sent;
    EXPECT_TRUE(session->is_over());
    ASSERT_NE(session->failure(), nullptr);
    EXPECT_EQ(name(session->failure()->code), reason);
    EXPECT_EQ(exchange(frames::get(5)), "");
  }
}

TEST_P(SessionTest, AnswersPings) {
  EXPECT_EQ(exchange(frames::ping()), "PING+");
  EXPECT_EQ(frames::split(recorder.output)[0].payload, "12345678");
}

TEST_P(SessionTest, AConsumerThatThrowsEndsTheConnection) {
  recorder.when_requested = [](Stream&, bool) { throw std::runtime_error("out of order"); };
  EXPECT_EQ(exchange(frames::get(1)), "GOAWAY(1,INTERNAL_ERROR)");
  EXPECT_TRUE(session->is_over());
}

TEST_P(SessionTest, EndingFromInsideAnEventStopsTheEvents) {
  recorder.when_requested = [this](Stream&, bool) {
    session->terminate(ErrorCode::EnhanceYourCalm, "enough");
  };
  EXPECT_EQ(exchange(frames::get(1) + frames::get(3)), "GOAWAY(1,ENHANCE_YOUR_CALM)");
  EXPECT_EQ(recorder.log, "1 GET / h.example end\n");
  EXPECT_EQ(session->failure()->reason, "enough");
}

INSTANTIATE_TEST_SUITE_P(Pieces, SessionTest, ::testing::Values(1U << 20U, 7U, 1U));

}  // namespace
}  // namespace skua::h2
