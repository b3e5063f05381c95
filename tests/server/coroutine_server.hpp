// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "skua.hpp"
#include "support/test_server.hpp"

namespace skua::testing {

inline std::string post(std::string_view path, std::string_view body,
                        std::string_view fields = {}) {
  std::string out("POST ");
  out.append(path).append(" HTTP/1.1\r\nHost: test\r\nContent-Length: ");
  out.append(std::to_string(body.size())).append("\r\n").append(fields).append("\r\n");
  return out.append(body);
}

/// Counts its live instances; a handler holds one while it waits.
class Held {
 public:
  explicit Held(std::atomic<int>& count) noexcept : count_(&count) { ++count; }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  ~Held() { --*count_; }

 private:
  std::atomic<int>* count_;
};

/// A server with handlers that wait in different ways.
class CoroutineServer : public ::testing::TestWithParam<BackendChoice> {
 protected:
  CoroutineServer() {
    add_answers();
    add_readers();
    add_streams();
    add_endless();
  }

  void add_answers() {
    router_.get("/now", []() -> Task<std::string> { co_return "now"; });
    router_.get("/later/{n}", [](int n) -> Task<std::string> {
      co_await sleep(1ms);
      co_return "later " + std::to_string(n);
    });
    router_.get("/plain", [] { return "plain"; });
    router_.get("/offload", []() -> Task<std::string> {
      const int answer = co_await offload([] { return 42; });
      co_return std::to_string(answer);
    });
    router_.get("/throws", []() -> Task<Response> {
      co_await yield();
      throw std::runtime_error("a secret");
    });
    router_.get("/teapot", []() -> Task<Response> {
      co_await yield();
      throw HttpError(Status(418), "short and stout");
    });
    router_.get("/view/{name}", [](Request& request, std::string_view name) -> Task<std::string> {
      co_await sleep(1ms);
      std::string out(name);
      out.append(" ").append(request.query("q").value_or("")).append(" ");
      out.append(request.header("X-Field").value_or("")).append(" ").append(request.path());
      co_return out;
    });
  }

  void add_readers() {
    router_.post("/echo", [](Request& request) -> Task<Response> {
      std::string body = co_await request.text();
      co_return Response(Status::Created, std::move(body));
    });
    router_.post("/count", [](Request& request) -> Task<std::string> {
      std::size_t bytes = 0;
      while (true) {
        const std::optional<Bytes> piece = co_await request.read();
        if (!piece) break;
        bytes += piece->size();
      }
      co_return std::to_string(bytes) + " " +
          std::string(request.trailer("X-Request-Id").value_or("-"));
    });
    router_.post("/small", [](Request& request) -> Task<std::string> {
      std::string body = co_await request.text(10);
      co_return body;
    });
    router_.post("/early", []() -> Task<std::string> { co_return "early"; });
  }

  void add_streams() {
    router_.get("/ticks", [] {
      return Response::stream("text/plain", [](BodyWriter& out) -> Task<> {
        for (int i = 0; i < 3; ++i) {
          co_await out.write("tick " + std::to_string(i) + "\n");
          co_await sleep(1ms);
        }
        out.trailer("X-Request-Id", "end");
      });
    });
    router_.get("/sized", [] {
      return Response::stream(
          "text/plain", [](BodyWriter& out) -> Task<> { co_await out.write("12345"); }, 5);
    });
    router_.get("/short", [] {
      return Response::stream(
          "text/plain", [](BodyWriter& out) -> Task<> { co_await out.write("1234"); }, 5);
    });
    router_.get("/long", [] {
      return Response::stream(
          "text/plain", [](BodyWriter& out) -> Task<> { co_await out.write("123456"); }, 5);
    });
    router_.get("/breaks", [] {
      return Response::stream("text/plain", [](BodyWriter& out) -> Task<> {
        co_await out.write("begun");
        co_await yield();
        throw std::runtime_error("midway");
      });
    });
    router_.get("/much/{megabytes}", [](int megabytes) {
      return Response::stream("application/octet-stream", [megabytes](BodyWriter& out) -> Task<> {
        for (int i = 0; i < megabytes * 16; ++i) co_await out.write(std::string(65'536, 'm'));
      });
    });
    router_.post("/duplex", [](Request& request) -> Task<Response> {
      co_return Response::stream("text/plain", [&request](BodyWriter& out) -> Task<> {
        while (true) {
          const std::optional<Bytes> piece = co_await request.read();
          if (!piece) break;
          co_await out.write(*piece);
        }
      });
    });
  }

  void add_endless() {
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
    router_.post("/wait-for-body", [this](Request& request) -> Task<std::string> {
      const Held held(alive_);
      std::string text = co_await request.text();
      co_return text;
    });
  }

  TestServer& server() {
    if (!server_) server_ = std::make_unique<TestServer>(router_, GetParam(), options_);
    return *server_;
  }
  Answer ask(Client& client, std::string_view bytes, bool to_head = false) {
    client.send(bytes);
    const std::optional<Answer> answer = client.answer(to_head);
    EXPECT_TRUE(answer.has_value()) << bytes.substr(0, 60);
    return answer.value_or(Answer{});
  }
  void wait_until_alive(int count) {
    while (alive_ != count) std::this_thread::yield();
  }

  std::atomic<int> alive_{0};
  Router router_;
  ServerOptions options_;
  std::unique_ptr<TestServer> server_;
};

}  // namespace skua::testing
