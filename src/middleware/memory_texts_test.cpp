// SPDX-License-Identifier: MIT
#include "skua/memory_texts.hpp"

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "skua/async.hpp"
#include "skua/idempotency.hpp"
#include "skua/router.hpp"
#include "skua/testing.hpp"

namespace skua {
namespace {

class MemoryTextsTest : public ::testing::Test {
 protected:
  std::optional<std::string> get(std::string key) { return run(texts.get(std::move(key))).value(); }
  std::optional<std::string> add(std::string key, std::string text, Duration lifetime = 1h) {
    return run(texts.add(std::move(key), std::move(text), lifetime)).value();
  }
  Result<void, Problem> replace(std::string key, std::string old, std::string text,
                                Duration lifetime = 1h) {
    return run(texts.replace(std::move(key), std::move(old), std::move(text), lifetime));
  }

  MemoryTexts texts{2'000};
};

TEST_F(MemoryTextsTest, AKeyHasOneText) {
  EXPECT_EQ(get("a"), std::nullopt);
  EXPECT_EQ(add("a", "1"), std::nullopt);
  EXPECT_EQ(add("a", "2"), "1");
  EXPECT_EQ(get("a"), "1");
  EXPECT_TRUE(replace("a", "2", "3"));
  EXPECT_EQ(get("a"), "1");
  EXPECT_TRUE(replace("a", "1", "3"));
  EXPECT_EQ(get("a"), "3");
  EXPECT_TRUE(replace("a", "3", ""));
  EXPECT_EQ(get("a"), std::nullopt);
  EXPECT_TRUE(replace("a", "", "4"));
  EXPECT_EQ(get("a"), std::nullopt);
}

TEST_F(MemoryTextsTest, TextsEnd) {
  add("short", "1", 1ms);
  add("long", "1", Duration::max());
  add("renewed", "1", 1h);
  EXPECT_TRUE(replace("renewed", "1", "2", 1ms));
  while (get("short") || get("renewed")) continue;
  EXPECT_EQ(get("long"), "1");
  EXPECT_EQ(add("short", "2"), std::nullopt);
}

// names: memory_texts.replace
TEST_F(MemoryTextsTest, TooMuchIsRefused) {
  EXPECT_EQ(add("a", std::string(1'000, 'a')), std::nullopt);
  const auto refused = run(texts.add("b", std::string(1'000, 'b'), 1h));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Errc::Overloaded);
  EXPECT_NE(refused.error().text.find("MemoryTexts"), std::string::npos) << refused.error().text;
  EXPECT_EQ(get("b"), std::nullopt);
  EXPECT_EQ(add("c", "small"), std::nullopt);
  EXPECT_FALSE(replace("c", "small", std::string(1'000, 'c')));
  EXPECT_EQ(get("c"), "small");
  EXPECT_TRUE(replace("a", std::string(1'000, 'a'), ""));
  EXPECT_TRUE(replace("c", "small", std::string(1'000, 'c')));
  EXPECT_EQ(add("d", std::string(400, 'd')), std::nullopt);
}

TEST_F(MemoryTextsTest, RequestsWithAKeyRunOnce) {
  int orders = 0;
  Router router;
  router.use(idempotency_keys({}, std::make_shared<MemoryTexts>()));
  router.post("/orders", [&](Request&) { return std::to_string(++orders); });
  for (int i = 0; i < 2; ++i) {
    testing::FakeRequest fake("POST /orders");
    fake.header("Idempotency-Key", "k1");
    EXPECT_EQ(router.handle(fake.request()).body(), "1");
  }
}

}  // namespace
}  // namespace skua
