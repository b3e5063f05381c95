// SPDX-License-Identifier: MIT
#include "skua/idempotency.hpp"

#include <memory>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

#include "skua/router.hpp"
#include "skua/testing.hpp"
#include "support/memory_texts.hpp"

namespace skua {
namespace {

using testing::FakeRequest;
using testing::MemoryTexts;

class Idempotency : public ::testing::Test {
 protected:
  void use(IdempotencyOptions options = {}) {
    options.owner = [this](const Request&) { return owner; };
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
    inner = ask("POST /slow", "k1");
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

}  // namespace
}  // namespace skua
