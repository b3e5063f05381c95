// SPDX-License-Identifier: MIT
// Guards that run before the content, and the release of what they hold: ways to end x handlers.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "skua.hpp"
#include "support/h2_frames.hpp"
#include "support/temporary_directory.hpp"
#include "support/test_worker.hpp"
#include "support/websocket_client.hpp"

namespace skua {
namespace {

using testing::Client;
using testing::get;
using testing::TestWorker;
using testing::WebSocketClient;

struct Calls {
  int guards = 0;
  int finishers = 0;
  int held = 0;  ///< objects that guards took and that were not released
};

/// Lets in requests with X-Let-Me-In, and holds an object as long as the request lasts.
class Door {
 public:
  explicit Door(Calls& calls) noexcept : calls_(&calls) {}
  std::optional<Response> guard(Request& request) const {
    ++calls_->guards;
    if (!request.header("X-Let-Me-In")) return Status::Unauthorized;
    request.attachments().set(std::shared_ptr<int>(&++calls_->held, [](int* held) { --*held; }));
    return std::nullopt;
  }
  void finish(const Request&, Response&) const { ++calls_->finishers; }

 private:
  Calls* calls_;
};

class GuardedServer : public ::testing::TestWithParam<BackendChoice> {
 protected:
  GuardedServer() {
    Router inner;
    inner.use(Door(calls_));
    inner.post("/plain", [](const Request& request) { return std::string(request.body()); });
    inner.post("/reads", [](Request& request) -> Task<std::string> { return request.text(); });
    inner.post("/throws", [](const Request&) -> Response { throw std::runtime_error("oops"); });
    inner.get("/waits", []() -> Task<std::string> {
      co_await sleep(1h);
      co_return "late";
    });
    inner.get("/stream", [] { return Response::stream("text/plain", tick); });
    inner.get("/stream-later", []() -> Task<Response> {
      co_await yield();
      co_return Response::stream("text/plain", tick);
    });
    inner.websocket("/socket", [](WebSocket& socket) -> Task<> {
      while (co_await socket.receive()) {
      }
    });
    inner.websocket("/calls", WebSocketCallbacks{});
    router_.mount("/in", std::move(inner));
    router_.any("/{path...}", [] { return "leaked"; });
  }

  static Task<> tick(BodyWriter& out) {
    co_await out.write("tick");
    co_await sleep(1s);
    co_await out.write("tock");
  }

  TestWorker& worker() {
    if (worker_ == nullptr) worker_ = std::make_unique<TestWorker>(router_, GetParam(), options_);
    return *worker_;
  }
  Client connect() { return worker().connect(); }
  void send(Client& client, std::string_view bytes) {
    client.send(bytes);
    while (worker().counters().bytes_received < client.sent_bytes()) (*worker()).run_once(10ms);
    worker().settle();
  }
  // Advances time until nothing is held, for an hour at most.
  void wait_for_release() {
    for (int i = 0; i < 3600 && calls_.held != 0; ++i) worker().advance(1s);
  }

  Calls calls_;
  Router router_;
  ServerOptions options_;
  std::unique_ptr<TestWorker> worker_;
};

std::string head(std::string_view method, std::string_view path, std::string_view fields) {
  return std::string(method)
      .append(" ")
      .append(path)
      .append(" HTTP/1.1\r\nHost: a\r\n")
      .append(fields)
      .append("\r\n");
}

// No content is requested, awaited or kept, with any kind of handler or none.
TEST_P(GuardedServer, RefusesUploadsAtTheirHead) {
  const std::vector<std::string> framings = {"Content-Length: 10000000\r\n",
                                             "Content-Length: 100\r\n",
                                             "Content-Length: 100000000000\r\n",
                                             "Content-Length: 10000000\r\nExpect: 100-continue\r\n",
                                             "Content-Length: 100\r\nExpect: 100-continue\r\n",
                                             "Transfer-Encoding: chunked\r\n"};
  for (const std::string path : {"/in/plain", "/in/reads", "/in/nowhere", "/in/waits", "/in"}) {
    for (const std::string method : {"POST", "PUT", "DELETE"}) {
      for (const std::string& framing : framings) {
        SCOPED_TRACE(std::string(method).append(" ").append(path).append(": ").append(framing));
        const Calls before = calls_;
        Client client = connect();
        send(client, head(method, path, framing));
        worker().turn_until_readable(client);
        const auto answer = client.answer();
        ASSERT_TRUE(answer);
        EXPECT_EQ(answer->status, 401);
        EXPECT_EQ(calls_.guards, before.guards + 1);
        EXPECT_EQ(calls_.finishers, before.finishers + 1);
      }
    }
  }
}

TEST_P(GuardedServer, AskForContentOnceItIsLetIn) {
  for (const std::string path : {"/in/plain", "/in/reads"}) {
    SCOPED_TRACE(path);
    const Calls before = calls_;
    Client client = connect();
    send(client, head("POST", path,
                      "X-Let-Me-In: please\r\nContent-Length: 7\r\nExpect: 100-continue\r\n"));
    worker().turn_until_readable(client);
    EXPECT_EQ(client.answer()->status, 100);
    EXPECT_EQ(calls_.guards, before.guards + 1);
    EXPECT_EQ(calls_.finishers, before.finishers);
    EXPECT_EQ(calls_.held, 1);
    send(client, "content");
    worker().turn_until_readable(client);
    EXPECT_EQ(client.answer()->body, "content");
    EXPECT_EQ(calls_.guards, before.guards + 1);
    EXPECT_EQ(calls_.finishers, before.finishers + 1);
    wait_for_release();
    EXPECT_EQ(calls_.held, 0);
  }
}

// A connection continues after refused content if the rest of the content is short.
TEST_P(GuardedServer, ReadsPastShortContentThatWasRefused) {
  Client client = connect();
  send(client, head("POST", "/in/plain", "Content-Length: 7\r\n"));
  worker().turn_until_readable(client);
  EXPECT_EQ(client.answer()->status, 401);
  send(client, std::string("content") +
                   head("POST", "/in/plain", "X-Let-Me-In: please\r\nContent-Length: 2\r\n") +
                   "hi");
  worker().turn_until_readable(client);
  EXPECT_EQ(client.answer()->body, "hi");
}

// How a request can end --------------------------------------------------------------------------

struct Way {
  std::string_view name;
  std::string_view path;
  bool is_upload;  ///< half of its content is sent
  enum class Then : unsigned char { Whole, Gone, End, BadChunk, Timeout, TooLong } then;
  int finishers;  ///< expected runs: one for each response
  bool is_http1_only = false;
};

constexpr Way ways[] = {
    {"a whole upload", "/in/plain", true, Way::Then::Whole, 1},
    {"a whole upload, read", "/in/reads", true, Way::Then::Whole, 1},
    {"a handler that throws", "/in/throws", true, Way::Then::Whole, 1},
    {"an upload whose client goes", "/in/plain", true, Way::Then::Gone, 1},
    {"an upload whose client goes, read", "/in/reads", true, Way::Then::Gone, 1},
    {"an upload that ends early", "/in/plain", true, Way::Then::End, 1},
    {"an upload that ends early, read", "/in/reads", true, Way::Then::End, 1},
    {"a bad chunk", "/in/plain", true, Way::Then::BadChunk, 1, true},
    {"a bad chunk, read", "/in/reads", true, Way::Then::BadChunk, 1, true},
    {"an upload that stalls", "/in/plain", true, Way::Then::Timeout, 1},
    {"an upload that stalls, read", "/in/reads", true, Way::Then::Timeout, 1},
    {"too much content", "/in/plain", true, Way::Then::TooLong, 1},
    {"too much content, read", "/in/reads", true, Way::Then::TooLong, 1},
    {"a handler whose client goes", "/in/waits", false, Way::Then::Gone, 0},
    {"a stream", "/in/stream", false, Way::Then::Whole, 1},
    {"a stream of a coroutine", "/in/stream-later", false, Way::Then::Whole, 1},
    {"a stream whose client goes", "/in/stream", false, Way::Then::Gone, 1},
    {"a stream of a coroutine whose client goes", "/in/stream-later", false, Way::Then::Gone, 1},
};

// A client that leaves in the middle of its content looks like one that has closed its side, and
// gets a response, if nothing but the end of the connection tells of it.
int expected_finishers(const Way& way) {
  if (!way.is_upload) return way.finishers;
  if (way.then == Way::Then::Gone && testing::is_secure()) return 0;
  const bool is_cut = way.then == Way::Then::Gone || way.then == Way::Then::End;
  return is_cut && testing::speaks_http2() ? 0 : way.finishers;
}

std::string first_part(const Way& way) {
  constexpr std::string_view door = "X-Let-Me-In: please\r\n";
  if (!way.is_upload) return get(way.path, door);
  const std::string fields = std::string(door).append("Transfer-Encoding: chunked\r\n");
  return head("POST", way.path, fields) + "4\r\nhalf\r\n";
}

TEST_P(GuardedServer, GiveBackWhatTheyTookHoweverARequestEnds) {
  options_.limits.body_bytes = options_.limits.streamed_body_bytes = 64;
  for (const Way& way : ways) {
    if (way.is_http1_only && testing::speaks_http2()) continue;
    SCOPED_TRACE(way.name);
    const Calls before = calls_;
    {
      Client client = connect();
      send(client, first_part(way));
      worker().settle();
      EXPECT_EQ(calls_.guards, before.guards + 1);
      EXPECT_EQ(calls_.held, 1);
      switch (way.then) {
        case Way::Then::Whole:
          if (way.is_upload) send(client, "0\r\n\r\n");
          worker().advance(2s);
          worker().turn_until_readable(client);
          EXPECT_TRUE(client.answer());
          break;
        case Way::Then::Gone: break;
        case Way::Then::End: client.end(); break;
        case Way::Then::BadChunk: send(client, "zz\r\n"); break;
        case Way::Then::Timeout: worker().advance(1h); break;
        case Way::Then::TooLong: send(client, "64\r\n" + std::string(100, 'x') + "\r\n"); break;
      }
    }
    wait_for_release();
    EXPECT_EQ(calls_.held, 0);
    EXPECT_EQ(calls_.guards, before.guards + 1);
    EXPECT_EQ(calls_.finishers, before.finishers + expected_finishers(way));
  }
}

TEST_P(GuardedServer, HoldTheirPlaceForAsLongAsAStream) {
  for (const std::string path : {"/in/stream", "/in/stream-later"}) {
    Client client = connect();
    send(client, get(path, "X-Let-Me-In: please\r\n"));
    worker().advance(500ms);
    EXPECT_EQ(calls_.held, 1) << path;
    worker().advance(600ms);
    EXPECT_EQ(calls_.held, 0) << path;
  }
}

TEST_P(GuardedServer, HoldTheirPlaceForAsLongAsAWebSocket) {
  for (const std::string path : {"/in/socket", "/in/calls"}) {
    const Calls before = calls_;
    {
      WebSocketClient client(connect(), [this] { (*worker()).run_once(1ms); });
      const std::string opening = client.open(testing::handshake(path, "X-Let-Me-In: please\r\n"));
      EXPECT_EQ(opening.substr(9, 3), testing::opened()) << path;
      EXPECT_EQ(calls_.guards, before.guards + 1);
      EXPECT_EQ(calls_.finishers, before.finishers + 1);
      EXPECT_EQ(calls_.held, 1);
    }
    wait_for_release();
    EXPECT_EQ(calls_.held, 0);
    WebSocketClient stranger(connect(), [this] { (*worker()).run_once(1ms); });
    EXPECT_EQ(stranger.open(testing::handshake(path)).substr(9, 3), "401");
  }
}

TEST_P(GuardedServer, GiveBackWhatTheyTookWhenAStreamIsReset) {
  if (testing::transport() != testing::Transport::Tcp) GTEST_SKIP() << "frame by frame";
  namespace frames = h2::frames;
  for (const std::string path : {"/in/plain", "/in/reads"}) {
    const Calls before = calls_;
    Client client = worker().connect(testing::Transport::Tcp);
    const std::string fields = frames::request_block("POST", path, {{"x-let-me-in", "please"}});
    send(client,
         frames::hello() + frames::headers(1, fields, frames::open) + frames::data(1, "half"));
    EXPECT_EQ(calls_.held, 1);
    send(client, frames::reset(1));
    EXPECT_EQ(calls_.held, 0);
    EXPECT_EQ(calls_.guards, before.guards + 1);
    EXPECT_EQ(calls_.finishers, before.finishers);
  }
}

// Finishers --------------------------------------------------------------------------------------

class Finishers : public GuardedServer {};

TEST_P(Finishers, RunOnceEachAlsoWhereOneThrows) {
  std::string trace;
  router_.use([&](const Request&, Response& response) {
    trace += "1";
    response.header("First", "yes");
  });
  router_.use([&](const Request&, Response&) {
    trace += "2";
    throw std::runtime_error("oops");
  });
  router_.use([&](const Request&, Response& response) {
    trace += "3";
    response.header("Third", "yes");
  });
  router_.get("/plain", [] { return "plain"; });
  router_.get("/coroutine", []() -> Task<std::string> {
    co_await yield();
    co_return "coroutine";
  });
  router_.get("/throws", []() -> Response { throw HttpError(Status::NotFound); });
  Client client = connect();
  for (const std::string path : {"/plain", "/coroutine", "/throws"}) {
    trace.clear();
    const auto answer = worker().ask(client, get(path));
    ASSERT_TRUE(answer) << path;
    EXPECT_EQ(answer->status, 500) << path;
    EXPECT_EQ(answer->field("Third"), "yes") << path;
    EXPECT_EQ(trace, "123") << path;
  }
}

// Conditions are evaluated before finishers run, so that these amend the final response.
TEST_P(Finishers, SeeThe304) {
  std::vector<unsigned> seen;
  router_.use([&](const Request&, Response& response) { seen.push_back(code(response.status())); });
  router_.get("/plain", [] { return Response("text").header("ETag", "\"1\""); });
  router_.get("/coroutine", []() -> Task<Response> {
    co_await yield();
    co_return Response("text").header("ETag", "\"1\"");
  });
  Client client = connect();
  for (const std::string path : {"/plain", "/coroutine"}) {
    EXPECT_EQ(worker().ask(client, get(path, "If-None-Match: \"1\"\r\n"))->status, 304) << path;
  }
  EXPECT_EQ(seen, (std::vector<unsigned>{304, 304}));
}

// Files that a catch-all serves below a mount belong to the mount, in any spelling ----------------

TEST_P(GuardedServer, OwnTheFilesBelowTheirMount) {
  const support::TemporaryDirectory folder;
  folder.write("in/secret.txt", "secret");
  folder.write("open.txt", "open");
  Router router;
  Router inner;
  inner.use(Door(calls_));
  router.get("/{path...}", FileHandler::open(folder.path().string()).value());
  router.mount("/in", std::move(inner));
  TestWorker worker(router, GetParam());
  for (const std::string path :
       {"/in/secret.txt", "/%69n/secret.txt", "/./in/secret.txt", "/x/../in/secret.txt",
        "/in//secret.txt", "//in/secret.txt", "/in/./secret.txt", "/in/%2e/secret.txt",
        "/in%2fsecret.txt", "/;x/../in/secret.txt", "/in/secret.txt/"}) {
    for (const std::string method : {"GET", "HEAD", "POST", "PROPFIND"}) {
      Client client = worker.connect();
      client.send(head(method, path, ""));
      worker.turn_until_readable(client);
      const auto answer = client.answer(method == "HEAD");
      ASSERT_TRUE(answer) << method << " " << path;
      EXPECT_GE(answer->status, 400) << method << " " << path;
      EXPECT_EQ(answer->body.find("secret"), answer->body.npos) << method << " " << path;
    }
  }
  Client client = worker.connect();
  EXPECT_EQ(worker.ask(client, get("/open.txt"))->body, "open");
}

INSTANTIATE_TEST_SUITE_P(Backends, GuardedServer, ::testing::ValuesIn(testing::backends()),
                         testing::backend_name);
INSTANTIATE_TEST_SUITE_P(Backends, Finishers, ::testing::ValuesIn(testing::backends()),
                         testing::backend_name);

}  // namespace
}  // namespace skua
