// SPDX-License-Identifier: MIT
// Limits on the cost of one HTTP/2 peer, or of all together: time for a head, concurrent streams,
// memory for incomplete content.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "server/http2_worker.hpp"
#include "skua.hpp"
#include "support/allocations.hpp"

namespace skua {
namespace {

namespace frames = h2::frames;
using testing::Client;
using testing::get;
using testing::Transport;

class Http2Limits : public testing::Http2Worker {
 protected:
  static std::string post(std::uint32_t id, std::string_view path = "/echo") {
    return frames::headers(id, frames::request_block("POST", path), frames::open);
  }
  /// Like `say()`, but in pieces that fit into a socket buffer.
  std::string deliver(Client& client, std::string_view bytes) {
    std::string heard;
    for (; !bytes.empty(); bytes.remove_prefix(std::min<std::size_t>(bytes.size(), 32'000))) {
      heard += say(client, bytes.substr(0, 32'000)) + " ";
    }
    return heard;
  }
  /// Returns content of a stream in DATA frames.
  static std::string content(std::uint32_t id, std::size_t bytes, char what = 'x') {
    std::string text;
    for (; bytes > 16'000; bytes -= 16'000) text += frames::data(id, std::string(16'000, what));
    return text + frames::data(id, std::string(bytes, what));
  }
};

// Time --------------------------------------------------------------------------------------------

TEST_P(Http2Limits, AHeadHasItsTimeHoweverItIsDripped) {
  const std::string block = frames::request_block("GET", "/");
  const std::string unknown = frames::frame(h2::FrameType{0xfa}, 0, 0, std::string(100, '?'));
  const std::vector<std::string> beginnings{
      frames::headers(1, block, frames::end),         // END_HEADERS is missing
      frames::headers(1, block).substr(0, 5),         // incomplete frame header
      frames::headers(1, block).substr(0, 12),        // incomplete payload
      unknown.substr(0, 12),                          // a frame of unknown type
      frames::settings({{3, 100}}).substr(0, 10),     // a frame on stream 0
      frames::get(1) + frames::get(3).substr(0, 20),  // after an answered request
  };
  for (const std::string& beginning : beginnings) {
    Client client = greeted();
    say(client, beginning);
    worker().advance(9s);
    EXPECT_EQ(heard(client), "") << beginning.size();
    worker().advance(2s);
    const std::string last = heard(client);
    EXPECT_NE(last.find("GOAWAY"), last.npos) << beginning.size() << last;
    EXPECT_TRUE(client.is_closed()) << beginning.size();
  }
  EXPECT_EQ(worker().counters().refused_slow, beginnings.size());
}

TEST_P(Http2Limits, AHeadInManyFramesHasNoMoreTime) {
  Client client = greeted();
  say(client, frames::headers(1, frames::request_block("GET", "/"), frames::end));
  worker().advance(7s);
  EXPECT_EQ(say(client, frames::continuation(1, "", 0)), "");
  worker().advance(4s);
  const std::string last = heard(client);
  EXPECT_NE(last.find("GOAWAY"), last.npos) << last;
}

TEST_P(Http2Limits, ContentHasTimesOfItsOwn) {
  Client client = greeted();
  say(client, post(1) + frames::data(1, "content", frames::end).substr(0, 12));
  worker().advance(20s);
  EXPECT_EQ(heard(client), "");
  worker().advance(11s);
  EXPECT_EQ(heard(client), "HEADERS(1) DATA(1)!") << "408";
}

// Streams -----------------------------------------------------------------------------------------

TEST_P(Http2Limits, OneStreamTooManyIsRefusedAndTheOthersGoOn) {
  Client client = greeted();
  std::string requests;
  for (std::uint32_t i = 0; i < 100; ++i) requests += frames::get(2 * i + 1, "/after/1000");
  EXPECT_EQ(say(client, requests + frames::get(201)), "RST_STREAM(201,REFUSED_STREAM)");
  worker().advance(1s);
  const std::string answers = heard(client);
  EXPECT_NE(answers.find("DATA(199)!"), answers.npos) << answers;
  EXPECT_EQ(say(client, frames::get(203)), "HEADERS(203) DATA(203)!");
}

// Memory ------------------------------------------------------------------------------------------

TEST_P(Http2Limits, BodiesThatAreKeptWaitForEachOther) {
  options_.limits.connection_body_bytes = 100'000;
  Client client = greeted();
  constexpr std::size_t window = 64'000;  // out of 65,536
  std::string begun;
  for (std::uint32_t id = 1; id <= 9; id += 2) begun += post(id) + content(id, window);
  const std::string opened = deliver(client, begun);
  EXPECT_NE(opened.find("WINDOW_UPDATE(1)"), opened.npos) << opened << ": the oldest continues";
  EXPECT_EQ(opened.find("WINDOW_UPDATE(9)"), opened.npos) << opened << ": the others wait";
  for (int i = 0; i < 3; ++i) {
    const std::string more = deliver(client, content(1, window));
    EXPECT_NE(more.find("WINDOW_UPDATE(1)"), more.npos) << more;
  }
  worker().advance(25s);
  EXPECT_EQ(say(client, content(1, 1000)), "");
  worker().advance(25s);
  EXPECT_EQ(heard(client), "HEADERS(3) DATA(3)!") << "408; waiting for a window is not late";
  const std::string done = say(client, frames::data(1, "", frames::end));
  EXPECT_NE(done.find("HEADERS(1)"), done.npos) << done;
  EXPECT_NE(done.find("WINDOW_UPDATE(5)"), done.npos) << done << ": the next";
}

TEST_P(Http2Limits, ManyBodiesThatTogetherAreTooMuchAllArrive) {
  options_.limits.connection_body_bytes = 50'000;
  Client client = worker().connect(Transport::H2);
  std::string requests;
  for (int i = 0; i < 8; ++i) {
    requests += "POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 20000\r\n\r\n";
    requests.append(20'000, static_cast<char>('a' + i));
  }
  client.send(requests);
  for (int i = 0; i < 8; ++i) {
    worker().turn_until_readable(client);
    const auto answer = client.answer();
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->status, 200);
    EXPECT_EQ(answer->body, std::string(20'000, static_cast<char>('a' + i)));
  }
}

TEST_P(Http2Limits, AServerThatKeepsTooMuchSaysThatItIsBusy) {
  options_.limits.body_bytes = 200'000;
  options_.limits.server_body_bytes = 400'000;  // a quarter is reserved for small bodies
  std::vector<Client> clients;
  std::vector<std::string> heard;
  for (int i = 0; i < 4; ++i) {
    Client& client = clients.emplace_back(greeted());
    heard.push_back(deliver(client, post(1) + content(1, 64'000)));
    heard.back() += deliver(client, content(1, 64'000));
  }
  EXPECT_EQ(heard[1].find("HEADERS"), heard[1].npos) << heard[1];
  EXPECT_NE(heard[2].find("HEADERS(1) DATA(1)!"), heard[2].npos) << "503 " << heard[2];
  Client small = greeted();
  EXPECT_EQ(say(small, post(1) + frames::data(1, "small", frames::end)), "HEADERS(1) DATA(1)!");
  EXPECT_EQ(worker().counters().refused_overloaded, 2U);
  clients.clear();
  worker().settle();
  Client later = worker().connect(Transport::H2);
  const std::string whole = "POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 200000\r\n\r\n";
  EXPECT_EQ(worker().ask(later, whole + std::string(200'000, 'x'))->status, 200);
}

// Heads -------------------------------------------------------------------------------------------

/// Requests whose fields are references to one long field: 60 KB each, by 200 bytes.
class Http2Heads : public Http2Limits {
 protected:
  static constexpr std::size_t long_bytes = 3'900;
  static constexpr std::size_t references = 15;

  static std::string bomb(std::uint32_t count, std::string_view path) {
    const std::string first = frames::remembered("x-long", std::string(long_bytes, 'l'));
    std::string all;
    for (std::uint32_t i = 0; i < count; ++i) {
      std::string block = frames::request_block("GET", path);
      if (i == 0) block += first;
      for (std::size_t n = i == 0 ? 1 : 0; n < references; ++n) block += frames::indexed(62);
      all += frames::headers(2 * i + 1, block);
    }
    return all;
  }
  static std::int64_t live_bytes() { return testing::allocations().live_bytes; }
};

TEST_P(Http2Heads, AreReleasedOnceTheyAreAnswered) {
  router_.get("/small", [] { return "not sent, as the window is shut"; });
  router_.get("/waits", []() -> Task<std::string> {
    co_await sleep(Duration(0));
    co_return "not sent either";
  });
  router_.get("/stream", [] {
    return Response::stream("text/plain",
                            [](BodyWriter& out) -> Task<> { co_await out.write("short"); });
  });
  for (const std::string_view path : {"/small", "/missing", "/stream", "/waits"}) {
    options_.limits.connection_head_bytes = 100 * 64_KiB;
    Client client = connect();
    say(client, frames::hello({{4, 0}}));
    say(client, frames::get(1));  // everything that a first request needs
    const std::int64_t before = live_bytes();
    Client hostile = connect();
    say(hostile, frames::hello({{4, 0}}));
    const std::string heard = say(hostile, bomb(100, path));
    EXPECT_NE(heard.find("HEADERS(199)"), heard.npos) << path << heard;
    EXPECT_LT(live_bytes() - before, 1'500'000) << path << ": 100 streams, without their heads";
  }
}

TEST_P(Http2Heads, ThatWaitForHandlersHaveABudget) {
  Client client = greeted();
  const std::string heard = say(client, bomb(100, "/forever"));
  constexpr std::size_t of_one = references * (long_bytes + 6 + 64);
  EXPECT_LE(static_cast<std::size_t>(alive_) * of_one, options_.limits.connection_head_bytes);
  EXPECT_GE(static_cast<std::size_t>(alive_ + 2) * of_one, options_.limits.connection_head_bytes);
  EXPECT_NE(heard.find("DATA(199)!"), heard.npos) << "503 " << heard;
  EXPECT_EQ(heard.find("HEADERS(1)"), heard.npos) << heard;
  // Others are served, and what is released can be used again.
  Client other = greeted();
  EXPECT_EQ(say(other, frames::get(1)), "HEADERS(1) DATA(1)!");
  const int held = alive_;
  std::string resets;
  for (std::uint32_t id = 1; id < 200; id += 2) resets += frames::reset(id);
  say(client, resets);
  EXPECT_EQ(alive_, 0);
  const std::string block = frames::request_block("GET", "/forever");
  std::uint32_t next = 201;
  for (int i = 0; i < held; ++i, next += 2) {
    say(client, frames::headers(next, block + frames::indexed(62)));
  }
  EXPECT_EQ(alive_, held);
}

TEST_P(Http2Heads, OfAllConnectionsHaveABudget) {
  options_.limits.server_head_bytes = 2 * 900_KiB;
  std::vector<Client> clients;
  for (int i = 0; i < 4; ++i) say(clients.emplace_back(greeted()), bomb(100, "/forever"));
  constexpr std::size_t of_one = references * (long_bytes + 6 + 64);
  const std::size_t most = options_.limits.server_head_bytes + 4 * options_.limits.head_bytes;
  EXPECT_LE(static_cast<std::size_t>(alive_) * of_one, most);
  EXPECT_GE(static_cast<std::size_t>(alive_ + 8) * of_one, most);
  clients.clear();
  worker().settle();
  worker().advance(options_.timeouts.half_closed + 1s);
  worker().turn_until([&] { return alive_ == 0; });
  Client later = greeted();
  say(later, bomb(10, "/forever"));
  EXPECT_EQ(alive_, 10);
}

TEST_P(Http2Heads, OfTrailersCount) {
  options_.limits.connection_head_bytes = 64_KiB;
  router_.post("/never", [this](Request& request) -> Task<std::string> {
    const Held held(alive_);
    const std::string_view all = co_await request.load();
    static_cast<void>(all);
    co_await sleep(1h);
    co_return "";
  });
  Client client = greeted();
  std::string all;
  for (std::uint32_t id = 1; id < 40; id += 2) {
    all +=
        post(id, "/never") + frames::headers(id, frames::field("x-sum", std::string(7'000, 's')));
  }
  const std::string heard = deliver(client, all);
  EXPECT_LT(alive_, 10) << heard;
  EXPECT_GT(alive_, 5) << heard;
}

INSTANTIATE_TEST_SUITE_P(Backends, Http2Heads, ::testing::ValuesIn(testing::backends()),
                         testing::backend_name);

INSTANTIATE_TEST_SUITE_P(Backends, Http2Limits, ::testing::ValuesIn(testing::backends()),
                         testing::backend_name);

// The budget over HTTP/1 -------------------------------------------------------------------------

class BodyBudget : public ::testing::TestWithParam<std::string_view> {};

TEST_P(BodyBudget, HoldsForAllConnectionsOfAServer) {
  Router router;
  router.post("/plain",
              [](const Request& request) { return std::to_string(request.body().size()); });
  router.post("/loads", [](Request& request) -> Task<std::string> {
    co_return std::to_string((co_await request.load()).size());
  });
  ServerOptions options;
  options.limits.body_bytes = 200'000;
  options.limits.server_body_bytes = 460'000;
  testing::TestWorker worker(router, BackendChoice::Poll, options, Transport::Tcp);
  const std::string post =
      std::string("POST ").append(GetParam()).append(" HTTP/1.1\r\nHost: t\r\nContent-Length: ");
  const std::string head = post + "200000\r\n\r\n";
  std::vector<Client> clients;
  int refused = 0;
  for (int i = 0; i < 4; ++i) {
    Client& client = clients.emplace_back(worker.connect());
    for (const std::string& piece : {head, std::string(60'000, 'x'), std::string(60'000, 'x')}) {
      client.send(piece);
      for (int turn = 0; turn < 4; ++turn) worker.settle();
    }
    if (!testing::TestWorker::is_readable(client)) continue;
    EXPECT_EQ(client.answer()->status, 503);
    ++refused;
  }
  EXPECT_EQ(refused, 2);
  Client small = worker.connect();
  small.send(post + "5\r\n\r\n");
  worker.settle();
  EXPECT_EQ(worker.ask(small, "small")->body, "5");
  clients.front().send(std::string(80'000, 'x'));
  worker.turn_until_readable(clients.front());
  EXPECT_EQ(clients.front().answer()->body, "200000");
  clients.clear();
  worker.settle();
  Client later = worker.connect();
  for (const std::string& piece : {head, std::string(100'000, 'x'), std::string(100'000, 'x')}) {
    later.send(piece);
    for (int turn = 0; turn < 4; ++turn) worker.settle();
  }
  EXPECT_EQ(later.answer()->body, "200000");
}

INSTANTIATE_TEST_SUITE_P(Handlers, BodyBudget, ::testing::Values("/plain", "/loads"),
                         [](const auto& handler) { return std::string(handler.param.substr(1)); });

}  // namespace
}  // namespace skua
