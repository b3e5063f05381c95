// SPDX-License-Identifier: MIT
#include "server/target_cache.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "skua/router.hpp"

namespace skua::server {
namespace {

class TargetCacheTest : public ::testing::Test {
 protected:
  TargetCacheTest() {
    router_.get("/", [] { return "root"; });
    router_.get("/known", [] { return "known"; });
    router_.get(RuntimePattern("/" + std::string(63, 'f')), [] { return "full"; });
    router_.get(RuntimePattern("/" + std::string(64, 'l')), [] { return "long"; });
    router_.get("/items/{id}", [](int) { return "item"; });
  }

  // Offers what the router finds for the path, and reports whether the target is held from then on.
  bool holds(std::string_view target, std::string_view path, std::string_view query = {}) {
    TargetCache::Entry& entry = cache_.entry_for(target);
    entry.hold(Method::Get, target, path, query, router_.match(Method::Get, path));
    return entry.holds(Method::Get, target);
  }
  bool holds_path(const std::string& target) { return holds(target, target); }

  Router router_;
  TargetCache cache_;
};

TEST_F(TargetCacheTest, FindsWhatTheRouterFound) {
  const std::string target = "/known?a=b";
  const std::string_view path = std::string_view(target).substr(0, 6);
  ASSERT_TRUE(holds(target, path, std::string_view(target).substr(7)));
  const std::string again = target;
  const TargetCache::Entry& entry = cache_.entry_for(again);
  ASSERT_TRUE(entry.holds(Method::Get, again));
  EXPECT_EQ(entry.path(again), "/known");
  EXPECT_EQ(entry.path(again).data(), again.data());
  EXPECT_EQ(entry.query(again), "a=b");
  const router::Match found = router_.match(Method::Get, path);
  EXPECT_EQ(entry.match().route, found.route);
  EXPECT_EQ(entry.match().scope, found.scope);
  EXPECT_EQ(entry.match().captures.route, found.route);
  EXPECT_EQ(entry.match().captures.count, 0U);
}

TEST_F(TargetCacheTest, DistinguishesMethodsAndTargets) {
  ASSERT_TRUE(holds_path("/known"));
  EXPECT_FALSE(cache_.entry_for("/known").holds(Method::Post, "/known"));
  EXPECT_FALSE(cache_.entry_for("/nnown").holds(Method::Get, "/nnown"));
  EXPECT_FALSE(cache_.entry_for("/known?").holds(Method::Get, "/known?"));
  EXPECT_FALSE(cache_.entry_for("/").holds(Method::Get, "/"));
}

TEST_F(TargetCacheTest, HoldsOnlyShortTargetsWithARouteOfFixedText) {
  EXPECT_TRUE(holds_path("/"));
  EXPECT_TRUE(holds_path("/" + std::string(63, 'f')));
  EXPECT_FALSE(holds_path("/" + std::string(64, 'l')));
  EXPECT_FALSE(holds_path("/items/7"));
  EXPECT_FALSE(holds_path("/missing"));
}

TEST_F(TargetCacheTest, DoesNotHoldTargetsWhosePathIsElsewhere) {
  EXPECT_FALSE(holds("/%6Bnown", "/known"));
  EXPECT_FALSE(holds("?a=b", "/", "a=b"));
}

}  // namespace
}  // namespace skua::server
