// SPDX-License-Identifier: MIT
// Tests all the ways in which streams and connections end.
#include <gtest/gtest.h>

#include <string>

#include "support/h2_server_session.hpp"

namespace skua::h2 {
namespace {

using namespace std::chrono_literals;
using frames::field;

class SessionEndTest : public ServerSessionTest {};

// The end of a stream -----------------------------------------------------------------------------

TEST_F(SessionEndTest, AResponseBeforeTheRequestIsWholeEndsItWithoutAnError) {
  recorder.when_requested = [this](Stream& its, bool) { recorder.answer(its, "no need"); };
  EXPECT_EQ(exchange(frames::post(1)), "HEADERS(1) DATA(1)! RST_STREAM(1,NO_ERROR)");
  EXPECT_EQ(recorder.log, "1 POST / h.example\n1 answered early\n1 closed NO_ERROR\n");
  EXPECT_EQ(exchange(frames::data(1, "late", frames::end)), "");
  EXPECT_EQ(recorder.received[1], "");
  EXPECT_EQ(session->abuse_score(), AbuseGuard::weight(Abuse::LateFrame)) << "the rest is forgiven";
}

TEST_F(SessionEndTest, ATunnelsOtherHalfGoesOn) {
  ask_for_tunnel();
  recorder.contents[1] = {.text = "to the peer"};
  session->respond(stream(1), {}, true);
  EXPECT_EQ(flushed(), "HEADERS(1) DATA(1)!");
  EXPECT_EQ(exchange(frames::data(1, "from the peer")), "");
  EXPECT_EQ(recorder.received[1], "from the peer");
  EXPECT_EQ(exchange(frames::data(1, "", frames::end)), "");
  EXPECT_EQ(session->stream_count(), 0U);
}

TEST_F(SessionEndTest, ATunnelThatIsRefusedIsNone) {
  ask_for_tunnel();
  session->respond(stream(1), {.status = Status::NotFound}, false);
  EXPECT_EQ(flushed(), "HEADERS(1)! RST_STREAM(1,NO_ERROR)");
  EXPECT_EQ(session->stream_count(), 0U);
}

TEST_F(SessionEndTest, ATunnelHasNoTrailers) {
  ask_for_tunnel();
  recorder.contents[1] = {.text = "to the peer", .is_whole = false};
  session->respond(stream(1), {}, true);
  EXPECT_EQ(flushed(), "HEADERS(1) DATA(1)");
  EXPECT_EQ(exchange(frames::headers(1, field("a", "b"))), "RST_STREAM(1,PROTOCOL_ERROR)");
}

TEST_F(SessionEndTest, AConsumerMayLetGoWhenItIsAskedForContent) {
  struct Deserter final : Recorder {
    BodyRead read_body(Stream& its, std::size_t) override {
      session->release(its);
      return {.bytes = 3};
    }
  };
  Deserter deserter;
  session = std::make_unique<Connection>(Options{}, deserter, deserter.workspace, start);
  deserter.session = session.get();
  session->receive(frames::hello() + frames::get(1), start);
  session->respond(*deserter.streams.at(1), {}, true);
  const std::string sent = frames::describe(deserter.flush());
  EXPECT_EQ(sent.substr(sent.find("HEADERS")), "HEADERS(1) RST_STREAM(1,CANCEL)");
  EXPECT_EQ(session->stream_count(), 0U);
}

TEST_F(SessionEndTest, AStreamThatThePeerResetCountsUntilItIsReleased) {
  open({.streams = 2});
  recorder.releases = false;
  EXPECT_EQ(exchange(frames::get(1) + frames::reset(1) + frames::get(3) + frames::reset(3)), "");
  EXPECT_EQ(recorder.log,
            "1 GET / h.example end\n1 closed CANCEL\n3 GET / h.example end\n3 closed CANCEL\n");
  EXPECT_TRUE(stream(1).is_closed());
  EXPECT_EQ(stream(1).request().head.target(), "/");  // a handler may still look at it
  EXPECT_EQ(session->stream_count(), 2U);
  EXPECT_EQ(exchange(frames::get(5)), "RST_STREAM(5,REFUSED_STREAM)");
  session->respond(stream(1), {}, false);  // the handler did not notice: nothing happens
  session->consume(stream(1), 10);
  session->resume_body(stream(1));
  session->reset(stream(1), ErrorCode::Cancel);
  EXPECT_EQ(flushed(), "");
  session->release(stream(1));
  recorder.releases = true;
  EXPECT_EQ(exchange(frames::get(7)), "");
  EXPECT_NE(recorder.log.find("7 GET"), std::string::npos);
  EXPECT_EQ(session->stream_count(), 2U);
}

TEST_F(SessionEndTest, AReleasedStreamIsCancelledAndNotToldOfAgain) {
  session->receive(frames::post(1), start);
  session->release(stream(1));
  EXPECT_EQ(exchange(frames::data(1, "abc", frames::end)), "RST_STREAM(1,CANCEL)");
  EXPECT_EQ(recorder.log, "1 POST / h.example\n");
  EXPECT_EQ(session->stream_count(), 0U);
}

TEST_F(SessionEndTest, StreamsBeyondTheLimitAreRefusedBeforeTheyAreTold) {
  open({.streams = 3}, std::string(client_preface) + frames::settings());  // no acknowledgement yet
  EXPECT_EQ(exchange(frames::get(1) + frames::get(3) + frames::get(5) + frames::get(7)),
            "RST_STREAM(7,REFUSED_STREAM)");
  EXPECT_EQ(session->stream_count(), 3U);
  EXPECT_EQ(recorder.log.find("7 GET"), std::string::npos);
}

TEST_F(SessionEndTest, StreamsBeyondTheLimitAreRefusedAlsoWhenThePeerKnowsIt) {
  session =
      std::make_unique<Connection>(Options{.streams = 3}, recorder, recorder.workspace, start);
  recorder.session = session.get();
  session->receive(frames::hello(), start);  // acknowledges our SETTINGS
  const std::string told("\0\x03\0\0\0\x03", 6);
  EXPECT_NE(frames::split(recorder.flush()).front().payload.find(told), std::string_view::npos);
  EXPECT_FALSE(session->settings_pending_since());
  EXPECT_EQ(exchange(frames::get(1) + frames::get(3) + frames::get(5) + frames::get(7)),
            "RST_STREAM(7,REFUSED_STREAM)");
  EXPECT_EQ(session->stream_count(), 3U);
  recorder.answer(stream(1), "a");
  EXPECT_EQ(flushed(), "HEADERS(1) DATA(1)!") << "the others continue";
  EXPECT_EQ(exchange(frames::get(9)), "");
  EXPECT_EQ(session->stream_count(), 3U);
}

TEST_F(SessionEndTest, KnowsSinceWhenAFrameOrAHeadIsUnfinished) {
  const std::string head = frames::headers(1, frames::request_block("GET", "/"), frames::end);
  const auto since = [this](std::string_view bytes, std::chrono::seconds at) {
    session->receive(bytes, start + at);
    return session->unfinished_since();
  };
  EXPECT_EQ(since("", 1s), std::nullopt);
  EXPECT_EQ(since(head.substr(0, 4), 1s), start + 1s) << "a frame's head";
  EXPECT_EQ(since(head.substr(4, 10), 2s), start + 2s) << "from where it is known";
  EXPECT_EQ(since(head.substr(14), 3s), start + 2s) << "without END_HEADERS";
  EXPECT_EQ(since(frames::continuation(1, "", 0), 9s), start + 2s);
  EXPECT_EQ(since(frames::continuation(1, "", frames::open), 10s), std::nullopt);
  const std::string unknown = frames::frame(FrameType{0xfa}, 0, 0, "unknown");
  EXPECT_EQ(since(unknown + unknown.substr(0, 12), 11s), start + 11s);
  EXPECT_EQ(since(unknown.substr(12, 1), 12s), start + 11s);
  EXPECT_EQ(since(unknown.substr(13), 13s), std::nullopt);
  const std::string post = frames::post(3) + frames::data(3, "content");
  EXPECT_EQ(since(std::string_view(post).substr(0, post.size() - 1), 14s), std::nullopt)
      << "content has limits of its own";
}

// The end of a connection -------------------------------------------------------------------------

TEST_F(SessionEndTest, ShutsDownInTwoSteps) {
  session->receive(frames::get(1), start);
  session->begin_shut_down();
  EXPECT_EQ(flushed(), "GOAWAY(2147483647,NO_ERROR)");
  EXPECT_FALSE(session->is_over());
  EXPECT_EQ(exchange(frames::get(3)), "");  // in flight
  session->finish_shut_down();
  EXPECT_EQ(flushed(), "GOAWAY(3,NO_ERROR)");
  EXPECT_EQ(exchange(frames::get(5)), "");  // ignored
  EXPECT_EQ(recorder.log, "1 GET / h.example end\n3 GET / h.example end\n");
  EXPECT_FALSE(session->is_over());
  recorder.answer(stream(1), "a");
  EXPECT_EQ(flushed(), "HEADERS(1) DATA(1)!");
  EXPECT_FALSE(session->is_over());
  recorder.answer(stream(3), "b");
  EXPECT_EQ(flushed(), "HEADERS(3) DATA(3)!");
  EXPECT_TRUE(session->is_over());
  EXPECT_EQ(session->failure(), nullptr);
}

TEST_F(SessionEndTest, TerminatingTellsTheReasonAndSendsNothingElse) {
  recorder.when_requested = [this](Stream& its, bool) {
    recorder.answer(its, std::string(100'000, 'x'));
  };
  session->receive(frames::get(1), start);
  session->terminate(ErrorCode::SettingsTimeout, "no acknowledgement");
  const std::string sent = flushed();
  EXPECT_EQ(sent.substr(sent.rfind(' ') + 1), "GOAWAY(1,SETTINGS_TIMEOUT)");
  EXPECT_TRUE(session->is_over());
  EXPECT_FALSE(session->wants_write());
  ASSERT_NE(session->failure(), nullptr);
  EXPECT_EQ(session->failure()->code, ErrorCode::SettingsTimeout);
  EXPECT_EQ(session->failure()->reason, "no acknowledgement");
  session->terminate(ErrorCode::Cancel, "again");
  EXPECT_EQ(flushed(), "");
}

TEST_F(SessionEndTest, APeerThatLeavesIsServedToTheEnd) {
  EXPECT_EQ(exchange(frames::get(1) + frames::goaway(0, ErrorCode::NoError)), "");
  EXPECT_EQ(recorder.log, "1 GET / h.example end\ngoaway NO_ERROR\n");
  EXPECT_FALSE(session->is_over());
  recorder.answer(stream(1), "a");
  EXPECT_EQ(flushed(), "HEADERS(1) DATA(1)!");
  EXPECT_TRUE(session->is_over());
}

TEST_F(SessionEndTest, CanBeDestroyedAtAnyTime) {
  recorder.releases = false;
  session->receive(frames::get(1) + frames::post(3) + frames::post(5) + frames::reset(5) +
                       frames::headers(7, field(":method", "GET"), 0),
                   start);
  recorder.answer(stream(1), std::string(100'000, 'x'));
  session->write(1'000);
  const std::string log = recorder.log;
  session.reset();
  EXPECT_EQ(recorder.log, log);
}

}  // namespace
}  // namespace skua::h2
