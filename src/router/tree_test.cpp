// SPDX-License-Identifier: MIT
#include "router/tree.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace skua::router {
namespace {

// A tree of patterns; each route is known by its pattern.
class Patterns {
 public:
  Patterns& add(std::string_view pattern, MethodSet methods = bit(Method::Get),
                bool is_any = false) {
    auto route = std::make_unique<Route>();
    route->pattern = pattern;
    route->methods = is_any ? MethodSet{} : methods;
    route->is_any = is_any;
    route->where = std::source_location::current();
    tree_.add(pattern, *route);
    routes_.push_back(std::move(route));
    return *this;
  }

  // Returns the matching pattern and the values of its wildcards: `/a/{b} x`.
  [[nodiscard]] std::string find(std::string_view path, Method method = Method::Get) const {
    Match match;
    tree_.find(method, path, match);
    if (match.route == nullptr) return "none " + std::to_string(match.allowed);
    std::string text = match.route->pattern;
    for (std::size_t i = 0; i < match.captures.count; ++i)
      text.append(" ").append(match.captures[i]);
    return text;
  }

 private:
  std::vector<std::unique_ptr<Route>> routes_;
  Tree tree_;
};

TEST(Tree, MatchesLiterals) {
  Patterns patterns;
  patterns.add("/").add("/a").add("/a/").add("/a/b");
  for (const char* const path : {"/", "/a", "/a/", "/a/b"}) EXPECT_EQ(patterns.find(path), path);
  for (const char* const path : {"/b", "/a/b/", "/a/c", "/A", "*"})
    EXPECT_EQ(patterns.find(path), "none 0") << path;
}

TEST(Tree, MatchesOneSegmentThatIsNotEmpty) {
  Patterns patterns;
  patterns.add("/u/{id}").add("/u/{id}/posts/{post}").add("/u/{id}/");
  EXPECT_EQ(patterns.find("/u/7"), "/u/{id} 7");
  EXPECT_EQ(patterns.find("/u/7/"), "/u/{id}/ 7");
  EXPECT_EQ(patterns.find("/u/7/posts/x y"), "/u/{id}/posts/{post} 7 x y");
  EXPECT_EQ(patterns.find("/u/"), "none 0");
  EXPECT_EQ(patterns.find("/u"), "none 0");
  EXPECT_EQ(patterns.find("/u/7/posts/"), "none 0");
}

TEST(Tree, MatchesTheRestAlsoWhenItIsEmpty) {
  Patterns patterns;
  patterns.add("/f/{path...}");
  EXPECT_EQ(patterns.find("/f/a/b.c"), "/f/{path...} a/b.c");
  EXPECT_EQ(patterns.find("/f/a/"), "/f/{path...} a/");
  EXPECT_EQ(patterns.find("/f/"), "/f/{path...} ");
  EXPECT_EQ(patterns.find("/f"), "none 0");
}

TEST(Tree, PrefersTheMoreSpecificSegment) {
  Patterns patterns;
  patterns.add("/{x...}").add("/{x}").add("/a").add("/a/{x}").add("/a/b").add("/a/{x...}");
  EXPECT_EQ(patterns.find("/a"), "/a");
  EXPECT_EQ(patterns.find("/b"), "/{x} b");
  EXPECT_EQ(patterns.find("/a/b"), "/a/b");
  EXPECT_EQ(patterns.find("/a/c"), "/a/{x} c");
  EXPECT_EQ(patterns.find("/a/c/d"), "/a/{x...} c/d");
  EXPECT_EQ(patterns.find("/b/c"), "/{x...} b/c");
  EXPECT_EQ(patterns.find("/"), "/{x...} ");
}

TEST(Tree, GoesBackWhereABranchEndsInNothing) {
  Patterns patterns;
  patterns.add("/a/{x}/c").add("/a/b/d").add("/{p}/b/{q}/e").add("/{r...}");
  EXPECT_EQ(patterns.find("/a/b/d"), "/a/b/d");
  EXPECT_EQ(patterns.find("/a/b/c"), "/a/{x}/c b");
  EXPECT_EQ(patterns.find("/a/b/c/e"), "/{p}/b/{q}/e a c");
  EXPECT_EQ(patterns.find("/a/b/c/f"), "/{r...} a/b/c/f");
}

TEST(Tree, GoesOnToALessSpecificRouteForAnotherMethod) {
  Patterns patterns;
  patterns.add("/u/me").add("/u/{id}", bit(Method::Delete)).add("/u/{rest...}", bit(Method::Put));
  EXPECT_EQ(patterns.find("/u/me"), "/u/me");
  EXPECT_EQ(patterns.find("/u/me", Method::Delete), "/u/{id} me");
  EXPECT_EQ(patterns.find("/u/me", Method::Put), "/u/{rest...} me");
  const unsigned all =
      bit(Method::Get) | bit(Method::Head) | bit(Method::Delete) | bit(Method::Put);
  EXPECT_EQ(patterns.find("/u/me", Method::Post), "none " + std::to_string(all));
}

TEST(Tree, LetsHeadFollowGetAndOwnRoutesComeBeforeAny) {
  Patterns patterns;
  patterns.add("/a")
      .add("/b")
      .add("/b", bit(Method::Head))
      .add("/c", 0, true)
      .add("/c", bit(Method::Post));
  EXPECT_EQ(patterns.find("/a", Method::Head), "/a");
  EXPECT_EQ(patterns.find("/b", Method::Head), "/b");
  EXPECT_EQ(patterns.find("/c", Method::Patch), "/c");
  EXPECT_EQ(patterns.find("/c", Method::Post), "/c");
}

TEST(Tree, FindsEachOfManyPaths) {
  Patterns patterns;
  std::vector<std::string> paths;
  for (int i = 0; i < 1000; ++i) paths.push_back("/some/long/path/number/" + std::to_string(i * 7));
  for (const std::string& path : paths) patterns.add(path);
  for (const std::string& path : paths) EXPECT_EQ(patterns.find(path), path);
  EXPECT_EQ(patterns.find("/some/long/path/number/1"), "none 0");
}

TEST(Tree, RefusesASecondRouteForTheSameMethod) {
  Patterns patterns;
  patterns.add("/a/{b}").add("/a/{b...}").add("/c", 0, true);
  EXPECT_THROW(patterns.add("/a/{c}"), std::invalid_argument);
  EXPECT_THROW(patterns.add("/a/{c...}"), std::invalid_argument);
  EXPECT_THROW(patterns.add("/c", 0, true), std::invalid_argument);
  EXPECT_NO_THROW(patterns.add("/a/{c}", bit(Method::Post)));
}

}  // namespace
}  // namespace skua::router
