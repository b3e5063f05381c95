// SPDX-License-Identifier: MIT
// Features that only HTTP/2 has: the preface, concurrent streams, windows. The other tests run over
// HTTP/2 too, and cover what it shares with HTTP/1.
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "server/http2_worker.hpp"
#include "skua.hpp"

namespace skua {
namespace {

namespace frames = h2::frames;
using testing::Client;
using testing::get;
using testing::Transport;

class Http2 : public testing::Http2Worker {};

TEST_P(Http2, IsRecognisedHoweverItsPrefaceIsCut) {
  const std::string hello = frames::hello() + frames::get(1);
  for (std::size_t cut = 1; cut < h2::client_preface.size(); ++cut) {
    Client client = connect();
    EXPECT_EQ(say(client, hello.substr(0, cut)), "") << cut;
    EXPECT_EQ(say(client, hello.substr(cut)),
              "SETTINGS WINDOW_UPDATE(0) SETTINGS+ HEADERS(1) DATA(1)!")
        << cut;
  }
  Client client = connect();
  std::string heard;
  for (const char byte : hello) heard = say(client, {&byte, 1});
  EXPECT_EQ(heard, "HEADERS(1) DATA(1)!");
}

TEST_P(Http2, WhatOnlyBeginsLikeItsPrefaceIsHttp1) {
  const std::string post = "POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 4\r\n\r\nbody";
  for (std::size_t cut = 1; cut < 10; ++cut) {
    Client client = worker().connect(Transport::Tcp);
    client.send(post.substr(0, cut));
    worker().settle();
    const auto answer = worker().ask(client, post.substr(cut));
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->body, "body");
  }
  Client other = worker().connect(Transport::Tcp);
  EXPECT_EQ(worker().ask(other, "PRI * HTTP/1.1\r\nHost: t\r\n\r\n")->status, 501);
  Client silent = worker().connect(Transport::Tcp);
  silent.send("P");
  worker().settle();
  worker().advance(11s);
  worker().turn_until_readable(silent);
  EXPECT_EQ(silent.answer()->status, 408);
}

TEST_P(Http2, IsNotSpokenWhereItIsNotWanted) {
  options_.http2 = false;
  Client client = worker().connect(Transport::Tcp);
  EXPECT_EQ(worker().ask(client, frames::hello() + frames::get(1))->status, 505);
}

TEST_P(Http2, StreamsAreAnsweredInTheOrderInWhichTheirHandlersEnd) {
  Client client = greeted();
  std::string requests;
  for (std::uint32_t i = 0; i < 100; ++i) {
    requests += frames::get(2 * i + 1, "/after/" + std::to_string(200 - i));
  }
  EXPECT_EQ(say(client, requests), "");
  worker().advance(100ms);
  EXPECT_EQ(heard(client), "");
  for (std::uint32_t i = 100; i-- > 0;) {
    worker().advance(1ms);
    const std::string id = std::to_string(2 * i + 1);
    ASSERT_EQ(heard(client), "HEADERS(" + id + ") DATA(" + id + ")!");
  }
  EXPECT_EQ(say(client, frames::get(201)), "HEADERS(201) DATA(201)!");
}

TEST_P(Http2, AResetDropsTheHandlerThatWaits) {
  Client client = greeted();
  say(client, frames::get(1, "/forever") + frames::get(3, "/forever"));
  EXPECT_EQ(alive_, 2);
  EXPECT_EQ(say(client, frames::reset(1)), "");
  EXPECT_EQ(alive_, 1);
  EXPECT_EQ(worker().counters().handlers_cancelled, 1U);
  EXPECT_EQ(say(client, frames::get(5)), "HEADERS(5) DATA(5)!");
  EXPECT_EQ(alive_, 1);
}

TEST_P(Http2, AResetDropsWhatMakesTheContent) {
  Client client = greeted();
  const std::string heard = say(client, frames::get(1, "/endless"));
  EXPECT_TRUE(heard.starts_with("HEADERS(1) DATA(1)")) << heard;
  EXPECT_EQ(alive_, 1);
  EXPECT_EQ(say(client, frames::reset(1)), "");
  EXPECT_EQ(alive_, 0);
  EXPECT_EQ(worker().counters().handlers_cancelled, 1U);
}

TEST_P(Http2, AStreamThatNobodyReadsHoldsUpNoOther) {
  Client client = greeted();
  say(client, frames::window_update(0, 1U << 24U) + frames::get(1, "/endless"));
  EXPECT_EQ(say(client, frames::get(3)), "HEADERS(3) DATA(3)!");
  const std::string more = say(client, frames::window_update(1, 100'000));
  EXPECT_TRUE(more.starts_with("DATA(1) DATA(1)")) << more;
}

TEST_P(Http2, TheWindowOpensAsTheHandlerReads) {
  options_.limits.stream_bytes = 16 * 1024;
  Client client = greeted();
  const std::string piece(16 * 1024, 'x');
  say(client, frames::headers(1, frames::request_block("POST", "/read-later"), frames::open));
  EXPECT_EQ(say(client, frames::data(1, piece)), "") << "nobody has read it";
  EXPECT_EQ(say(client, frames::get(3)), "HEADERS(3) DATA(3)!") << "others go on";
  worker().advance(1s);
  EXPECT_EQ(heard(client), "WINDOW_UPDATE(1)");
  EXPECT_EQ(say(client, frames::data(1, "end", frames::end)), "HEADERS(1) DATA(1)!");
}

TEST_P(Http2, MoreThanTheWindowEndsTheStream) {
  options_.limits.stream_bytes = 16 * 1024;
  Client client = greeted();
  say(client, frames::headers(1, frames::request_block("POST", "/read-later"), frames::open));
  say(client, frames::data(1, std::string(16 * 1024, 'x')));
  const std::string heard = say(client, frames::data(1, "x"));
  EXPECT_NE(heard.find("FLOW_CONTROL_ERROR"), heard.npos) << heard;
}

TEST_P(Http2, AnAnswerBeforeTheContentStopsIt) {
  Client client = greeted();
  const std::string post = frames::request_block("POST", "/nowhere");
  EXPECT_EQ(say(client, frames::headers(1, post, frames::open)), "HEADERS(1) DATA(1)!");
  EXPECT_EQ(say(client, frames::data(1, "on its way", frames::end)), "");
  EXPECT_EQ(say(client, frames::headers(3, post, frames::open) + frames::data(3, "x", frames::end)),
            "HEADERS(3) DATA(3)!");
}

// Some clients (curl 7.88) lose a response if the reset arrives with it.
TEST_P(Http2, AClientThatGoesOnAfterItsAnswerIsStoppedALittleLater) {
  options_.limits.unread_body_bytes = 50'000;
  Client client = greeted();
  const std::string post = frames::request_block("POST", "/nowhere");
  const std::string piece(16'000, 'x');
  EXPECT_EQ(say(client, frames::headers(1, post, frames::open)), "HEADERS(1) DATA(1)!");
  std::string heard_meanwhile;
  for (int i = 0; i < 6; ++i) {
    heard_meanwhile += say(client, frames::window_update(0, 1) + frames::data(1, piece));
  }
  EXPECT_EQ(heard_meanwhile, "WINDOW_UPDATE(1)") << "as much as HTTP/1 reads, then it stays shut";
  worker().advance(1900ms);
  EXPECT_EQ(heard(client), "");
  worker().advance(200ms);
  EXPECT_EQ(heard(client), "RST_STREAM(1,NO_ERROR)");
  EXPECT_EQ(say(client, frames::get(3)), "HEADERS(3) DATA(3)!");
}

TEST_P(Http2, ContentOverTheLimitIsRefusedByItsLengthAndByCount) {
  options_.limits.body_bytes = options_.limits.streamed_body_bytes = 1000;
  Client client = worker().connect(Transport::H2);
  for (const std::string_view path : {"/echo", "/read-later"}) {
    const std::string head = "POST " + std::string(path) + " HTTP/1.1\r\nHost: t\r\n";
    EXPECT_EQ(worker()
                  .ask(client, head + "Content-Length: 1001\r\n\r\n" + std::string(1001, 'x'))
                  ->status,
              413);
    client.send(head + "Transfer-Encoding: chunked\r\n\r\n3e9\r\n" + std::string(1001, 'x'));
    client.send("\r\n0\r\n\r\n");
    EXPECT_EQ(client.answer()->status, 413);
  }
  EXPECT_EQ(worker().counters().refused_too_large, 4U);
  EXPECT_EQ(worker().ask(client, get("/"))->status, 200);
}

TEST_P(Http2, HooksLearnTheVersion) {
  std::vector<std::string> seen;
  options_.hooks.on_response = [&seen](const RequestRecord& record) {
    EXPECT_EQ(record.version, Version::Http2);
    seen.push_back(std::string(name(record.method)) + " " + std::string(record.target) + " " +
                   std::to_string(code(record.status)) + " " + std::to_string(record.body_bytes));
  };
  Client client = greeted();
  // The endless response must not use up the connection's window.
  say(client, frames::window_update(0, 1'000'000) + frames::get(1, "/?a=b") +
                  frames::get(3, "/endless") + frames::get(5, "/no"));
  say(client, frames::reset(3));
  ASSERT_EQ(seen.size(), 3U);
  EXPECT_EQ(seen[0], "GET /?a=b 200 5");
  EXPECT_TRUE(seen[1].starts_with("GET /no 404 ")) << seen[1];
  EXPECT_TRUE(seen[2].starts_with("GET /endless 200 ")) << seen[2];
}

INSTANTIATE_TEST_SUITE_P(Backends, Http2, ::testing::ValuesIn(testing::backends()),
                         testing::backend_name);

}  // namespace
}  // namespace skua
