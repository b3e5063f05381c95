// SPDX-License-Identifier: MIT
// Cancels a handler that uses every kind of wait, after each number of turns: at every suspension
// point, everything that it owns is destroyed exactly once.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>

#include "skua.hpp"
#include "support/temporary_directory.hpp"
#include "support/test_server.hpp"
#include "support/test_worker.hpp"

namespace skua {
namespace {

using testing::Client;
using testing::TestWorker;

constexpr std::size_t body_bytes = 300'000;  // more than one piece and one batch of save()

/// Counts live instances. Owns heap memory, so a sanitizer detects leaks and double destruction.
class Owned {
 public:
  explicit Owned(std::atomic<int>& alive) : alive_(alive), text_(std::make_unique<int>(++alive)) {}
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  ~Owned() { --alive_; }

 private:
  std::atomic<int>& alive_;
  std::unique_ptr<int> text_;
};

class Cancelling : public ::testing::TestWithParam<BackendChoice> {
 protected:
  Cancelling() {
    router_.use([this](Request& request, Next next) -> Task<Response> {
      const Owned owned(alive_);
      co_await yield();
      Response response = co_await next(request);
      co_await yield();
      co_return response;
    });
    router_.post("/waits", [this](Request& request) -> Task<Response> {
      const Owned owned(alive_);
      Event event;
      Channel<std::string> channel(1);
      Scope scope;
      scope.spawn(produce(channel, event));
      while (true) {
        const std::optional<std::string> text = co_await channel.receive();
        if (!text) break;
      }
      co_await event.wait();
      co_await scope.join();
      auto both = when_all(nap(), nap());
      co_await both;
      const auto compute = [] { return 1; };
      co_await offload(compute);
      const Result<std::uint64_t> saved = co_await request.save(folder_.string() + "/saved");
      if (!saved) co_return saved.error();
      co_return co_await answer(*saved);
    });
  }

  Task<> nap() {
    const Owned owned(alive_);
    co_await sleep(1ms);
  }
  Task<> produce(Channel<std::string>& channel, Event& event) {
    const Owned owned(alive_);
    for (int i = 0; i < 3; ++i) {
      const bool is_open = co_await channel.send("a text that is longer than a string itself");
      EXPECT_TRUE(is_open);
      co_await nap();
    }
    channel.close();
    co_await nap();
    event.set();
  }
  Task<Response> answer(std::uint64_t saved) {
    LateAnswer late;
    late.answer().send(Response(std::to_string(saved)));
    Response response = co_await std::move(late).wait();
    const auto produce_text = [this,
                               text = std::string(response.body())](BodyWriter& out) -> Task<> {
      const Owned owned(alive_);
      for (int i = 0; i < 3; ++i) {
        co_await out.write(text + "\n");
        co_await nap();
      }
    };
    co_return Response::stream("text/plain", produce_text);
  }

  /// Sends a request and runs this many turns; the body arrives in two halves meanwhile.
  void run(TestWorker& worker, Client& client, int turns) {
    const std::string half(body_bytes / 2, 'b');
    client.send("POST /waits HTTP/1.1\r\nHost: t\r\nContent-Length: " + std::to_string(body_bytes) +
                "\r\n\r\n");
    unsent_.clear();
    for (int turn = 0; turn < turns; ++turn) {
      if (turn == 2 || turn == 20) unsent_ += half;
      feed(client);
      (*worker).run_once(1ms);  // waits, so that pool threads make progress
      worker.advance(2ms);
    }
  }
  // Sends only what the socket accepts; the handler may not read yet.
  void feed(Client& client) {
    while (const std::size_t sent = unsent_.empty() ? 0 : client.send_some(unsent_)) {
      unsent_.erase(0, sent);
    }
  }

  std::atomic<int> alive_{0};
  std::string unsent_;
  support::TemporaryDirectory folder_;
  Router router_;
};

TEST_P(Cancelling, DestroysAllThatAHandlerOwnsWhereverItWaits) {
  TestWorker worker(router_, GetParam());
  int max_alive = 0;
  for (int turns = 1; turns < 60; ++turns) {
    Client client = worker.connect();
    run(worker, client, turns);
    max_alive = std::max<int>(max_alive, alive_);
    client.reset();
    for (int i = 0; i < 20'000 && alive_ != 0; ++i) {
      (*worker).run_once(1ms);
      // While the handler's buffer is full nothing is received; only time or the handler helps.
      worker.advance(1ms);
    }
    ASSERT_EQ(alive_, 0) << "after " << turns << " turns";
  }
  EXPECT_GE(max_alive, 3);
}

TEST_P(Cancelling, IsNotInTheWayOfAHandlerThatMayFinish) {
  TestWorker worker(router_, GetParam());
  Client client = worker.connect();
  run(worker, client, 25);
  for (int i = 0; i < 20'000 && alive_ != 0; ++i) {
    feed(client);
    (*worker).run_once(1ms);
    worker.advance(1ms);
  }
  EXPECT_EQ(client.answer()->body, "300000\n300000\n300000\n");
}

INSTANTIATE_TEST_SUITE_P(Backends, Cancelling, ::testing::ValuesIn(testing::backends()),
                         testing::backend_name);

}  // namespace
}  // namespace skua
