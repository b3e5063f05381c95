// SPDX-License-Identifier: MIT
// Closing a client with work in progress, and exceptions that no caller awaits.
#include <gtest/gtest.h>

#include <atomic>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "client_fixture.hpp"

namespace skua {
namespace {

class ClientEnd : public testing::ClientTest {
 protected:
  ClientEnd() {
    router_.get("/page", [] { return "hello"; });
    router_.get("/large", [] { return std::string(3'000'000, 'x'); });
    router_.get("/late", [this]() -> Task<std::string> {
      co_await sleep(50ms);
      was_answered_ = true;
      co_return "late";
    });
    router_.post("/sink", [](Request& request) -> Task<std::string> {
      while (co_await request.read()) continue;
      co_return "read";
    });
  }
  std::atomic<bool> was_answered_ = false;  // set by the server's thread
};

TEST_P(ClientEnd, CloseDoesNotWaitForAResponseThatNobodyReads) {
  run([&](Client& client) -> Task<> {
    auto response = co_await client.get(url("/large"));
    EXPECT_TRUE(response) << response.error().text;
    if (!response) co_return;
    co_await client.close();
    auto text = co_await response->text();
    EXPECT_EQ(text.value_or("").size(), 3'000'000U);
  });
}

TEST_P(ClientEnd, CloseWaitsForRequestsThatHaveNoAnswerYet) {
  run([&](Client& client) -> Task<> {
    auto held = co_await client.get(url("/large"));
    EXPECT_TRUE(held) << held.error().text;
    std::optional<Result<ClientResponse, Problem>> told;
    client.get(url("/late")).then([&](Result<ClientResponse, Problem> response) {
      told.emplace(std::move(response));
    });
    co_await client.close();
    EXPECT_TRUE(was_answered_);
    EXPECT_TRUE(told && *told);
  });
}

TEST_P(ClientEnd, AClientMayBeDestroyedWhileItIsClosed) {
  run([&](Client&) -> Task<> {
    auto client = std::make_unique<Client>(options_);
    Event called;
    client->get(url("/late")).then([&](Result<ClientResponse, Problem>) {
      called.set();
      client.reset();
    });
    co_await client->close();
    co_await called.wait();
    EXPECT_EQ(client, nullptr);
  });
}

TEST_P(ClientEnd, WhatACallbackThrowsIsToldToWhoeverWantsToKnow) {
  std::vector<std::string> told;
  Event both;
  options_.on_exception = [&](const std::exception_ptr& exception) {
    try {
      std::rethrow_exception(exception);
    } catch (const std::exception& error) {
      told.emplace_back(error.what());
    }
    if (told.size() == 2) both.set();
  };
  run([&](Client& client) -> Task<> {
    for (const std::string& target : {url("/page"), std::string("http://")}) {
      client.get(target).then(
          [](Result<ClientResponse, Problem>) -> void { throw std::runtime_error("a bug"); });
    }
    co_await both.wait();
    auto text = co_await client.get(url("/page")).text();
    EXPECT_EQ(text.value_or("none"), "hello");
  });
  EXPECT_EQ(told, (std::vector<std::string>{"a bug", "a bug"}));
}

TEST_P(ClientEnd, WhatACallbackThrowsComesOutOfCloseElse) {
  run([&](Client& client) -> Task<> {
    Event called;
    client.get(url("/page")).then([&](Result<ClientResponse, Problem>) {
      called.set();
      throw std::runtime_error("a bug");
    });
    co_await called.wait();
    std::string what;
    try {
      co_await client.close();
    } catch (const std::runtime_error& error) {
      what = error.what();
    }
    EXPECT_EQ(what, "a bug");
  });
}

// The producer may be a coroutine, or a plain function that throws before it returns a task.
TEST_P(ClientEnd, WhatAProducerThrowsIsToldToTheCallback) {
  const std::vector<std::function<Task<>(BodyWriter&)>> producers = {
      [](BodyWriter&) -> Task<> { throw 1; },
      [](BodyWriter& out) -> Task<> {
        co_await out.write("some");
        throw 2;
      }};
  for (const auto& produce : producers) {
    run([&](Client& client) -> Task<> {
      std::optional<Errc> code;
      Event called;
      ClientRequest request = client.post(url("/sink"));
      request.stream("text/plain", produce);
      std::move(request).then([&](Result<ClientResponse, Problem> response) {
        code = response ? Errc::None : response.error().code();
        called.set();
      });
      co_await called.wait();
      EXPECT_EQ(code, Errc::Cancelled);
      auto text = co_await client.post(url("/sink")).body("x").text();
      EXPECT_EQ(text.value_or("none"), "read");
    });
  }
}

TEST_P(ClientEnd, APlainProducerThatThrowsEndsTheRequest) {
  run([&](Client& client) -> Task<> {
    for (const bool expects : {false, true}) {
      ClientRequest request = client.post(url("/sink"));
      request.stream("text/plain",
                     [](BodyWriter&) -> Task<> { throw std::runtime_error("the source is dry"); });
      if (expects) request.expect_continue();
      std::string what;
      try {
        auto response = co_await std::move(request).send();
        EXPECT_FALSE(response);
      } catch (const std::runtime_error& error) {
        what = error.what();
      }
      EXPECT_EQ(what, "the source is dry");
    }
    auto text = co_await client.post(url("/sink")).body("x").text();
    EXPECT_EQ(text.value_or("none"), "read");
  });
}

INSTANTIATE_TEST_SUITE_P(All, ClientEnd, testing::client_test_values_of_both_versions(),
                         testing::client_test_name);

}  // namespace
}  // namespace skua
