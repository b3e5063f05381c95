// SPDX-License-Identifier: MIT
#include "skua/idempotency.hpp"

#include <future>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "crypto/digest.hpp"
#include "router/table.hpp"
#include "skua/async.hpp"
#include "skua/auth.hpp"
#include "skua/router.hpp"
#include "skua/session.hpp"
#include "skua/testing.hpp"
#include "support/memory_texts.hpp"

namespace skua {
namespace {

using testing::FakeRequest;
using testing::MemoryTexts;

class Idempotency : public ::testing::Test {
 protected:
  void use(IdempotencyOptions options = {}, bool has_owner = true) {
    if (has_owner) options.owner = [this](const Request&) { return owner; };
    router.use(idempotency_keys(options, store));
    router.post("/orders", [this](Request&) {
      Response response = Response::json("{\"order\": " + std::to_string(++orders) + "}");
      response.status(Status::Created).header("Location", "/orders/1");
      return response;
    });
    router.post("/fails", [this](Request&) -> Response {
      if (++orders == 1) throw std::runtime_error("broken");
      return Status::NoContent;
    });
    router.post("/unavailable", [this](Request&) -> Response {
      return ++orders == 1 ? Status::ServiceUnavailable : Status::NoContent;
    });
    router.get("/orders", [this] { return std::to_string(orders); });
  }
  Response ask(std::string_view line, std::string_view key = {}) {
    FakeRequest fake(line);
    if (!key.empty()) fake.header("Idempotency-Key", key);
    return router.handle(fake.request());
  }

  /// Starts a request and drops it where it waits.
  Task<> drop(std::string line) {
    FakeRequest fake(line);
    fake.header("Idempotency-Key", "k1");
    const auto match = router.match(Method::Post, fake.request().path());
    auto dropped = std::make_optional(router.start(match, fake.request()));
    dropped->start(nullptr, nullptr);
    co_await yield();
    EXPECT_FALSE(dropped->is_done());
    dropped.reset();
  }

  std::string owner = "ada";
  int orders = 0;
  std::shared_ptr<MemoryTexts> store = std::make_shared<MemoryTexts>();
  Router router;
};

TEST_F(Idempotency, ARepeatedRequestGetsTheSameResponse) {
  use();
  const Response first = ask("POST /orders", "\"k1\"");
  const Response second = ask("POST /orders", "k1");
  EXPECT_EQ(orders, 1);
  for (const Response* const one : {&first, &second}) {
    EXPECT_EQ(one->status(), Status::Created);
    EXPECT_EQ(one->body(), "{\"order\": 1}");
    EXPECT_EQ(one->content_type(), "application/json");
    EXPECT_EQ(one->header("Location"), "/orders/1");
  }
  EXPECT_EQ(ask("POST /orders", "k2").body(), "{\"order\": 2}");
}

TEST_F(Idempotency, AKeyIsItsOwners) {
  use();
  EXPECT_EQ(ask("POST /orders", "k1").body(), "{\"order\": 1}");
  owner = "bob";
  EXPECT_EQ(ask("POST /orders", "k1").body(), "{\"order\": 2}");
  owner = "bob:x";
  EXPECT_EQ(ask("POST /orders", "y").body(), "{\"order\": 3}");
  owner = "bob";
  EXPECT_EQ(ask("POST /orders", "x:y").body(), "{\"order\": 4}");
}

TEST_F(Idempotency, ARequestThatRunsKeepsOthersOut) {
  use();
  Response inner;
  router.post("/slow", [&](Request&) {
    // On another thread, as a request of another server: here, a loop runs already.
    inner = std::async(std::launch::async, [&] { return ask("POST /slow", "k1"); }).get();
    return "done";
  });
  EXPECT_EQ(ask("POST /slow", "k1").body(), "done");
  EXPECT_EQ(inner.status(), Status::Conflict);
  EXPECT_EQ(inner.header("Retry-After"), "1");
}

TEST_F(Idempotency, AKeyIsForOneTarget) {
  use();
  ask("POST /orders", "k1");
  EXPECT_EQ(ask("POST /orders?x", "k1").status(), Status::UnprocessableContent);
  EXPECT_EQ(orders, 1);
}

TEST_F(Idempotency, AKeyIsForOneContent) {
  use();
  const auto order = [this](std::string_view content) {
    FakeRequest fake("POST /orders", content);
    fake.header("Idempotency-Key", "k1");
    return router.handle(fake.request());
  };
  EXPECT_EQ(order("a book").status(), Status::Created);
  EXPECT_EQ(order("a house").status(), Status::UnprocessableContent);
  EXPECT_EQ(order("a book").body(), "{\"order\": 1}");
  EXPECT_EQ(orders, 1);
  // As version 0.1 stored it.
  std::string& text = store->texts.begin()->second;
  text.erase(text.find(' ') + 41, 40);
  EXPECT_EQ(order("a house").body(), "{\"order\": 1}");
}

TEST_F(Idempotency, WhatFailedMayBeRepeated) {
  use();
  EXPECT_EQ(ask("POST /unavailable", "k1").status(), Status::ServiceUnavailable);
  EXPECT_EQ(ask("POST /unavailable", "k1").status(), Status::NoContent);
  EXPECT_EQ(ask("POST /unavailable", "k1").status(), Status::NoContent);
  EXPECT_EQ(orders, 2);
  orders = 0;
  EXPECT_THROW(ask("POST /fails", "k2"), std::runtime_error);
  EXPECT_EQ(ask("POST /fails", "k2").status(), Status::NoContent);
}

TEST_F(Idempotency, AnswersThatSayNothingWasDoneAreNotKept) {
  use();
  for (const Status status :
       {Status::Unauthorized, Status::NotFound, Status::MethodNotAllowed, Status::RequestTimeout,
        Status::MisdirectedRequest, Status::TooEarly, Status::TooManyRequests}) {
    orders = 0;
    const std::string path = "/" + std::to_string(code(status));
    router.post(RuntimePattern(path), [this, status](Request&) -> Response {
      return ++orders == 1 ? status : Status::Created;
    });
    EXPECT_EQ(ask("POST " + path, path.substr(1)).status(), status);
    EXPECT_EQ(ask("POST " + path, path.substr(1)).status(), Status::Created);
  }
  router.post("/400", [this](Request&) -> Response {
    ++orders;
    return Status::BadRequest;
  });
  orders = 0;
  EXPECT_EQ(ask("POST /400", "k").status(), Status::BadRequest);
  EXPECT_EQ(ask("POST /400", "k").status(), Status::BadRequest);
  EXPECT_EQ(orders, 1);
}

TEST_F(Idempotency, ARouteThatIsMissingIsAskedForAgain) {
  use();
  EXPECT_EQ(ask("POST /later", "k1").status(), Status::NotFound);
  router.post("/later", [] { return "here"; });
  EXPECT_EQ(ask("POST /later", "k1").body(), "here");
}

TEST_F(Idempotency, CookiesAreNotRepeated) {
  use();
  router.post("/in", [](Request&) {
    Response response("in");
    response.header("X-Before", "1").cookie("session", "secret");
    response.add_header("set-cookie", "b=c");
    response.add_header("X-After", "2");
    return response;
  });
  EXPECT_TRUE(ask("POST /in", "k1").header("Set-Cookie"));
  const Response repeated = ask("POST /in", "k1");
  EXPECT_EQ(repeated.body(), "in");
  EXPECT_FALSE(repeated.header("Set-Cookie"));
  EXPECT_EQ(repeated.header("X-Before"), "1");
  EXPECT_EQ(repeated.header("X-After"), "2");
  EXPECT_EQ(store->texts.begin()->second.find("secret"), std::string::npos);
}

TEST_F(Idempotency, AResponseThatIsTooLargeIsNotRepeated) {
  use({.max_response_bytes = 10});
  EXPECT_EQ(ask("POST /orders", "k1").status(), Status::Created);
  EXPECT_EQ(ask("POST /orders", "k1").status(), Status::Conflict);
  EXPECT_EQ(orders, 1);
}

TEST_F(Idempotency, KeysAreChecked) {
  use({.is_required = true});
  EXPECT_EQ(ask("POST /orders").status(), Status::BadRequest);
  EXPECT_EQ(ask("POST /orders", "a b").status(), Status::BadRequest);
  EXPECT_EQ(ask("POST /orders", "\"\"").status(), Status::BadRequest);
  EXPECT_EQ(ask("POST /orders", std::string(256, 'a')).status(), Status::BadRequest);
  EXPECT_EQ(ask("GET /orders").body(), "0");
}

TEST_F(Idempotency, WithoutTheStoreNothingRuns) {
  use();
  store->has_failed = true;
  EXPECT_EQ(ask("POST /orders", "k1").status(), Status::ServiceUnavailable);
  EXPECT_EQ(orders, 0);
  EXPECT_EQ(ask("POST /orders").status(), Status::Created);
}

TEST_F(Idempotency, AStoredTextThatIsCutIsAnError) {
  use();
  ask("POST /orders", "k1");
  ASSERT_EQ(store->texts.size(), 1U);
  std::string& text = store->texts.begin()->second;
  text.resize(text.find('\n') + 3);
  EXPECT_EQ(ask("POST /orders", "k1").status(), Status::InternalServerError);
}

// Claims.

TEST_F(Idempotency, AClaimIsRenewedWhileTheHandlerRuns) {
  use({.lease = 2ms});
  router.post("/slow", [this](Request&) -> Task<Response> {
    while (store->renewal_count < 3) co_await sleep(1ms);
    co_return "done";
  });
  EXPECT_EQ(ask("POST /slow", "k1").body(), "done");
  EXPECT_EQ(store->renewal_count, 3);
}

TEST_F(Idempotency, AHandlerThatIsDroppedKeepsItsClaim) {
  use();
  router.post("/waits", [](Request&) -> Task<Response> {
    co_await sleep(1h);
    co_return "done";
  });
  run(drop("POST /waits"));
  EXPECT_EQ(store->renewal_count, 0);
  EXPECT_EQ(ask("POST /waits", "k1").status(), Status::Conflict) << "it may have acted";
}

TEST_F(Idempotency, AClaimIsGivenBackIfTheStoreDidNotAnswer) {
  use();
  store->loses_answers = true;
  EXPECT_EQ(ask("POST /orders", "k1").status(), Status::ServiceUnavailable);
  EXPECT_TRUE(store->texts.empty());
}

/// A store whose add() takes long.
class SlowTexts final : public SharedTexts {
 public:
  Task<Found> get(std::string key) override { return texts.get(std::move(key)); }
  Task<Found> add(std::string key, std::string text, Duration lifetime) override {
    static_cast<void>(co_await texts.add(std::move(key), std::move(text), lifetime));
    co_await sleep(1h);
    co_return Problem::from(Errc::TimedOut);
  }
  Task<Result<void, Problem>> replace(std::string key, std::string old, std::string text,
                                      Duration lifetime) override {
    return texts.replace(std::move(key), std::move(old), std::move(text), lifetime);
  }

  MemoryTexts texts{};
};

TEST_F(Idempotency, AClaimIsGivenBackIfTheRequestEndsBeforeTheHandlerBegins) {
  const auto slow = std::make_shared<SlowTexts>();
  router.use(idempotency_keys({}, slow));
  router.post("/orders", [](Request&) { return "never"; });
  run(drop("POST /orders"));
  EXPECT_TRUE(slow->texts.texts.empty());
}

// Owners.

TEST_F(Idempotency, AUserHasKeysOfItsOwn) {
  router.use([this](Request& request) -> std::optional<Response> {
    request.attachments().set(auth::User{owner});
    return std::nullopt;
  });
  use({}, false);
  EXPECT_EQ(ask("POST /orders", "k1").body(), "{\"order\": 1}");
  EXPECT_EQ(store->last_lifetime, 24h);
  owner = "bob";
  EXPECT_EQ(ask("POST /orders", "k1").body(), "{\"order\": 2}");
}

TEST_F(Idempotency, ASessionHasKeysOfItsOwn) {
  if (!crypto::is_available()) GTEST_SKIP() << "built without OpenSSL";
  router.use(sessions({.keys = {std::string(32, 'a')}}));
  router.get("/in", [](Request& request) {
    session(request).set("name", "somebody");
    return "in";
  });
  use({}, false);
  std::vector<std::string> cookies;
  for (int i = 0; i < 2; ++i) {
    const Response in = ask("GET /in");
    const std::string set(in.header("Set-Cookie").value_or(""));
    cookies.push_back(set.substr(0, set.find(';')));
  }
  const auto order = [&](const std::string& cookie) {
    FakeRequest fake("POST /orders");
    fake.header("Idempotency-Key", "k1").header("Cookie", cookie);
    return router.handle(fake.request());
  };
  EXPECT_EQ(order(cookies[0]).body(), "{\"order\": 1}");
  EXPECT_EQ(order(cookies[1]).body(), "{\"order\": 2}");
  const Response again = order(cookies[0]);
  EXPECT_EQ(again.body(), "{\"order\": 1}");
  EXPECT_EQ(again.header("Cache-Control"), "private");
  EXPECT_EQ(store->last_lifetime, 24h);
}

TEST_F(Idempotency, AnonymousClientsAreRememberedForAShorterTime) {
  use({.anonymous_lifetime = 3min}, false);
  EXPECT_EQ(ask("POST /orders", "k1").body(), "{\"order\": 1}");
  EXPECT_EQ(ask("POST /orders", "k1").body(), "{\"order\": 1}");
  EXPECT_EQ(store->last_lifetime, 3min);
}

TEST_F(Idempotency, TimesArePositive) {
  EXPECT_THROW(use({.lifetime = 0s}), std::invalid_argument);
  EXPECT_THROW(use({.anonymous_lifetime = 0s}), std::invalid_argument);
  EXPECT_THROW(use({.lease = 0s}), std::invalid_argument);
}

}  // namespace
}  // namespace skua
