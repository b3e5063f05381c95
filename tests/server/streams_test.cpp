// SPDX-License-Identifier: MIT
// Server-sent events, frames, responders and late answers over a real socket, on every back end.
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "skua.hpp"
#include "support/test_server.hpp"
#include "support/test_worker.hpp"

namespace skua {
namespace {

using testing::Answer;
using testing::Client;
using testing::get;
using testing::TestServer;
using testing::TestWorker;

class Streams : public ::testing::TestWithParam<BackendChoice> {
 protected:
  TestServer& server() {
    if (!server_) server_ = std::make_unique<TestServer>(router_, GetParam(), options_);
    return *server_;
  }

  Router router_;
  ServerOptions options_;
  std::unique_ptr<TestServer> server_;
};

TEST_P(Streams, EventsHaveTheirLines) {
  router_.get("/events", [] {
    return server_sent_events([](EventWriter& out) -> Task<> {
      const ServerSentEvent one{.data = "one"};
      co_await out.send(one);
      const ServerSentEvent two{
          .data = "two\nlines\r\nthree\r", .event = "kind", .id = "7", .retry = 3s};
      co_await out.send(two);
      co_await out.comment("psst");
      co_await out.checkpoint("8");
    });
  });
  Client client = server().connect();
  client.send(get("/events"));
  const std::optional<Answer> answer = client.answer();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->field("Content-Type"), "text/event-stream");
  EXPECT_EQ(answer->field("Cache-Control"), "no-store");
  EXPECT_EQ(answer->body,
            "data: one\n\n"
            "event: kind\nid: 7\nretry: 3000\ndata: two\ndata: lines\ndata: three\ndata: \n\n"
            ": psst\n\n"
            "id: 8\n\n");
}

TEST_P(Streams, AnEventCannotSmuggleALineIntoItsTypeOrId) {
  std::vector<std::string> refused;
  router_.get("/events", [&refused] {
    return server_sent_events([&refused](EventWriter& out) -> Task<> {
      for (const std::string_view bad : {"a\nb", "a\rb", "\n"}) {
        const ServerSentEvent bad_type{.data = "x", .event = bad};
        const ServerSentEvent bad_id{.data = "x", .id = bad};
        try {
          co_await out.send(bad_type);
        } catch (const std::invalid_argument&) {
          refused.emplace_back(bad);
        }
        try {
          co_await out.send(bad_id);
        } catch (const std::invalid_argument&) {
          refused.emplace_back(bad);
        }
      }
    });
  });
  Client client = server().connect();
  client.send(get("/events"));
  EXPECT_EQ(client.answer()->body, "");
  server_.reset();
  EXPECT_EQ(refused.size(), 6U);
}

TEST_P(Streams, EventsAreKeptAliveAndEndWithADrain) {
  router_.get("/events", [] {
    return server_sent_events([](EventWriter& out) -> Task<> {
      const ServerSentEvent first{.data = "first"};
      co_await out.send(first);
      co_await sleep(1h);
    });
  });
  TestWorker worker(router_, GetParam(), options_);
  Client client = worker.connect();
  client.send(get("/events"));
  worker.settle();
  worker.advance(16s);
  worker.advance(16s);
  (*worker).begin_drain();
  worker.settle();
  worker.advance(1s);
  const std::string all = client.rest();
  EXPECT_NE(all.find("data: first\n\n"), all.npos);
  EXPECT_NE(all.find(": \n\n"), all.npos) << "no comment while the stream was quiet";
  EXPECT_TRUE(all.ends_with("\r\n0\r\n\r\n")) << all;
}

TEST_P(Streams, FramesGoToEveryClient) {
  FrameSource source;
  router_.get("/video", [&source] { return source.stream(); });
  Client first = server().connect();
  Client second = server().connect();
  first.send(get("/video"));
  second.send(get("/video"));
  while (source.clients() != 2) std::this_thread::yield();
  source.publish("frame one");
  source.publish("frame two");
  source.close();
  for (Client* client : {&first, &second}) {
    const std::optional<Answer> answer = client->answer();
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->field("Content-Type"), "multipart/x-mixed-replace; boundary=skua-frame");
    EXPECT_EQ(
        answer->body,
        "--skua-frame\r\n"
        "Content-Type: image/jpeg\r\nContent-Length: 9\r\n\r\nframe one\r\n--skua-frame\r\n"
        "Content-Type: image/jpeg\r\nContent-Length: 9\r\n\r\nframe two\r\n--skua-frame\r\n"
        "Content-Type: image/jpeg\r\nContent-Length: 9\r\n\r\nframe two\r\n--skua-frame--\r\n")
        << "the last one again, as a part was promised";
  }
  EXPECT_EQ(source.clients(), 0U);
}

TEST_P(Streams, FramesEndWithAClosingBoundary) {
  FrameSource source;
  source.close();
  router_.get("/video", [&source] { return source.stream(); });
  Client client = server().connect();
  client.send(get("/video"));
  EXPECT_EQ(client.answer()->body, "--skua-frame\r\n\r\n--skua-frame--\r\n") << "none was sent";
}

TEST_P(Streams, FramesMayBeRawOrInBase64) {
  FrameSource raw({.format = FrameFormat::Raw, .type = "text/plain", .separator = "|"});
  FrameSource coded({.type = "image/png", .base64 = true});
  router_.get("/raw", [&raw] { return raw.stream(); });
  router_.get("/coded", [&coded] { return coded.stream(); });
  raw.publish("last");  // repeated to later clients
  Client client = server().connect();
  client.send(get("/raw"));
  while (raw.clients() != 1) std::this_thread::yield();
  raw.publish("next");
  raw.close();
  EXPECT_EQ(client.answer()->body, "last|next|");
  client.send(get("/coded"));
  while (coded.clients() != 1) std::this_thread::yield();
  coded.publish("frame");
  coded.close();
  const std::string body = client.answer()->body;
  EXPECT_NE(body.find("Content-Transfer-Encoding: base64\r\nContent-Length: 8\r\n\r\nZnJhbWU=\r\n"),
            body.npos)
      << body;
}

TEST_P(Streams, ASlowClientMissesFramesOrIsDisconnected) {
  FrameSource dropping({.format = FrameFormat::Raw, .frames = 2});
  FrameSource cutting(
      {.format = FrameFormat::Raw, .slow_client = SlowClient::Disconnect, .frames = 2});
  router_.get("/dropping", [&dropping] { return dropping.stream(); });
  router_.get("/cutting", [&cutting] { return cutting.stream(); });
  TestWorker worker(router_, GetParam(), options_);
  Client slow = worker.connect();
  Client cut = worker.connect();
  slow.send(get("/dropping", "Connection: close\r\n"));
  cut.send(get("/cutting", "Connection: close\r\n"));
  worker.settle();
  ASSERT_EQ(dropping.clients(), 1U);
  const std::string frame(300'000, 'f');
  for (int i = 0; i < 100; ++i) {
    dropping.publish(frame);
    cutting.publish(frame);
    worker.settle();
  }
  EXPECT_EQ(dropping.clients(), 1U);
  EXPECT_EQ(cutting.clients(), 0U) << "its time to take something has not passed";
  EXPECT_EQ(worker.counters().refused_slow, 1U);
  dropping.close();
  const std::size_t most = 20 * frame.size();  // of 100 frames: socket buffers and two queued
  std::size_t slow_count = 0;
  std::size_t cut_count = 0;
  std::atomic<int> ended{0};
  std::thread first([&] { slow_count = slow.rest().size(), ++ended; });
  std::thread second([&] { cut_count = cut.rest().size(), ++ended; });
  while (ended != 2) (*worker).run_once(1ms);
  first.join();
  second.join();
  EXPECT_LT(slow_count, most);
  EXPECT_LT(cut_count, most);
}

class Recorder final : public Responder {
 public:
  explicit Recorder(std::string& log) : log_(log) {}
  void on_headers(Request& request) override {
    log_.append("headers ").append(request.path()).append("; ");
    if (request.query("throw")) throw std::runtime_error("in on_headers");
  }
  void on_body(Bytes piece) override { bytes_ += piece.size(); }
  Response on_request(Request&) override {
    log_.append("request ").append(std::to_string(bytes_)).append("; ");
    return std::to_string(bytes_);
  }
  void on_close() noexcept override { log_.append("close; "); }

 private:
  std::string& log_;
  std::size_t bytes_ = 0;
};

TEST_P(Streams, ARespondersCallbacksComeInOrderAndCloseIsAlwaysLast) {
  std::string log;
  router_.post("/count/{id}", [&log](int) { return std::make_unique<Recorder>(log); });
  TestWorker worker(router_, GetParam(), options_);
  Client client = worker.connect();
  EXPECT_EQ(
      worker.ask(client, "POST /count/1 HTTP/1.1\r\nHost: t\r\nContent-Length: 5\r\n\r\n12345")
          ->body,
      "5");
  EXPECT_EQ(log, "headers /count/1; request 5; close; ");
  log.clear();
  EXPECT_EQ(
      worker.ask(client, "POST /count/1?throw HTTP/1.1\r\nHost: t\r\nContent-Length: 0\r\n\r\n")
          ->status,
      500);
  EXPECT_EQ(log, "headers /count/1; close; ");
  log.clear();
  client.send("POST /count/2 HTTP/1.1\r\nHost: t\r\nContent-Length: 5\r\n\r\n123");
  worker.settle();
  EXPECT_EQ(log, "headers /count/2; ");
  client.reset();
  worker.turn_until([&] { return log.find("close") != log.npos; });
  EXPECT_EQ(log, "headers /count/2; close; ");
}

TEST_P(Streams, AnAnswerMayComeLaterFromAnotherThread) {
  std::vector<std::thread> threads;
  router_.get("/late/{text}", [&threads](Request&, std::string text) {
    LateAnswer late;
    auto answer = std::make_shared<skua::Answer>(late.answer());
    threads.emplace_back([answer, text] { answer->send("late " + text); });
    return late;
  });
  Client client = server().connect();
  for (int i = 0; i < 20; ++i) {
    client.send(get("/late/" + std::to_string(i)));
    EXPECT_EQ(client.answer()->body, "late " + std::to_string(i));
  }
  server_.reset();
  for (std::thread& thread : threads) thread.join();
}

TEST_P(Streams, AnAnswerThatIsDestroyedUnsentIsA500AndALogLine) {
  std::string logged;
  options_.hooks.log = [&logged](LogLevel, std::string_view line) { logged.append(line); };
  router_.get("/taken", [] {
    LateAnswer late;
    {
      const skua::Answer answer = late.answer();
    }
    return late;
  });
  router_.get("/never-taken", [] { return LateAnswer(); });
  Client client = server().connect();
  for (const std::string_view path : {"/taken", "/never-taken"}) {
    client.send(get(path));
    EXPECT_EQ(client.answer()->status, 500);
  }
  server_.reset();
  EXPECT_NE(logged.find("before a response was sent"), logged.npos) << logged;
}

TEST_P(Streams, AnAnswerStaysValidWhenTheClientAndTheServerAreGone) {
  std::unique_ptr<skua::Answer> kept;
  std::atomic<bool> is_kept{false};
  router_.get("/late", [&](Request&) {
    LateAnswer late;
    kept = std::make_unique<skua::Answer>(late.answer());
    is_kept = true;
    return late;
  });
  {
    Client client = server().connect();
    client.send(get("/late"));
    while (!is_kept) std::this_thread::yield();
    EXPECT_TRUE(kept->is_wanted());
    client.reset();
    while (kept->is_wanted()) std::this_thread::yield();
  }
  server_.reset();
  kept->send("nobody hears it");
  kept.reset();
}

TEST_P(Streams, EveryResponderIsClosedWhereAMiddlewareGoesOnTwice) {
  std::string log;
  Router inner;
  inner.post("/count", [&log] { return std::make_unique<Recorder>(log); });
  inner.use([](Request& request, Next next) -> Task<Response> {
    const Response first = co_await next(request);
    Response second = co_await next(request);
    co_return second;
  });
  router_.mount("/twice", std::move(inner));
  TestWorker worker(router_, GetParam(), options_);
  Client client = worker.connect();
  EXPECT_EQ(
      worker.ask(client, "POST /twice/count HTTP/1.1\r\nHost: t\r\nContent-Length: 1\r\n\r\n1")
          ->body,
      "0");
  EXPECT_EQ(log,
            "headers /twice/count; request 1; headers /twice/count; request 0; close; close; ");
}

TEST_P(Streams, EventsWithoutKeepAliveSayNothingByThemselves) {
  router_.get("/events", [] {
    return server_sent_events([](EventWriter&) -> Task<> { co_await sleep(1s); }, Duration::zero());
  });
  TestWorker worker(router_, GetParam(), options_);
  Client client = worker.connect();
  client.send(get("/events", "Connection: close\r\n"));
  for (int i = 0; i < 10; ++i) worker.settle();
  worker.advance(2s);
  EXPECT_EQ(client.rest().find(": \n"), std::string::npos);
}

TEST_P(Streams, NoResponderIsA500) {
  router_.get("/none", [] { return std::unique_ptr<Recorder>(); });
  Client client = server().connect();
  client.send(get("/none"));
  EXPECT_EQ(client.answer()->status, 500);
}

class Viewer final : public Responder {
 public:
  explicit Viewer(std::string& seen) : seen_(seen) {}
  void on_headers(Request& request) override { view_ = request.query("q").value_or(""); }
  Response on_request(Request&) override { return "done"; }
  void on_close() noexcept override { seen_ = view_; }

 private:
  std::string& seen_;
  std::string_view view_;
};

TEST_P(Streams, AResponderMayLookAtItsRequestUntilItIsClosed) {
  std::string seen;
  router_.get("/view", [&seen] { return std::make_unique<Viewer>(seen); });
  TestWorker worker(router_, GetParam(), options_);
  Client client = worker.connect();
  EXPECT_EQ(worker.ask(client, get("/view?q=decoded%20as%20it%20is%20long")).value().body, "done");
  EXPECT_EQ(seen, "decoded as it is long");
}

TEST_P(Streams, EventsAreNeverQuietForLongerThanTheyAreTold) {
  router_.get("/events", [] {
    return server_sent_events([](EventWriter& out) -> Task<> {
      co_await sleep(10s);
      const ServerSentEvent event{.data = "event"};
      co_await out.send(event);
      co_await sleep(1h);
    });
  });
  TestWorker worker(router_, GetParam(), options_);
  Client client = worker.connect();
  client.send(get("/events", "Connection: close\r\n"));
  worker.settle();
  for (int second = 0; second < 60; ++second) worker.advance(1s);
  (*worker).begin_drain();
  worker.settle();
  const std::string all = client.rest();
  std::size_t comments = 0;
  for (std::size_t at = all.find(": \n\n"); at != all.npos; at = all.find(": \n\n", at + 1)) {
    ++comments;
  }
  EXPECT_EQ(comments, 3U) << all;  // after 25, 40 and 55 seconds
}

INSTANTIATE_TEST_SUITE_P(Backends, Streams, ::testing::ValuesIn(testing::backends()),
                         testing::backend_name);

}  // namespace
}  // namespace skua
