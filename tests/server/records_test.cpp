// SPDX-License-Identifier: MIT
// The records that the on_response hook receives: the request, and what was actually sent, which is
// less than planned if a peer leaves. On every back end, over every transport.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "server/record_keeper.hpp"
#include "skua.hpp"
#include "support/temporary_directory.hpp"
#include "support/test_server.hpp"
#include "support/test_worker.hpp"

namespace skua {
namespace {

using testing::Answer;
using testing::Client;
using testing::get;
using testing::KeptRecord;
using testing::RecordKeeper;
using testing::TestServer;
using testing::TestWorker;
using testing::Transport;

constexpr std::size_t big_bytes = 16'000'000;

/// A server that records its responses in order. Some are larger than the socket buffers.
class Records {
 protected:
  Records() {
    router_.get("/", [] { return "hello"; });
    files_.write("big", std::string(big_bytes, 'f'));
    router_.get("/text", [] { return std::string(big_bytes, 't'); });
    router_.get("/prepared", PreparedResponse(Response(std::string(big_bytes, 'p'))));
    router_.get("/file", [this] { return Response::file((files_ / "big").string()); });
    router_.get("/waits", []() -> Task<std::string> {
      co_await sleep(1ms);
      co_return std::string(big_bytes, 'w');
    });
    const auto produce = [](BodyWriter& out) -> Task<> {
      for (std::size_t i = 0; i < big_bytes / 10'000; ++i) {
        co_await out.write(std::string(10'000, 's'));
      }
    };
    router_.get("/chunks", [produce] { return Response::stream("text/plain", produce); });
    router_.get("/sized", [produce] { return Response::stream("text/plain", produce, big_bytes); });
  }
  ~Records() = default;

  static constexpr std::string_view big_paths[] = {"/text",  "/prepared", "/file",
                                                   "/waits", "/chunks",   "/sized"};

  support::TemporaryDirectory files_;
  Router router_;
  ServerOptions options_;
  RecordKeeper records_{options_};
};

class RecordsOfServer : public Records, public ::testing::TestWithParam<BackendChoice> {};

TEST_P(RecordsOfServer, TellOfTheRequest) {
  Router users;
  users.use(request_id());
  users.get("/{id}", [](int id) { return std::to_string(id); });
  users.get("/{id}/later", [](int id) -> Task<std::string> {
    co_await sleep(1ms);
    co_return std::to_string(id);
  });
  router_.mount("/users", std::move(users));
  TestServer server(router_, GetParam(), options_);
  Client client = server.connect();
  std::vector<std::string> ids;
  for (const std::string_view path : {"/users/17?x=y", "/users/18/later"}) {
    client.send(get(path));
    const std::optional<Answer> answer = client.answer();
    ASSERT_TRUE(answer);
    ids.emplace_back(answer->field("X-Request-Id").value_or("none"));
  }
  client.send(get("/nowhere"));
  client.answer();
  const std::vector<KeptRecord> all = records_.await(3);
  EXPECT_EQ(all[0].target, "/users/17?x=y");
  EXPECT_EQ(all[0].route, "/users/{id}");
  EXPECT_EQ(all[0].request_id, ids[0]);
  EXPECT_EQ(all[1].route, "/users/{id}/later");
  EXPECT_EQ(all[1].request_id, ids[1]);
  EXPECT_GE(all[1].duration, 1ms);
  EXPECT_EQ(all[2].route, "");
  EXPECT_EQ(all[2].request_id, "");
  for (const KeptRecord& one : all) {
    EXPECT_FALSE(one.is_cut) << one.target;
    EXPECT_GT(one.head_bytes, one.target.size());
    EXPECT_GE(one.duration, Duration::zero());
  }
  EXPECT_EQ(all[0].body_bytes, 2U);
  if (!testing::speaks_http2()) {
    EXPECT_EQ(all[0].head_bytes, get("/users/17?x=y").size());
  }
}

TEST_P(RecordsOfServer, OfAWholeResponseCountAllOfIt) {
  TestServer server(router_, GetParam(), options_);
  Client client = server.connect();
  std::size_t count = 0;
  for (const std::string_view path : big_paths) {
    client.send(get(path));
    ASSERT_EQ(client.answer()->body.size(), big_bytes);
    const KeptRecord last = records_.await(++count).back();
    EXPECT_EQ(last.target, path);
    EXPECT_EQ(last.body_bytes, big_bytes) << path;
    EXPECT_FALSE(last.is_cut) << path;
  }
}

TEST_P(RecordsOfServer, OfACutResponseCountWhatWasSent) {
  TestServer server(router_, GetParam(), options_);
  std::size_t count = 0;
  for (const std::string_view path : big_paths) {
    Client client = server.connect();
    client.send(get(path));
    std::size_t seen_bytes = 0;
    while (seen_bytes < 100'000) seen_bytes += client.some().size();
    client.reset();
    const KeptRecord last = records_.await(++count).back();
    EXPECT_EQ(last.target, path);
    EXPECT_TRUE(last.is_cut) << path;
    EXPECT_EQ(last.end, ResponseEnd::PeerLeft) << path;
    EXPECT_GT(last.body_bytes, 50'000U) << path;
    EXPECT_LT(last.body_bytes, big_bytes) << path;
  }
}

TEST_P(RecordsOfServer, OfAStreamThatFailsSayThatItIsCut) {
  router_.get("/breaks", [] {
    return Response::stream("text/plain", [](BodyWriter& out) -> Task<> {
      co_await out.write("some");
      throw std::runtime_error("no more");
    });
  });
  TestServer server(router_, GetParam(), options_);
  Client client = server.connect();
  client.send(get("/breaks"));
  EXPECT_FALSE(client.answer());
  const KeptRecord one = records_.await(1)[0];
  EXPECT_TRUE(one.is_cut);
  EXPECT_EQ(one.end, ResponseEnd::Failed);
  EXPECT_EQ(one.body_bytes, 4U);
}

TEST_P(RecordsOfServer, TellOfTheConnection) {
  TestServer server(router_, GetParam(), options_);
  Client client = server.connect();
  Client other = server.connect();
  const auto before = std::chrono::system_clock::now() - 1s;
  for (Client* const one : {&client, &other, &client}) {
    one->send(get("/"));
    one->answer();
  }
  const std::vector<KeptRecord> all = records_.await(3);
  EXPECT_NE(all[0].connection_id, 0U);
  EXPECT_EQ(all[0].connection_id, all[2].connection_id);
  EXPECT_NE(all[0].connection_id, all[1].connection_id);
  for (const KeptRecord& one : all) {
    EXPECT_GT(one.start, before);
    EXPECT_LT(one.start, before + 60s);
    EXPECT_LE(one.first_byte, one.duration);
    EXPECT_EQ(one.cipher.empty(), !testing::is_secure(testing::transport()));
  }
}

TEST_P(RecordsOfServer, CountTheContentOfTheRequest) {
  router_.post("/plain", [](const Request& request) { return std::string(request.body()); });
  router_.post("/reads",
               [](Request& request) -> Task<std::string> { co_return co_await request.text(); });
  TestServer server(router_, GetParam(), options_);
  Client client = server.connect();
  std::size_t count = 0;
  for (const std::string_view path : {"/plain", "/reads"}) {
    for (const std::size_t size : {std::size_t{5}, std::size_t{300'000}}) {
      client.send("POST " + std::string(path) + " HTTP/1.1\r\nHost: t\r\nContent-Length: " +
                  std::to_string(size) + "\r\n\r\n" + std::string(size, 'x'));
      ASSERT_EQ(client.answer()->body.size(), size);
      const KeptRecord last = records_.await(++count).back();
      EXPECT_EQ(last.received_bytes, last.head_bytes + size) << path;
      EXPECT_EQ(last.body_bytes, size) << path;
      EXPECT_GT(last.sent_bytes, size) << path;
      EXPECT_LT(last.sent_bytes, size + 1000) << path;
    }
  }
}

TEST_P(RecordsOfServer, SayThatTheServerWasStopped) {
  TestServer server(router_, GetParam(), options_);
  Client client = server.connect();
  client.send(get("/text"));
  ASSERT_FALSE(client.some().empty());
  server->cancel();
  server->wait();
  ASSERT_EQ(records_.all().size(), 1U);
  EXPECT_EQ(records_.all()[0].end, ResponseEnd::Stopped);
  EXPECT_TRUE(records_.all()[0].is_cut);
}

TEST_P(RecordsOfServer, CountNoContentWhereNoneIsSent) {
  router_.get("/empty", [] {
    Response response = std::string("not sent");
    response.status(Status::NoContent);
    return response;
  });
  TestServer server(router_, GetParam(), options_);
  Client client = server.connect();
  client.send("HEAD / HTTP/1.1\r\nHost: t\r\n\r\n");
  client.answer(true);
  client.send("HEAD /chunks HTTP/1.1\r\nHost: t\r\n\r\n");
  client.answer(true);
  client.send(get("/empty"));
  client.answer();
  for (const KeptRecord& one : records_.await(3)) {
    EXPECT_EQ(one.body_bytes, 0U) << one.target;
    EXPECT_FALSE(one.is_cut) << one.target;
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, RecordsOfServer, ::testing::ValuesIn(testing::backends()),
                         testing::backend_name);

// Uses clear text, so that each byte can be counted.
class RecordsOfWorker : public Records, public ::testing::TestWithParam<BackendChoice> {
 protected:
  TestWorker& worker() {
    if (!worker_) worker_.emplace(router_, GetParam(), options_, Transport::Tcp);
    return *worker_;
  }

 private:
  std::optional<TestWorker> worker_;
};

TEST_P(RecordsOfWorker, AreMadeWhenTheResponseIsSentAndNotBefore) {
  Client client = worker().connect();
  client.send(get("/text"));
  worker().settle();
  worker().advance(3s);
  EXPECT_TRUE(records_.all().empty());
  std::size_t seen_bytes = 0;
  while (records_.all().empty() && seen_bytes < big_bytes) {
    seen_bytes += client.take_received().size();
    worker().settle();
  }
  EXPECT_GT(seen_bytes, big_bytes / 2);
  ASSERT_EQ(records_.all().size(), 1U);
  EXPECT_EQ(records_.all()[0].first_byte, Duration::zero());
  EXPECT_EQ(records_.all()[0].duration, Duration(3s));
  EXPECT_FALSE(records_.all()[0].is_cut);
}

TEST_P(RecordsOfWorker, CountEachByteOfAResponse) {
  for (const std::string_view path : {"/", "/none"}) {
    Client client = worker().connect();
    client.send(get(path) + get(path));
    worker().settle();
    const std::string got = client.take_received();
    ASSERT_FALSE(records_.all().empty());
    EXPECT_EQ(records_.all().back().sent_bytes * 2, got.size()) << path;
  }
  Client client = worker().connect();
  client.send("POST / HTTP/1.1\r\nHost: t\r\nContent-Length: 1x\r\n\r\n");
  worker().settle();
  EXPECT_EQ(records_.all().back().status, Status::BadRequest);
  EXPECT_EQ(records_.all().back().sent_bytes, client.take_received().size());
}

TEST_P(RecordsOfWorker, SayThatThePeerTookNothing) {
  for (const std::string_view path : {"/text", "/chunks"}) {
    Client client = worker().connect();
    client.send(get(path));
    worker().settle();
    const std::size_t count = records_.all().size();
    worker().advance(31s);
    worker().settle();
    ASSERT_EQ(records_.all().size(), count + 1) << path;
    EXPECT_EQ(records_.all().back().end, ResponseEnd::TimedOut) << path;
    EXPECT_TRUE(records_.all().back().is_cut) << path;
  }
}

TEST_P(RecordsOfWorker, CountEachByteOfACutResponse) {
  for (const std::string_view path : big_paths) {
    Client client = worker().connect();
    client.send(get(path));
    worker().settle();
    worker().advance(2ms);
    const std::string got = client.take_received();
    client.reset();
    worker().settle();
    ASSERT_FALSE(records_.all().empty()) << path;
    const KeptRecord last = records_.all().back();
    EXPECT_EQ(last.target, path);
    EXPECT_TRUE(last.is_cut) << path;
    const auto letter = path == "/chunks" || path == "/sized" ? 's' : path[1];
    const std::size_t head_end = got.find("\r\n\r\n") + 4;
    EXPECT_EQ(last.body_bytes,
              static_cast<std::uint64_t>(std::count(
                  got.begin() + static_cast<std::ptrdiff_t>(head_end), got.end(), letter)))
        << path;
  }
}

TEST_P(RecordsOfWorker, OfPipelinedRequestsAreEachTheirOwn) {
  Client client = worker().connect();
  client.send(get("/") + get("/text") + get("/"));
  worker().settle();
  ASSERT_EQ(records_.all().size(), 1U);
  EXPECT_EQ(records_.all()[0].body_bytes, 5U);
  client.reset();
  worker().settle();
  ASSERT_EQ(records_.all().size(), 2U) << "the last was not answered: the output was full";
  EXPECT_TRUE(records_.all()[1].is_cut);

  Client other = worker().connect();
  other.send(get("/") + get("/") + get("/"));
  worker().settle();
  EXPECT_EQ(records_.all().size(), 5U);
  EXPECT_FALSE(records_.all()[4].is_cut);
}

TEST_P(RecordsOfWorker, OfARefusedRequestSayHowLongItTook) {
  router_.post("/upload", [](const Request&) { return "plain"; });
  Client client = worker().connect();
  client.send("POST /upload HTTP/1.1\r\nHost: t\r\nContent-Length: 5\r\n\r\nab");
  worker().settle();
  worker().advance(31s);
  ASSERT_EQ(records_.all().size(), 1U);
  EXPECT_EQ(records_.all()[0].status, Status::RequestTimeout);
  EXPECT_EQ(records_.all()[0].duration, Duration(31s));
}

TEST_P(RecordsOfWorker, OfAWebSocketAreMadeWhenItOpens) {
  router_.websocket("/socket", [](WebSocket& socket) -> Task<> {
    while (auto message = co_await socket.receive()) static_cast<void>(message);
  });
  Client client = worker().connect();
  client.send(get("/socket",
                  "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
                  "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"));
  worker().settle();
  ASSERT_EQ(records_.all().size(), 1U);
  EXPECT_EQ(records_.all()[0].status, Status::SwitchingProtocols);
  EXPECT_EQ(records_.all()[0].route, "/socket");
  client.reset();
  worker().settle();
  EXPECT_EQ(records_.all().size(), 1U);
}

INSTANTIATE_TEST_SUITE_P(Backends, RecordsOfWorker, ::testing::ValuesIn(testing::backends()),
                         testing::backend_name);

}  // namespace
}  // namespace skua
