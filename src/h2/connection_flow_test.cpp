// SPDX-License-Identifier: MIT
// Tests flow control in both directions, and the budget of a write.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <initializer_list>
#include <string>
#include <vector>

#include "h2/frame.hpp"
#include "support/h2_server_session.hpp"

namespace skua::h2 {
namespace {

class SessionFlowTest : public ServerSessionTest {};

// Received content --------------------------------------------------------------------------------

TEST_F(SessionFlowTest, GivesNoWindowBackForContentThatNobodyTook) {
  open({.stream_window_bytes = 20'000});
  recorder.takes_content = false;
  const std::string piece(10'000, 'x');
  EXPECT_EQ(exchange(frames::post(1) + frames::data(1, piece) + frames::data(1, piece)), "");
  session->consume(stream(1), 4'000);
  EXPECT_EQ(flushed(), "");  // too little for a frame
  session->consume(stream(1), 8'000);
  EXPECT_EQ(flushed(), "WINDOW_UPDATE(1)");
  EXPECT_EQ(frames::split(recorder.output)[0].number_at(0), 12'000U);
  EXPECT_EQ(exchange(frames::data(1, piece + "xx")), "");
  EXPECT_EQ(recorder.received[1].size(), 30'002U);
}

TEST_F(SessionFlowTest, APeerThatIgnoresItsWindowIsStopped) {
  open({.stream_window_bytes = 15'000});
  recorder.takes_content = false;
  const std::string piece(10'000, 'x');
  const std::string sent =
      exchange(frames::post(1) + frames::data(1, piece) + frames::data(1, piece));
  EXPECT_EQ(sent, "RST_STREAM(1,FLOW_CONTROL_ERROR)");
}

TEST_F(SessionFlowTest, AWindowThatSettingsMadeSmallerStillTakesAnEmptyFrame) {
  open({.stream_window_bytes = 1'000}, std::string(client_preface) + frames::settings());
  recorder.takes_content = false;
  const std::string piece(5'000, 'x');
  const std::string begun = frames::post(1) + frames::data(1, piece);
  EXPECT_EQ(exchange(begun + frames::settings_ack()), "");
  EXPECT_EQ(exchange(frames::data(1, "") + frames::data(1, "", frames::end)), "");
  EXPECT_EQ(recorder.received[1], piece);
  EXPECT_TRUE(stream(1).has_received_all());
}

TEST_F(SessionFlowTest, AWindowThatSettingsMadeSmallerTakesNothingElse) {
  open({.stream_window_bytes = 1'000}, std::string(client_preface) + frames::settings());
  recorder.takes_content = false;
  const std::string begun = frames::post(1) + frames::data(1, std::string(5'000, 'x'));
  EXPECT_EQ(exchange(begun + frames::settings_ack()), "");
  EXPECT_EQ(exchange(frames::data(1, "x")), "RST_STREAM(1,FLOW_CONTROL_ERROR)");
}

TEST_F(SessionFlowTest, AStreamThatNobodyReadsHoldsUpNoOther) {
  open({.stream_window_bytes = 16'000, .connection_window_bytes = 65'535});
  recorder.takes_content = false;
  const std::string piece(16'000, 'x');
  std::size_t received = 0;
  for (std::uint32_t id = 1; id < 60; id += 2) {  // 480,000 bytes
    const std::string sent = exchange(frames::post(id) + frames::data(id, piece));
    EXPECT_EQ(sent.find("GOAWAY"), std::string::npos) << sent;
    received += recorder.received[id].size();
  }
  EXPECT_EQ(received, 30U * 16'000);
  EXPECT_EQ(session->stream_count(), 30U);
}

TEST_F(SessionFlowTest, ContentOfStreamsThatAreGoneIsDropped) {
  open({.connection_window_bytes = 1024 * 1024});
  session->receive(frames::post(1), start);
  session->reset(stream(1), ErrorCode::Cancel);
  EXPECT_EQ(flushed(), "RST_STREAM(1,CANCEL)");
  const std::string piece(16'000, 'x');
  std::string sent;
  for (int i = 0; i < 100; ++i) sent += exchange(frames::data(1, piece));
  EXPECT_NE(sent.find("WINDOW_UPDATE(0)"), std::string::npos);
  EXPECT_EQ(sent.find("RST_STREAM"), std::string::npos);
  EXPECT_EQ(recorder.received[1], "");
}

TEST_F(SessionFlowTest, AnEndWaitsForNoWindow) {
  open({}, frames::hello({{4, 0}}));
  recorder.when_requested = [this](Stream& its, bool) {
    recorder.contents[its.id()] = {.text = "", .is_whole = false};
    session->respond(its, {}, true);
  };
  EXPECT_EQ(exchange(frames::get(1) + frames::get(3) + frames::get(5) + frames::get(7)),
            "HEADERS(1) HEADERS(3) HEADERS(5) HEADERS(7)");
  recorder.contents[1].is_whole = true;
  session->resume_body(stream(1));
  EXPECT_EQ(flushed(), "DATA(1)!");
  recorder.contents[3] = {.trailers = "x: y\r\n"};
  session->resume_body(stream(3));
  EXPECT_EQ(flushed(), "HEADERS(3)!");
  recorder.contents[5] = {.fails = true};
  session->resume_body(stream(5));
  EXPECT_EQ(flushed(), "RST_STREAM(5,INTERNAL_ERROR)");
  recorder.contents[7] = {.text = "late"};
  session->resume_body(stream(7));
  EXPECT_EQ(flushed(), "");
  EXPECT_TRUE(session->is_blocked_by_window(stream(7)));
  EXPECT_EQ(exchange(frames::window_update(7, 4)), "DATA(7)!");
}

TEST_F(SessionFlowTest, AnEndWaitsForNoWindowOfTheConnection) {
  open({}, frames::hello({{4, 1'000'000}}));
  recorder.when_requested = [this](Stream& its, bool) {
    recorder.answer(its, its.id() == 1 ? std::string(70'000, 'x') : std::string());
  };
  exchange(frames::get(1));
  EXPECT_EQ(content().size(), 65'535U);
  EXPECT_EQ(exchange(frames::get(3)), "HEADERS(3)!");
  recorder.when_requested = [this](Stream& its, bool) {
    recorder.contents[its.id()] = {};
    session->respond(its, {}, true);
  };
  EXPECT_EQ(exchange(frames::get(5)), "HEADERS(5) DATA(5)!");
  EXPECT_EQ(exchange(frames::window_update(0, 10'000)), "DATA(1)!");
}

/// A session whose SETTINGS took 100 ms to be acknowledged.
class SessionWindowTest : public ServerSessionTest {
 protected:
  static constexpr auto round_trip = std::chrono::milliseconds(100);

  void open_after_round_trip(const Options& options) {
    open(options, std::string(client_preface) + frames::settings({}));
    now += round_trip;
    session->receive(frames::settings_ack(), now);
  }
  /// Receives content that takes `time` to arrive. Returns how far the window was opened meanwhile.
  std::size_t take(std::uint32_t id, std::size_t size_bytes, Duration time) {
    now += time;
    std::size_t opened = 0;
    for (std::size_t sent = 0; sent < size_bytes; sent += 10'000) {
      session->receive(frames::data(id, std::string(10'000, 'x')), now);
      recorder.flush();
      for (const frames::Frame& frame : frames::split(recorder.output)) {
        const bool is_update = frame.head.type == FrameType::WindowUpdate;
        if (is_update && frame.head.stream_id == id) opened += frame.number_at(0);
      }
    }
    return opened;
  }

  loop::Instant now = start;
};

TEST_F(SessionWindowTest, GrowsWhileThePathHasRoomForMore) {
  open_after_round_trip({.stream_window_bytes = 40'000, .window_growth_bytes = 100'000});
  session->receive(frames::post(1), now);
  EXPECT_EQ(take(1, 20'000, round_trip / 2), 20'000U + 40'000U);
  EXPECT_EQ(take(1, 40'000, round_trip / 2), 40'000U + 60'000U);  // the growth limit
  EXPECT_EQ(take(1, 70'000, round_trip / 2), 70'000U);
}

TEST_F(SessionWindowTest, StaysForAPathThatIsSlow) {
  open_after_round_trip({.stream_window_bytes = 40'000});
  session->receive(frames::post(1), now);
  EXPECT_EQ(take(1, 20'000, round_trip * 2), 20'000U);
  EXPECT_EQ(take(1, 20'000, round_trip * 3), 20'000U);
}

TEST_F(SessionWindowTest, GrowthIsForAllStreamsTogether) {
  open_after_round_trip({.stream_window_bytes = 40'000, .window_growth_bytes = 40'000});
  session->receive(frames::post(1) + frames::post(3), now);
  EXPECT_EQ(take(1, 20'000, round_trip / 2), 60'000U);
  EXPECT_EQ(take(3, 20'000, round_trip / 4), 20'000U);
  session->reset(stream(1), ErrorCode::Cancel);
  recorder.flush();
  EXPECT_EQ(take(3, 20'000, round_trip / 4), 60'000U);
}

// Sent content ------------------------------------------------------------------------------------

TEST_F(SessionFlowTest, SendsAsMuchAsTheWindowsAllow) {
  open({}, frames::hello({{4, 10}}));
  recorder.when_requested = [this](Stream& its, bool) {
    recorder.answer(its, "0123456789abcdefghij");
  };
  EXPECT_EQ(exchange(frames::get(1)), "HEADERS(1) DATA(1)");
  EXPECT_EQ(content(), "0123456789");
  EXPECT_TRUE(session->is_blocked_by_window(stream(1)));
  EXPECT_EQ(exchange(frames::window_update(1, 4)), "DATA(1)");
  EXPECT_EQ(content(), "abcd");
  EXPECT_EQ(exchange(frames::settings({{4, 1000}})), "SETTINGS+ DATA(1)!");
  EXPECT_EQ(content(), "efghij");
  EXPECT_EQ(recorder.log.substr(recorder.log.find("1 closed")), "1 closed NO_ERROR\n");
}

TEST_F(SessionFlowTest, TheWindowOfTheConnectionHoldsForAllStreams) {
  open({}, frames::hello({{4, 1'000'000}}));
  recorder.when_requested = [this](Stream& its, bool) {
    recorder.answer(its, std::string(60'000, 'x'));
  };
  session->receive(frames::get(1) + frames::get(3), start);
  recorder.flush();
  EXPECT_EQ(content().size(), 65'535U);
  EXPECT_FALSE(session->wants_write());
  session->receive(frames::window_update(0, 100'000), start);
  recorder.flush();
  EXPECT_EQ(content().size(), 120'000U - 65'535U);
  EXPECT_EQ(session->stream_count(), 0U);
}

TEST_F(SessionFlowTest, ContentThatIsNotThereYetIsAskedForWhenItIs) {
  session->receive(frames::get(1), start);
  recorder.contents[1] = {.text = "abc", .is_whole = false};
  session->respond(stream(1), {}, true);
  EXPECT_EQ(flushed(), "HEADERS(1) DATA(1)");
  EXPECT_FALSE(session->wants_write());
  session->resume_body(stream(1));
  EXPECT_EQ(flushed(), "");  // still nothing available
  recorder.contents[1].text += "def";
  recorder.contents[1].is_whole = true;
  session->resume_body(stream(1));
  EXPECT_EQ(flushed(), "DATA(1)!");
  EXPECT_EQ(content(), "def");
}

TEST_F(SessionFlowTest, AnEmptyEndFollowsWhereTheLastPieceDidNotSaySo) {
  session->receive(frames::get(1) + frames::get(3), start);
  recorder.contents[1] = {.text = "abc", .is_whole = false};
  session->respond(stream(1), {}, true);
  recorder.flush();
  recorder.contents[1].is_whole = true;
  session->resume_body(stream(1));
  EXPECT_EQ(flushed(), "DATA(1)!");
  EXPECT_EQ(content(), "");
  recorder.contents[3] = {.text = "abc", .trailers = "X-Sum: 1\r\n"};
  session->respond(stream(3), {}, true);
  EXPECT_EQ(flushed(), "HEADERS(3) DATA(3) HEADERS(3)!");
}

TEST_F(SessionFlowTest, TrailersWithoutContentBehindThem) {
  session->receive(frames::get(1), start);
  recorder.contents[1] = {.text = "", .trailers = "X-Sum: 1\r\n"};
  session->respond(stream(1), {}, true);
  EXPECT_EQ(flushed(), "HEADERS(1) HEADERS(1)!");
  EXPECT_EQ(session->stream_count(), 0U);
}

TEST_F(SessionFlowTest, ContentThatCannotBeCompletedResetsTheStream) {
  session->receive(frames::get(1), start);
  recorder.contents[1] = {.text = "abc", .is_whole = false};
  session->respond(stream(1), {}, true);
  recorder.flush();
  recorder.contents[1].fails = true;
  session->resume_body(stream(1));
  EXPECT_EQ(flushed(), "RST_STREAM(1,INTERNAL_ERROR)");
  EXPECT_EQ(session->abuse_score(), AbuseGuard::weight(Abuse::Settings));
}

TEST_F(SessionFlowTest, AWriteKeepsToItsBudget) {
  open({}, frames::hello({{4, 0x7fff'ffff}}) + frames::window_update(0, 0x7000'0000));
  recorder.when_requested = [this](Stream& its, bool) {
    recorder.answer(its, std::string(1'000'000, 'x'));
  };
  session->receive(frames::get(1) + frames::get(3), start);
  std::size_t total = 0;
  while (session->wants_write()) {
    recorder.written.clear();
    const std::size_t written = session->write(50'000);
    ASSERT_EQ(written, recorder.written.size());
    ASSERT_LE(written, 50'000U + 16'384 + frame_header_bytes);
    total += written;
  }
  EXPECT_GT(total, 2'000'000U);
  EXPECT_EQ(session->stream_count(), 0U);
}

TEST_F(SessionFlowTest, UrgentResponsesGoFirst) {
  open({}, frames::hello({{4, 1'000'000}}) + frames::window_update(0, 1'000'000));
  recorder.when_requested = [this](Stream& its, bool) {
    recorder.answer(its, std::string(20'000, 'x'));
  };
  const auto with = [](std::string_view priority) {
    return frames::request_block("GET", "/", {{"priority", std::string(priority)}});
  };
  EXPECT_EQ(exchange(frames::headers(1, with("u=6")) + frames::headers(3, with("u=0"))),
            "HEADERS(1) HEADERS(3) DATA(3) DATA(3)! DATA(1) DATA(1)!");
  EXPECT_EQ(exchange(frames::headers(5, with("u=3,i")) + frames::headers(7, with("u=3,i"))),
            "HEADERS(5) HEADERS(7) DATA(5) DATA(7) DATA(5)! DATA(7)!");
  EXPECT_EQ(exchange(frames::get(9) + frames::get(11) + frames::priority_update(11, "u=1")),
            "HEADERS(9) HEADERS(11) DATA(11) DATA(11)! DATA(9) DATA(9)!");
}

// Sent heads --------------------------------------------------------------------------------------

TEST_F(SessionFlowTest, AHeadWithoutContentEndsTheStream) {
  session->receive(frames::headers(1, frames::request_block("HEAD", "/")), start);
  session->respond(stream(1), {.length_bytes = 12}, false);
  EXPECT_EQ(flushed(), "HEADERS(1)!");
  EXPECT_EQ(session->stream_count(), 0U);
}

TEST_F(SessionFlowTest, InformationalResponsesComeBefore) {
  session->receive(frames::post(1, {{"expect", "100-continue"}}), start);
  session->inform(stream(1), Status::Continue, FieldLines());
  EXPECT_EQ(flushed(), "HEADERS(1)");
  FieldLines hints;
  hints.add("Link", "</a.css>; rel=preload");
  session->inform(stream(1), Status::EarlyHints, hints);
  session->receive(frames::data(1, "abc", frames::end), start);
  recorder.answer(stream(1), "done");
  session->inform(stream(1), Status::EarlyHints, hints);  // too late: dropped
  EXPECT_EQ(flushed(), "HEADERS(1) HEADERS(1) DATA(1)!");
}

TEST_F(SessionFlowTest, AHeadThatIsFarTooLongResetsTheStream) {
  session->receive(frames::get(1), start);
  FieldLines lines;
  while (lines.wire().size() < 300'000) lines.add("X-Long", std::string(1000, 'x'));
  session->respond(stream(1), {.fields = &lines}, false);
  EXPECT_EQ(flushed(), "RST_STREAM(1,INTERNAL_ERROR)");
}

// Content that is sent at once --------------------------------------------------------------------

class SessionSendNowTest : public SessionFlowTest {
 protected:
  // Begins a response of unknown length on each stream.
  void begin(const std::vector<std::uint32_t>& ids, const std::string& hello = frames::hello()) {
    open({}, hello);
    recorder.when_requested = [this](Stream& its, bool) {
      recorder.contents[its.id()] = {.text = "", .is_whole = false};
      session->respond(its, {.status = Status::Ok}, true);
    };
    for (const std::uint32_t id : ids) exchange(frames::get(id));
  }
  // Returns the content in what was written, which has to be whole frames of stream 1.
  std::string content_of_frames() const {
    std::string text;
    std::size_t size = 0;
    for (const frames::Frame& frame : frames::split(recorder.written)) {
      EXPECT_EQ(frame.head.type, FrameType::Data);
      EXPECT_EQ(frame.head.stream_id, 1U);
      EXPECT_EQ(frame.head.length_bytes, frame.payload.size());
      size += frame_header_bytes + frame.payload.size();
      text += frame.payload;
    }
    EXPECT_EQ(size, recorder.written.size());
    return text;
  }
};

TEST_F(SessionSendNowTest, TakesWholeFramesAndTheRestOfOneThatHasBegun) {
  std::string text(40'000, '\0');
  for (std::size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>('a' + i / 7 % 26);
  constexpr std::size_t whole = 16'384;  // a frame
  constexpr std::size_t of_frame = whole - frame_header_bytes;
  const std::size_t all = text.size() + 3 * frame_header_bytes;
  for (const std::size_t taken : std::initializer_list<std::size_t>{
           0, 1, 8, 9, 10, whole - 1, whole, whole + 1, whole + 9, 2 * whole, all - 1, all}) {
    SCOPED_TRACE(taken);
    begin({1});
    recorder.taken_at_once = taken;
    const SentNow sent = session->send_now(stream(1), text);
    EXPECT_EQ(sent.sent_bytes, taken);
    const std::size_t begun = (taken + whole - 1) / whole;  // frames
    EXPECT_EQ(sent.head_bytes, begun * frame_header_bytes);
    EXPECT_EQ(sent.content_bytes, std::min(text.size(), begun * of_frame));
    const std::size_t rest = sent.head_bytes + sent.content_bytes - taken;
    const std::size_t last = begun == 0 ? 0 : sent.content_bytes - (begun - 1) * of_frame;
    EXPECT_EQ(sent.appended_bytes, std::min(rest, last));
    EXPECT_EQ(content_of_frames(), text.substr(0, sent.content_bytes));
    recorder.contents[1] = {.text = text.substr(sent.content_bytes)};
    session->resume_body(stream(1));
    EXPECT_EQ(flushed().back(), '!');
    EXPECT_EQ(content(), text);
  }
}

TEST_F(SessionSendNowTest, KeepsToTheWindows) {
  begin({1}, frames::hello({{4, 20'000}}));
  recorder.taken_at_once = 1'000'000;
  const std::string text(100'000, 'x');
  EXPECT_EQ(session->send_now(stream(1), text).content_bytes, 20'000U);
  EXPECT_EQ(session->send_now(stream(1), text).content_bytes, 0U);
  exchange(frames::window_update(1, 60'000));
  EXPECT_EQ(session->send_now(stream(1), text).content_bytes, 45'535U);  // the connection's
  EXPECT_EQ(session->send_now(stream(1), text).content_bytes, 0U);
  EXPECT_EQ(content_of_frames().size(), 45'535U);
}

TEST_F(SessionSendNowTest, LetsMoreUrgentContentGoFirst) {
  begin({1, 3});
  recorder.taken_at_once = 1'000'000;
  const std::string text(20'000, 'x');
  exchange(frames::priority_update(3, "u=1"));
  recorder.contents[3] = {.text = "urgent"};
  session->resume_body(stream(3));
  EXPECT_EQ(session->send_now(stream(1), text).content_bytes, 0U);
  EXPECT_EQ(flushed(), "DATA(3)!");
  EXPECT_EQ(session->send_now(stream(1), text).content_bytes, 20'000U);
}

TEST_F(SessionSendNowTest, SendsNothingOnAStreamThatIsClosed) {
  begin({1});
  recorder.releases = false;
  recorder.taken_at_once = 1'000'000;
  exchange(frames::reset(1));
  EXPECT_EQ(session->send_now(stream(1), std::string(20'000, 'x')).content_bytes, 0U);
  EXPECT_EQ(recorder.written, "");
}

}  // namespace
}  // namespace skua::h2
