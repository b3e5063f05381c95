// SPDX-License-Identifier: MIT
// How HTTP/2 connections and streams end: by timeout, with the server, or for an idle peer.
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "server/http2_worker.hpp"
#include "skua.hpp"

namespace skua {
namespace {

namespace frames = h2::frames;
using testing::Client;

class Http2Ends : public testing::Http2Worker {};

TEST_P(Http2Ends, AnIdleConnectionIsToldToGo) {
  Client client = greeted();
  say(client, frames::get(1));
  worker().advance(74s);
  EXPECT_EQ(heard(client), "");
  worker().advance(2s);
  EXPECT_EQ(heard(client), "GOAWAY(1,NO_ERROR)");
  EXPECT_TRUE(client.is_closed());
}

TEST_P(Http2Ends, AConnectionWithAHandlerAtWorkIsNotIdle) {
  Client client = greeted();
  say(client, frames::get(1, "/forever"));
  worker().advance(10min);
  EXPECT_EQ(heard(client), "");
  EXPECT_EQ(alive_, 1);
}

TEST_P(Http2Ends, ContentThatStallsOrDripsIsTooSlow) {
  Client client = greeted();
  const std::string post = frames::request_block("POST", "/echo");
  say(client, frames::headers(1, post, frames::open) + frames::data(1, "some"));
  worker().advance(29s);
  EXPECT_EQ(heard(client), "");
  say(client, frames::headers(3, post, frames::open) + frames::data(3, "some"));
  worker().advance(2s);
  EXPECT_EQ(heard(client), "HEADERS(1) DATA(1)!");
  worker().advance(10s);
  EXPECT_EQ(heard(client), "RST_STREAM(1,NO_ERROR)");
  EXPECT_EQ(say(client, frames::data(3, "x")), "HEADERS(3) DATA(3)!");
  EXPECT_EQ(worker().counters().refused_slow, 2U);
}

TEST_P(Http2Ends, APeerThatReadsSlowlyKeepsAllOtherDeadlines) {
  Client client = connect();
  const std::string post = frames::request_block("POST", "/echo");
  client.send(frames::hello({{4, 0x7fff'ffff}}) + frames::window_update(0, 0x7fff'0000) +
              frames::get(1, "/endless") + frames::headers(3, post, frames::open) +
              frames::data(3, "some"));
  const auto read_for = [&](int seconds) {
    for (int i = 0; i < seconds; ++i) {
      worker().settle();
      client.take_received();  // only a part: more follows
      worker().advance(1s);
    }
  };
  read_for(29);
  EXPECT_EQ(worker().counters().refused_slow, 0U);
  read_for(3);
  EXPECT_EQ(worker().counters().refused_slow, 1U) << "the unfinished request";
  EXPECT_FALSE(client.is_closed());
  EXPECT_EQ(alive_, 1) << "the download must continue";
}

Task<> tick(BodyWriter& out) {
  while (true) {
    co_await out.write("tick");
    co_await sleep(1s);
  }
}

TEST_P(Http2Ends, AStreamIsNotCutForContentThatItsGuardHasRefused) {
  Router inner;
  inner.use([](const Request&) -> std::optional<Response> {
    return Response::stream("text/plain", tick);
  });
  inner.post("/late", [] { return "nobody comes here"; });
  router_.mount("/guarded", std::move(inner));
  Client client = greeted();
  const std::string post = frames::request_block("POST", "/guarded/late");
  EXPECT_EQ(say(client, frames::headers(1, post, frames::open) + frames::data(1, "some")),
            "HEADERS(1) DATA(1)");
  for (int i = 0; i < 60; ++i) {
    worker().advance(1s);
    ASSERT_EQ(heard(client), "DATA(1)");
  }
}

TEST_P(Http2Ends, AWindowThatStaysShutResetsItsStream) {
  Client client = greeted();
  say(client, frames::window_update(0, 1U << 24U) + frames::get(1, "/endless"));
  worker().advance(29s);
  EXPECT_EQ(heard(client), "");
  const std::string more = say(client, frames::window_update(1, 10'000));
  EXPECT_TRUE(more.starts_with("DATA(1)")) << more;
  worker().advance(29s);
  EXPECT_EQ(heard(client), "") << "the peer has read something";
  worker().advance(2s);
  EXPECT_EQ(heard(client), "RST_STREAM(1,CANCEL)");
  EXPECT_EQ(alive_, 0);
  EXPECT_EQ(worker().counters().refused_slow, 1U);
  EXPECT_EQ(say(client, frames::get(3)), "HEADERS(3) DATA(3)!");
}

TEST_P(Http2Ends, AClientTooSlowForFramesLosesItsStreamOnly) {
  FrameSource source({.format = FrameFormat::Raw, .slow_client = SlowClient::Disconnect});
  router_.get("/frames", [&source] { return source.stream(); });
  Client client = greeted();
  EXPECT_EQ(say(client, frames::get(1, "/frames")), "HEADERS(1)");
  const std::string frame(60'000, 'f');
  for (int i = 0; i < 20 && source.clients() != 0; ++i) {
    source.publish(frame);
    worker().settle();
  }
  EXPECT_EQ(source.clients(), 0U) << "no time has passed";
  const std::string all = heard(client);
  EXPECT_TRUE(all.ends_with(" RST_STREAM(1,CANCEL)")) << all;
  EXPECT_EQ(worker().counters().refused_slow, 1U);
  EXPECT_EQ(worker().counters().handler_failures, 0U);
  EXPECT_EQ(say(client, frames::window_update(0, 100'000) + frames::get(3)), "HEADERS(3) DATA(3)!");
}

TEST_P(Http2Ends, SettingsHaveToBeAcknowledged) {
  Client client = connect();
  say(client, std::string(h2::client_preface) + frames::settings() + frames::get(1, "/forever"));
  EXPECT_EQ(alive_, 1);
  worker().advance(11s);
  EXPECT_EQ(heard(client), "GOAWAY(1,SETTINGS_TIMEOUT)");
  EXPECT_TRUE(client.is_closed());
}

TEST_P(Http2Ends, ADrainServesWhatIsOnItsWayAndRefusesWhatComesLater) {
  Client client = greeted();
  say(client, frames::get(1, "/after/1000"));
  (*worker()).begin_drain();
  EXPECT_EQ(heard(client), "GOAWAY(2147483647,NO_ERROR)");
  EXPECT_EQ(say(client, frames::get(3)), "HEADERS(3) DATA(3)!");
  worker().advance(60ms);
  EXPECT_EQ(heard(client), "GOAWAY(3,NO_ERROR)");
  EXPECT_EQ(say(client, frames::get(5)), "");
  worker().advance(1s);
  EXPECT_EQ(heard(client), "HEADERS(1) DATA(1)!");
  EXPECT_TRUE(client.is_closed());
  EXPECT_EQ(worker().counters().requests, 2U);
}

TEST_P(Http2Ends, ADrainEndsAnIdleConnection) {
  Client client = greeted();
  say(client, frames::get(1));
  (*worker()).begin_drain();
  EXPECT_EQ(heard(client), "GOAWAY(2147483647,NO_ERROR)");
  worker().advance(60ms);
  EXPECT_EQ(heard(client), "GOAWAY(1,NO_ERROR)");
  EXPECT_TRUE(client.is_closed());
}

// One lost segment delays the rest of a frame for longer than the grace of a drain.
TEST_P(Http2Ends, ADrainWaitsForTheRestOfAFrameWhileAHandlerIsAtWork) {
  const std::string window = frames::window_update(0, 1'000);
  const std::string block = frames::request_block("GET", "/");
  const std::pair<std::string, std::string> cuts[] = {
      {window.substr(0, 3), window.substr(3)},
      {window.substr(0, 11), window.substr(11)},
      {frames::headers(3, block, frames::end),
       frames::continuation(3, "", h2::frame_flags::end_headers)},
  };
  std::vector<Client> clients;
  for (const auto& [begun, rest] : cuts) {
    say(clients.emplace_back(greeted()), frames::get(1, "/after/1000") + begun);
  }
  Client idle = greeted();
  say(idle, window.substr(0, 3));
  (*worker()).begin_drain();
  worker().settle();
  worker().advance(200ms);
  heard(idle);
  EXPECT_TRUE(idle.is_closed()) << "nothing is lost with it";
  for (std::size_t i = 0; i < clients.size(); ++i) say(clients[i], cuts[i].second);
  worker().advance(1s);
  for (Client& client : clients) {
    const std::string all = heard(client);
    EXPECT_NE(all.find("HEADERS(1) DATA(1)!"), all.npos) << all;
    EXPECT_TRUE(client.is_closed());
  }
  EXPECT_EQ(worker().counters().handlers_cancelled, 0U);
}

TEST_P(Http2Ends, AnOldConnectionIsToldToGo) {
  Client client = greeted();
  for (int minutes = 0; minutes < 70; ++minutes) {
    const auto id = static_cast<std::uint32_t>(2 * minutes + 1);
    const std::string heard = say(client, frames::get(id));
    if (heard.find("GOAWAY(2147483647,NO_ERROR)") != heard.npos) {
      EXPECT_GE(minutes, 53);
      return;
    }
    worker().advance(59s);
  }
  FAIL() << "the connection is older than the maximum age plus a tenth";
}

TEST_P(Http2Ends, AFinFinishesWhatIsWholeAndDropsWhatIsCut) {
  Client client = greeted();
  say(client, frames::get(1, "/after/10") +
                  frames::headers(3, frames::request_block("POST", "/read-later"), frames::open));
  client.end();
  worker().settle();
  EXPECT_EQ(heard(client), "RST_STREAM(3,CANCEL)");
  worker().advance(20ms);
  EXPECT_EQ(heard(client), "HEADERS(1) DATA(1)!");
  EXPECT_TRUE(client.is_closed());
  EXPECT_EQ(worker().counters().handlers_cancelled, 1U);
}

INSTANTIATE_TEST_SUITE_P(Backends, Http2Ends, ::testing::ValuesIn(testing::backends()),
                         testing::backend_name);

}  // namespace
}  // namespace skua
