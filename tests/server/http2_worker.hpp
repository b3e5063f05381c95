// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>

#include "skua.hpp"
#include "support/h2_frames.hpp"
#include "support/test_worker.hpp"

namespace skua::testing {

/// A worker with peers that speak clear-text HTTP/2, frame by frame.
class Http2Worker : public ::testing::TestWithParam<BackendChoice> {
 protected:
  Http2Worker() {
    router_.get("/", [] { return "hello"; });
    router_.post("/echo", [](const Request& request) { return std::string(request.body()); });
    router_.get("/after/{milliseconds}", [](int milliseconds) -> Task<std::string> {
      co_await sleep(std::chrono::milliseconds(milliseconds));
      co_return "later";
    });
    router_.get("/forever", [this]() -> Task<std::string> {
      const Held held(alive_);
      co_await sleep(1h);
      co_return "never";
    });
    router_.get("/endless", [this] {
      return Response::stream("text/plain", [this](BodyWriter& out) -> Task<> {
        const Held held(alive_);
        while (true) co_await out.write(std::string(10'000, 'e'));
      });
    });
    router_.post("/read-later", [](Request& request) -> Task<std::string> {
      co_await sleep(1s);
      std::string text = co_await request.text();
      co_return std::to_string(text.size());
    });
  }

  void SetUp() override {}

  TestWorker& worker() {
    if (!worker_) worker_.emplace(router_, GetParam(), options_, Transport::Tcp);
    return *worker_;
  }
  /// Returns a client that has sent nothing yet; it sends bytes unchanged.
  Client connect() { return worker().connect(Transport::Tcp); }
  /// Returns a client that has exchanged SETTINGS.
  Client greeted() {
    Client client = connect();
    say(client, h2::frames::hello());
    return client;
  }
  /// Sends frames, runs the worker until it is idle, and describes the frames it sent.
  std::string say(Client& client, std::string_view bytes) {
    const std::uint64_t wanted = worker().counters().bytes_received + bytes.size();
    client.send(bytes);
    worker().turn_until([&] { return worker().counters().bytes_received >= wanted; });
    return heard(client);
  }
  /// Describes the frames that have arrived since the last call.
  std::string heard(Client& client) { return h2::frames::describe(received(client)); }
  /// Returns the bytes that have arrived since the last call.
  std::string received(Client& client) {
    std::string bytes;
    for (int quiet_turns = 0; quiet_turns < 2;) {
      worker().settle();
      const std::string more = client.take_received();
      quiet_turns = more.empty() ? quiet_turns + 1 : 0;
      bytes += more;
    }
    return bytes;
  }

  /// Counts its live instances.
  class Held {
   public:
    explicit Held(int& count) noexcept : count_(&count) { ++count; }
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;
    ~Held() { --*count_; }

   private:
    int* count_;
  };

  int alive_ = 0;
  Router router_;
  ServerOptions options_;
  std::optional<TestWorker> worker_;
};

}  // namespace skua::testing
