// SPDX-License-Identifier: MIT
// Tests servers that break the rules or send excessive amounts: each ends its stream or the
// connection, and no more than that.
#include <string>
#include <vector>

#include "support/h2_client_session.hpp"

namespace skua::h2 {
namespace {

using frames::field;

class ClientSessionAbuseTest : public ClientSessionTest {};

TEST_P(ClientSessionAbuseTest, MalformedResponsesResetTheirStreamOnly) {
  struct Case {
    std::string bytes;
    Errc error;
  };
  const std::vector<Case> cases = {
      {frames::headers(1, field("x", "y")), Errc::MalformedField},
      {head(1, {}, frames::whole, "20"), Errc::MalformedField},
      {head(1, {}, frames::whole, "099"), Errc::MalformedField},
      {head(1, {}, frames::open, "101"), Errc::MalformedField},
      {head(1, {}, frames::whole, "100"), Errc::MalformedField},
      {head(1, {{"Upper", "y"}}, frames::whole), Errc::MalformedField},
      {head(1, {{"connection", "close"}}, frames::whole), Errc::MalformedField},
      {head(1, {{"transfer-encoding", "chunked"}}, frames::whole), Errc::MalformedField},
      {head(1, {{"x", "a\nb"}}, frames::whole), Errc::MalformedField},
      {head(1, {{":path", "/"}}, frames::whole), Errc::MalformedField},
      {head(1, {{"content-length", "x"}}, frames::whole), Errc::MalformedField},
      {head(1, {{"content-length", "1"}, {"content-length", "2"}}), Errc::MalformedField},
      {head(1, {{"content-length", "5"}}, frames::whole), Errc::TruncatedBody},
      {head(1, {{"content-length", "5"}}) + frames::data(1, "abc", frames::end),
       Errc::TruncatedBody},
      {head(1, {{"content-length", "5"}}) + frames::data(1, "abc") +
           frames::headers(1, field("t", "u")),
       Errc::TruncatedBody},
      {head(1, {{"content-length", "2"}}) + frames::data(1, "abc", frames::end), Errc::BodyTooLong},
      {head(1) + frames::headers(1, field("t", "u"), frames::open), Errc::MalformedField},
      {head(1) + frames::headers(1, field(":status", "200")), Errc::MalformedField},
      {head(1, {}, frames::open, "103") + frames::data(1, "x"), Errc::MalformedFrame},
      {head(1, {{"content-length", "3"}}, frames::open, "204") +
           frames::data(1, "abc", frames::end),
       Errc::MalformedField},
      {head(1, {}, frames::open, "304") + frames::data(1, "abc"), Errc::BodyTooLong},
      {frames::window_update(1, 0), Errc::MalformedFrame},
  };
  for (const Case& one : cases) {
    open(client_options());
    recorder.get("/");
    recorder.get("/other");
    flush();
    EXPECT_EQ(exchange(one.bytes), "RST_STREAM(1,PROTOCOL_ERROR)") << recorder.log;
    EXPECT_EQ(failure_of(1), one.error) << recorder.log;
    EXPECT_FALSE(recorder.failures[1].is_unprocessed);
    EXPECT_EQ(exchange(head(3, {}, frames::whole)), "");
    EXPECT_EQ(failure_of(3), Errc::None);
    EXPECT_EQ(session->stream_count(), 0U);
  }
}

TEST_P(ClientSessionAbuseTest, HeadsAreBounded) {
  Options options = client_options();
  options.head = {.field_line_bytes = 64, .list_bytes = 512, .fields = 4};
  options.trailers = {.field_line_bytes = 32, .list_bytes = 200, .fields = 2};
  open(options);
  const auto outcome = [this](const std::string& bytes) {
    const std::uint32_t id = recorder.get("/")->id();
    flush();
    std::string text = bytes;
    for (std::size_t at = 0; at < text.size();) {  // for this stream
      const FrameHead its = frames::split(std::string_view(text).substr(at)).front().head;
      text.replace(at + 5, 4, frames::number(id, 4));
      at += frame_header_bytes + its.length_bytes;
    }
    exchange(text);
    return failure_of(id);
  };
  EXPECT_EQ(outcome(head(1, {{"a", "b"}}, frames::whole)), Errc::None);
  EXPECT_EQ(outcome(head(1, {{"a", std::string(64, 'b')}}, frames::whole)), Errc::FieldTooLong);
  EXPECT_EQ(outcome(head(1, frames::Fields(5, {"a", "b"}), frames::whole)), Errc::TooManyFields);
  EXPECT_EQ(outcome(head(1, frames::Fields(8, {"a", "b"}), frames::whole)), Errc::TooManyFields);
  EXPECT_EQ(outcome(head(1, frames::Fields(4, {"a", std::string(60, 'b')}), frames::whole)),
            Errc::HeadTooLong);
  EXPECT_EQ(outcome(head(1) + frames::headers(1, field("a", std::string(40, 'b')))),
            Errc::TrailerTooLong);
  EXPECT_FALSE(session->is_over());
  // RFC 7541: a field in the dynamic table takes one octet.
  std::string bomb = field(":status", "200") + frames::remembered("a", std::string(60, 'b'));
  for (int i = 0; i < 100; ++i) bomb += frames::indexed(62);
  EXPECT_EQ(outcome(frames::headers(1, bomb)), Errc::HeadTooLong);
  EXPECT_TRUE(session->is_over());
  ASSERT_NE(session->failure(), nullptr);
  EXPECT_EQ(session->failure()->code, ErrorCode::EnhanceYourCalm);
}

TEST_P(ClientSessionAbuseTest, InterimResponsesAreCounted) {
  recorder.get("/");
  flush();
  std::string many;
  for (int i = 0; i < 32; ++i) many += head(1, {}, frames::open, "103");
  EXPECT_EQ(exchange(many), "");
  EXPECT_EQ(exchange(head(1, {}, frames::open, "103")), "RST_STREAM(1,ENHANCE_YOUR_CALM)");
  EXPECT_EQ(failure_of(1), Errc::TooManyInterimResponses);

  Options options = client_options();
  options.interim_bytes = 1000;
  open(options);
  recorder.get("/");
  flush();
  EXPECT_EQ(exchange(head(1, {{"link", std::string(500, 'a')}}, frames::open, "103")), "");
  EXPECT_EQ(exchange(head(1, {{"link", std::string(500, 'a')}}, frames::open, "103")),
            "RST_STREAM(1,CANCEL)");
  EXPECT_EQ(failure_of(1), Errc::HeadTooLong);
}

TEST_P(ClientSessionAbuseTest, WhatBreaksTheConnectionEndsAllOfIt) {
  struct Case {
    std::string bytes;
    ErrorCode code;
  };
  const std::vector<Case> cases = {
      {frames::frame(FrameType::PushPromise, frames::open, 1,
                     frames::number(2, 4) + frames::request_block("GET", "/")),
       ErrorCode::ProtocolError},
      {head(2), ErrorCode::ProtocolError},
      {head(9), ErrorCode::ProtocolError},
      {frames::data(9, "a"), ErrorCode::ProtocolError},
      {frames::data(0, "a"), ErrorCode::ProtocolError},
      {frames::frame(FrameType::Ping, 0, 0, "short"), ErrorCode::FrameSizeError},
      {frames::headers(1, "\xff\xff\xff\xff\xff\xff"), ErrorCode::CompressionError},
      {frames::priority(0, 1), ErrorCode::ProtocolError},
      {frames::window_update(0, 0), ErrorCode::ProtocolError},
      {frames::window_update(0, 0x7fffffff) + frames::window_update(0, 0x7fffffff),
       ErrorCode::FlowControlError},
      {frames::settings({{2, 1}}), ErrorCode::ProtocolError},
      {head(1) + frames::frame(FrameType::Continuation, 0, 1, "x"), ErrorCode::ProtocolError},
  };
  for (const Case& one : cases) {
    open(client_options());
    recorder.get("/");
    recorder.get("/");
    flush();
    const std::string sent = exchange(one.bytes);
    const std::string code(name(one.code));
    EXPECT_TRUE(sent.ends_with("GOAWAY(0," + code + ")")) << sent;
    EXPECT_EQ(failure_of(1), Errc::MalformedFrame) << code;
    EXPECT_EQ(failure_of(3), Errc::MalformedFrame);
    EXPECT_FALSE(recorder.failures[3].is_unprocessed);
    EXPECT_TRUE(session->is_over());
    EXPECT_EQ(session->room(), 0U);
    EXPECT_EQ(recorder.get("/"), nullptr);
  }
}

TEST_P(ClientSessionAbuseTest, SaysThatAServerSpeaksAnotherProtocol) {
  session = std::make_unique<Connection>(client_options(), recorder, recorder.workspace, start);
  recorder.session = session.get();
  recorder.get("/");
  flush();
  receive("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
  EXPECT_EQ(flush(), "GOAWAY(0,PROTOCOL_ERROR)");
  EXPECT_EQ(failure_of(1), Errc::UnsupportedVersion);
}

TEST_P(ClientSessionAbuseTest, FloodsEndTheConnection) {
  const auto flooded = [this](const std::string& one, int count) {
    open(client_options());
    recorder.get("/");
    flush();
    std::string many;
    for (int i = 0; i < count; ++i) many += one;
    receive(many);
    recorder.flush();
    return session->failure() != nullptr && session->failure()->code == ErrorCode::EnhanceYourCalm;
  };
  EXPECT_FALSE(flooded(frames::ping(), 500));
  EXPECT_TRUE(flooded(frames::ping(), 1100));
  EXPECT_TRUE(flooded(frames::settings({{3, 100}}), 510));
  EXPECT_TRUE(flooded(frames::reset(1), 21'000));
  EXPECT_TRUE(flooded(frames::goaway(1, ErrorCode::NoError), 1100));
  EXPECT_TRUE(flooded(frames::frame(static_cast<FrameType>(0xa), 0, 0), 1100));
  EXPECT_TRUE(flooded(frames::window_update(0, 1), 1100));
  EXPECT_TRUE(flooded(frames::priority(1, 0), 2100));
  EXPECT_EQ(failure_of(1), Errc::MalformedFrame);
  EXPECT_EQ(recorder.failures[1].error.context(), "too many PRIORITY frames");
}

TEST_P(ClientSessionAbuseTest, AServerThatGivesBackTheWindowInPiecesIsFine) {
  recorder.post({.text = std::string(20'000'000, 'x')});
  while (recorder.contents[1].sent < recorder.contents[1].text.size()) {
    recorder.flush();
    std::string updates;
    for (int i = 0; i < 4; ++i) {
      for (const std::uint32_t id : {0U, 1U}) {
        updates += frames::window_update(id, 16'320) + frames::window_update(id, 64);
      }
    }
    session->receive(updates, start);
    ASSERT_EQ(session->failure(), nullptr) << recorder.contents[1].sent;
  }
}

TEST_P(ClientSessionAbuseTest, SmallMessagesThatAreAcknowledgedOneByOneAreFine) {
  recorder.post({.text = "", .is_whole = false});
  recorder.flush();
  for (int i = 0; i < 5000; ++i) {
    recorder.contents[1].text += "0123456789";
    session->resume_body(*recorder.streams.at(1));
    recorder.flush();
    session->receive(frames::window_update(0, 10) + frames::window_update(1, 10), start);
  }
  EXPECT_FALSE(session->is_over());
  EXPECT_LT(session->abuse_score(), 1000U);
}

INSTANTIATE_TEST_SUITE_P(Pieces, ClientSessionAbuseTest, ::testing::Values(1, 7, 1U << 20U));

}  // namespace
}  // namespace skua::h2
