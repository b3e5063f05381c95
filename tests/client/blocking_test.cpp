// SPDX-License-Identifier: MIT
// The blocking client, for programs without a loop.
#include "skua/background_client.hpp"

#include <gtest/gtest.h>

#include <future>
#include <mutex>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "skua.hpp"
#include "support/test_server.hpp"

namespace skua {
namespace {

class Blocking : public ::testing::Test {
 protected:
  Blocking() {
    router_.get("/page", [] { return "hello"; });
    router_.post("/echo", [](Request& request) -> Task<std::string> {
      std::string content;
      while (auto piece = co_await request.read()) content.append(text(*piece));
      co_return content;
    });
    router_.get("/slow", []() -> Task<std::string> {
      co_await sleep(1h);
      co_return std::string();
    });
    server_.emplace(router_, BackendChoice::Auto, ServerOptions{}, testing::Transport::Tcp);
  }
  std::string url(std::string_view target) {
    return "http://127.0.0.1:" + std::to_string(server_->port()) + std::string(target);
  }
  Router router_;
  std::optional<testing::TestServer> server_;
};

TEST_F(Blocking, APageIsOneCall) {
  EXPECT_EQ(blocking::get(url("/page")).value(), "hello");
  EXPECT_EQ(blocking::post(url("/echo"), "content").value(), "content");
}

TEST_F(Blocking, WhatIsNoPageIsAProblem) {
  const auto missing = blocking::get(url("/missing"));
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code(), Errc::UnexpectedStatus);
  EXPECT_EQ(missing.error().text, "could not get " + url("/missing") + ": the server answered 404");
  EXPECT_THROW(blocking::get("nonsense://").value(), Exception);
}

TEST_F(Blocking, AnyRequestCanBeSent) {
  const auto made =
      blocking::send([&](Client& client) { return client.post(url("/echo")).json("{}"); });
  ASSERT_TRUE(made) << made.error().text;
  EXPECT_EQ(made->status, Status::Ok);
  EXPECT_EQ(made->content, "{}");
  EXPECT_EQ(made->headers.find("content-length"), "2");
}

TEST_F(Blocking, ManyThreadsShareAClient) {
  BackgroundClient client;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int j = 0; j < 20; ++j) {
        const auto got = client.get(url("/page")).get();
        EXPECT_TRUE(got);
        if (got) {
          EXPECT_EQ(got->content, "hello");
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(Blocking, WhatIsNotAnsweredInTimeIsCancelled) {
  std::future<Result<WholeResponse, Problem>> slow;
  {
    BackgroundClient client;
    slow = client.get(url("/slow"));
    EXPECT_TRUE(client.get(url("/page")).get());
  }
  const auto got = slow.get();
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code(), Errc::Cancelled);
}

TEST_F(Blocking, EveryFutureIsSetHoweverItEnds) {
  for (int round = 0; round < 20; ++round) {
    std::vector<std::future<Result<WholeResponse, Problem>>> futures;
    std::mutex mutex;
    {
      BackgroundClient client;
      std::vector<std::thread> threads;
      for (int i = 0; i < 4; ++i) {
        threads.emplace_back([&, i] {
          for (int j = 0; j < 10; ++j) {
            auto made = client.get(url((i + j) % 2 == 0 ? "/slow" : "/page"));
            const std::lock_guard lock(mutex);
            futures.push_back(std::move(made));
          }
        });
      }
      for (std::thread& thread : threads) thread.join();
    }
    for (auto& future : futures) {
      ASSERT_EQ(future.wait_for(0s), std::future_status::ready);
      const auto got = future.get();
      if (!got) {
        EXPECT_EQ(got.error().code(), Errc::Cancelled) << got.error().text;
      }
    }
  }
}

TEST_F(Blocking, WhatARequestThrowsComesOutOfItsFuture) {
  BackgroundClient client;
  auto thrown = client.send([](Client& own) -> ClientRequest {
    static_cast<void>(own);
    throw std::runtime_error("no request");
  });
  EXPECT_THROW(static_cast<void>(thrown.get()), std::runtime_error);
}

TEST_F(Blocking, ACallbackHearsOnceWhatARequestHasComeTo) {
  std::promise<std::string> page;
  std::promise<std::string> thrown;
  std::promise<Errc> cut;
  {
    BackgroundClient client;
    client.get(url("/page"), [&](Result<WholeResponse, Problem> got) {
      page.set_value(got ? got->content : got.error().text);
    });
    client.send([](Client&) -> ClientRequest { throw std::runtime_error("no request"); },
                [&](const Result<WholeResponse, Problem>& got) {
                  thrown.set_value(got ? "" : got.error().text);
                });
    EXPECT_EQ(page.get_future().get(), "hello");
    EXPECT_EQ(thrown.get_future().get(), "no request");
    client.get(url("/slow"), [&](const Result<WholeResponse, Problem>& got) {
      cut.set_value(got ? Errc::None : got.error().code());
    });
  }
  EXPECT_EQ(cut.get_future().get(), Errc::Cancelled);
}

TEST_F(Blocking, ACallbackThatThrowsEndsNothing) {
  std::promise<void> told;
  ClientOptions options;
  options.on_exception = [&](const std::exception_ptr&) { told.set_value(); };
  BackgroundClient client(options);
  client.get(url("/page"),
             [](const Result<WholeResponse, Problem>&) { throw std::runtime_error("a bug"); });
  told.get_future().wait();
  EXPECT_TRUE(client.get(url("/page")).get());
}

TEST_F(Blocking, OneRequestCanBeCancelled) {
  BackgroundClient client;
  std::stop_source stop;
  std::promise<Errc> told;
  auto cancelled = client.get(url("/slow"), stop.get_token());
  auto other = client.get(url("/slow"));
  client.get(
      url("/slow"),
      [&](const Result<WholeResponse, Problem>& got) {
        told.set_value(got ? Errc::None : got.error().code());
      },
      stop.get_token());
  EXPECT_TRUE(client.get(url("/page")).get());  // the others are in flight
  stop.request_stop();
  const auto got = cancelled.get();
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code(), Errc::Cancelled);
  EXPECT_EQ(told.get_future().get(), Errc::Cancelled);
  EXPECT_EQ(other.wait_for(0s), std::future_status::timeout);
  const auto late = client.get(url("/page"), stop.get_token()).get();
  EXPECT_FALSE(late);
}

}  // namespace
}  // namespace skua
