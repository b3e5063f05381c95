// SPDX-License-Identifier: MIT
// Tests a client's session against handmade frames: its events, its requests, and the ends of
// streams.
#include "h2/connection.hpp"

#include <string>

#include "support/h2_client_session.hpp"

namespace skua::h2 {
namespace {

using frames::field;

TEST_P(ClientSessionTest, BeginsWithPrefaceAndSettings) {
  session = std::make_unique<Connection>(client_options(), recorder, recorder.workspace, start);
  recorder.session = session.get();
  const std::string sent = recorder.flush();
  ASSERT_TRUE(sent.starts_with(client_preface));
  const auto split = frames::split(std::string_view(sent).substr(client_preface.size()));
  ASSERT_EQ(split.size(), 2U);
  const std::string expected =
      frames::settings({{2, 0}, {4, 2 * 1024 * 1024}, {5, 16384}, {6, 65536}, {9, 1}});
  EXPECT_EQ(split[0].payload, expected.substr(frame_header_bytes));
  EXPECT_EQ(split[1].head.type, FrameType::WindowUpdate);
}

TEST_P(ClientSessionTest, GetsAResponse) {
  ASSERT_NE(recorder.get("/"), nullptr);
  EXPECT_EQ(flush(), "HEADERS(1)!");
  EXPECT_EQ(exchange(head(1, {{"content-length", "5"}, {"x", "y"}}) + frames::data(1, "he") +
                     frames::padded_data(1, "llo", 9, frames::end)),
            "");
  EXPECT_EQ(recorder.log, "1 200 content-length=5 x=y\n1 end [hello]\n");
  EXPECT_EQ(session->stream_count(), 0U);
  EXPECT_EQ(session->room(), 1000U);  // the server announced no limit
}

TEST_P(ClientSessionTest, PassesInterimResponsesAndTrailersOn) {
  recorder.get("/");
  EXPECT_EQ(flush(), "HEADERS(1)!");
  EXPECT_EQ(exchange(head(1, {{"link", "a"}}, frames::open, "103") +
                     head(1, {}, frames::open, "100") + head(1) + frames::data(1, "x") +
                     frames::headers(1, field("x-sum", "9") + field("content-type", "no"))),
            "");
  EXPECT_EQ(recorder.log, "1 103 link=a\n1 100\n1 200\n1 end [x] x-sum=9\n");
}

TEST_P(ClientSessionTest, ResponsesWithoutContentMayTellALength) {
  recorder.get("/", {}, Method::Head);
  recorder.get("/");
  recorder.get("/");
  recorder.get("/");
  flush();
  EXPECT_EQ(exchange(head(1, {{"content-length", "5"}}, frames::whole) +
                     head(3, {{"content-length", "5"}}, frames::whole, "304") +
                     head(5, {}, frames::whole, "204") +
                     head(7, {{"content-length", "0"}}, frames::whole)),
            "");
  EXPECT_EQ(recorder.log,
            "1 200 content-length=5\n1 end []\n3 304 content-length=5\n3 end []\n"
            "5 204\n5 end []\n7 200 content-length=0\n7 end []\n");
}

TEST_P(ClientSessionTest, TellsTheSameHoweverTheBytesAreCut) {
  const std::string bytes = head(1, {{"content-length", "6"}}) + head(3, {}, frames::open, "100") +
                            frames::data(1, "abc") + frames::ping() + head(5, {}, 0) +
                            frames::continuation(5, field("x", "y"), frames::open) + head(3) +
                            frames::data(5, "", frames::end) + frames::data(1, "def", frames::end) +
                            head(7, {{"content-length", "1"}}) + frames::data(7, "12") +
                            frames::reset(9, ErrorCode::RefusedStream) + head(11) +
                            frames::goaway(11, ErrorCode::NoError) + frames::data(11, "z") +
                            frames::headers(3, field("t", "u"));
  const auto run = [&](std::size_t first, std::size_t piece) {
    open(client_options());
    for (int i = 0; i < 7; ++i) recorder.get("/");
    recorder.flush();
    std::string_view rest = bytes;
    session->receive(rest.substr(0, first), start);
    rest.remove_prefix(first);
    for (; !rest.empty(); rest.remove_prefix(std::min(piece, rest.size()))) {
      session->receive(rest.substr(0, piece), start);
    }
    const std::string sent = flush();
    return recorder.log + sent;
  };
  const std::string whole = run(bytes.size(), 1);
  EXPECT_EQ(whole,
            "1 200 content-length=6\n3 100\n5 200 x=y\n3 200\n5 end []\n1 end [abcdef]\n"
            "7 200 content-length=1\n7 failed: response: the content is too long\n"
            "9 failed: REFUSED_STREAM: the peer reset the connection "
            "(unprocessed)\n11 200\ngoaway NO_ERROR\n"
            "13 failed: GOAWAY: the connection is closed (unprocessed)\n3 end [] t=u\n"
            "PING+ RST_STREAM(7,PROTOCOL_ERROR)");
  EXPECT_EQ(run(0, 1), whole);
  for (std::size_t first = 1; first < bytes.size(); ++first) {
    ASSERT_EQ(run(first, bytes.size()), whole) << first;
  }
}

TEST_P(ClientSessionTest, RefusedAndUnseenRequestsMayBeRepeated) {
  for (int i = 0; i < 4; ++i) recorder.get("/");
  flush();
  receive(frames::reset(1, ErrorCode::RefusedStream) + head(3) +
          frames::reset(3, ErrorCode::InternalError) + frames::goaway(5, ErrorCode::NoError));
  EXPECT_TRUE(recorder.failures[1].is_unprocessed);
  EXPECT_FALSE(recorder.failures[3].is_unprocessed);
  EXPECT_EQ(failure_of(3), Errc::Reset);
  EXPECT_TRUE(recorder.failures[7].is_unprocessed);
  EXPECT_EQ(failure_of(7), Errc::Closed);
  EXPECT_EQ(session->room(), 0U);
  EXPECT_FALSE(session->is_over());
  receive(head(5, {}, frames::whole));
  EXPECT_TRUE(recorder.log.ends_with("5 200\n5 end []\n"));
  EXPECT_TRUE(session->is_over());
}

TEST_P(ClientSessionTest, HeadersBeforeARefusalMeanThatItWasProcessed) {
  recorder.get("/");
  flush();
  receive(head(1) + frames::reset(1, ErrorCode::RefusedStream));
  EXPECT_FALSE(recorder.failures[1].is_unprocessed);
}

TEST_P(ClientSessionTest, AWholeResponseStaysWhole) {
  recorder.releases = false;
  Stream* const stream = recorder.post({.text = "ab", .is_whole = false});
  EXPECT_EQ(flush(), "HEADERS(1) DATA(1)");
  receive(head(1, {}, frames::whole, "413") + frames::reset(1, ErrorCode::NoError));
  EXPECT_EQ(recorder.log, "1 413\n1 end []\n");
  session->resume_body(*stream);  // has no effect
  EXPECT_EQ(flush(), "");
  session->release(*stream);
  EXPECT_EQ(flush(), "");
  EXPECT_EQ(session->stream_count(), 0U);
  // Before the response is complete, even NO_ERROR fails it.
  recorder.get("/");
  flush();
  receive(head(3) + frames::reset(3, ErrorCode::NoError));
  EXPECT_EQ(failure_of(3), Errc::Reset);
}

TEST_P(ClientSessionTest, ReleasedStreamsAreCancelled) {
  recorder.get("/");
  recorder.post({.text = "ab", .is_whole = false});
  flush();
  recorder.release(1);
  EXPECT_EQ(session->room(), 999U);  // RST_STREAM precedes the next request
  recorder.release(3);
  EXPECT_EQ(flush(), "RST_STREAM(1,CANCEL) RST_STREAM(3,CANCEL)");
  EXPECT_EQ(session->stream_count(), 0U);
  // Late frames are dropped, and the connection's window stays open.
  EXPECT_EQ(exchange(head(1) + frames::data(1, "late", frames::end)), "");
  EXPECT_EQ(recorder.log, "");
  recorder.get("/");
  recorder.release(5);
  EXPECT_EQ(flush(), "HEADERS(5)! RST_STREAM(5,CANCEL)");
  EXPECT_EQ(session->stream_count(), 0U);
}

TEST_P(ClientSessionTest, ReleasesFromInsideEvents) {
  recorder.when_head = [this](Stream& stream) { recorder.release(stream.id()); };
  recorder.get("/");
  recorder.get("/");
  flush();
  EXPECT_EQ(exchange(head(1) + frames::data(1, "x", frames::end) + head(3, {}, frames::whole)),
            "RST_STREAM(1,CANCEL) RST_STREAM(3,CANCEL)");
  EXPECT_EQ(recorder.log, "1 200\n3 200\n");
}

TEST_P(ClientSessionTest, RoomIsWhatTheServerAllows) {
  EXPECT_EQ(session->room(), 1000U);
  const int before = recorder.room_count;
  receive(frames::settings({{3, 2}}));
  EXPECT_GT(recorder.room_count, before);
  EXPECT_EQ(session->room(), 2U);
  recorder.get("/");
  recorder.get("/");
  EXPECT_EQ(session->room(), 0U);
  EXPECT_EQ(recorder.get("/"), nullptr);
  flush();
  receive(head(1, {}, frames::whole));
  EXPECT_EQ(session->room(), 1U);
  receive(frames::settings({{3, 1000}}));
  EXPECT_EQ(session->room(), 999U);
  session->finish_shut_down();
  EXPECT_EQ(session->room(), 0U);
  EXPECT_EQ(flush(), "SETTINGS+ GOAWAY(0,NO_ERROR)");
  EXPECT_FALSE(session->is_over());
  receive(head(3, {}, frames::whole));
  EXPECT_TRUE(session->is_over());
  EXPECT_EQ(session->failure(), nullptr);
}

TEST_P(ClientSessionTest, TakesARefusalForWhatItAskedBeforeTheServerSaidHowMuch) {
  session = std::make_unique<Connection>(client_options(), recorder, recorder.workspace, start);
  recorder.session = session.get();
  for (int i = 0; i < 3; ++i) recorder.get("/");
  receive(frames::settings({{3, 1}}));
  std::string sent = recorder.flush();
  sent.erase(0, client_preface.size());
  EXPECT_EQ(frames::describe(sent),
            "SETTINGS WINDOW_UPDATE(0) HEADERS(1)! HEADERS(3)! HEADERS(5)! SETTINGS+");
  EXPECT_EQ(session->room(), 0U);
  receive(frames::reset(3, ErrorCode::RefusedStream));
  EXPECT_TRUE(recorder.failures[3].is_unprocessed);
  EXPECT_EQ(session->room(), 0U);
  receive(frames::goaway(1, ErrorCode::NoError));
  EXPECT_TRUE(recorder.failures[5].is_unprocessed);
  receive(head(1, {}, frames::whole));
  EXPECT_EQ(flush(), "");
  EXPECT_TRUE(session->is_over());
  EXPECT_EQ(session->stream_count(), 0U);
}

TEST_P(ClientSessionTest, ALostConnectionFailsWhatIsNotWhole) {
  recorder.get("/");
  flush();
  recorder.get("/");
  session->lose(Error(Errc::Reset));
  EXPECT_EQ(failure_of(1), Errc::Reset);
  EXPECT_FALSE(recorder.failures[1].is_unprocessed);
  EXPECT_TRUE(recorder.failures[3].is_unprocessed);
}

TEST_P(ClientSessionTest, RequestsAreWrittenForHttp2) {
  recorder.get("/a?b",
               "Host: other\r\nConnection: close, x\r\nKeep-Alive: 1\r\nProxy-Connection: a\r\n"
               "Transfer-Encoding: chunked\r\nUpgrade: h2c\r\nTE: gzip;q=0.5, Trailers\r\n"
               "Content-Length: 7\r\nX-Case: Kept \r\nCookie: a=b; c=d\r\nCookie: e\r\n");
  recorder.get("/", "TE: gzip\r\n");
  const auto sent = frames::split(recorder.flush());
  ASSERT_EQ(sent.size(), 2U);
  // Decoded by a server's session.
  struct Reader : Events {
    void on_request(Stream& stream, bool) override {
      const http::Head& its = stream.request().head;
      text.append(name(its.method)).append(" ").append(its.target());
      for (const http::FieldLine& line : its.fields) {
        text.append(" ").append(its.name(line)).append("=").append(its.value(line));
      }
      text += '\n';
    }
    void on_data(Stream&, std::string_view) override {}
    void on_end(Stream&, std::unique_ptr<ReceivedHead>) override {}
    BodyRead read_body(Stream&, std::size_t) override { return {}; }
    void append(std::string_view) override {}
    void append_data(Stream&, std::string_view, std::size_t) override {}
    std::string text;
  } reader;
  const auto server = std::make_unique<Connection>(Options{}, reader, recorder.workspace, start);
  server->receive(frames::hello() + recorder.output, start);
  EXPECT_EQ(reader.text,
            "GET /a?b host=h.example te=trailers x-case=Kept cookie=a=b; c=d; e\n"
            "GET / host=h.example\n");
}

TEST_P(ClientSessionTest, KnowsWhetherExtendedConnectIsPermitted) {
  constexpr auto id = static_cast<unsigned>(Setting::EnableConnectProtocol);
  EXPECT_TRUE(session->has_peer_settings());
  EXPECT_FALSE(session->permits_extended_connect());
  EXPECT_EQ(exchange(frames::settings({{id, 0}})), "SETTINGS+");
  EXPECT_FALSE(session->permits_extended_connect());
  EXPECT_EQ(exchange(frames::settings({{id, 1}})), "SETTINGS+");
  EXPECT_TRUE(session->permits_extended_connect());
  EXPECT_EQ(exchange(frames::settings({{id, 1}})), "SETTINGS+");
  // RFC 8441 §3
  EXPECT_EQ(exchange(frames::settings({{id, 0}})), "GOAWAY(0,PROTOCOL_ERROR)");
}

// RFC 8441 §4, §5
TEST_P(ClientSessionTest, ATunnelCarriesBytesBothWays) {
  recorder.releases = false;  // our side goes on
  recorder.begin({.method = Method::Connect, .scheme = "http", .path = "/a", .protocol = "x"},
                 true);
  recorder.contents[1] = {.text = "hello", .is_whole = false};
  EXPECT_EQ(flush(), "HEADERS(1) DATA(1)");
  EXPECT_NE(recorder.output.find("x"), std::string::npos);
  // RFC 9110 §9.3.6: a length says nothing.
  EXPECT_EQ(exchange(head(1, {{"content-length", "3"}}) + frames::data(1, "longer")), "");
  recorder.contents[1].text.append(" again");
  session->resume_body(*recorder.streams.at(1));
  EXPECT_EQ(flush(), "DATA(1)");
  EXPECT_EQ(exchange(frames::data(1, "", frames::end)), "");
  EXPECT_EQ(recorder.log, "1 200 content-length=3\n1 end [longer]\n");
}

TEST_P(ClientSessionTest, ATunnelThatIsRefusedHasContent) {
  recorder.begin({.method = Method::Connect, .scheme = "http", .path = "/a", .protocol = "x"},
                 true);
  recorder.contents[1] = {.text = "", .is_whole = false};
  EXPECT_EQ(flush(), "HEADERS(1)");
  EXPECT_EQ(exchange(head(1, {{"content-length", "3"}}, frames::open, "404") +
                     frames::data(1, "longer", frames::end)),
            "RST_STREAM(1,PROTOCOL_ERROR)");
  EXPECT_EQ(failure_of(1), Errc::BodyTooLong);
}

TEST_P(ClientSessionTest, ATooLongRequestHeadIsItsOwnFault) {
  recorder.get("/", "x: " + std::string(300'000, 'a') + "\r\n");
  EXPECT_EQ(flush(), "");
  EXPECT_EQ(failure_of(1), Errc::HeadTooLong);
  EXPECT_FALSE(recorder.failures[1].is_unprocessed);
  EXPECT_FALSE(session->is_over());
}

INSTANTIATE_TEST_SUITE_P(Pieces, ClientSessionTest, ::testing::Values(1, 7, 1U << 20U));

}  // namespace
}  // namespace skua::h2
