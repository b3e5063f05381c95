// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "router/tree.hpp"
#include "skua/router.hpp"
#include "skua/testing.hpp"

namespace skua {
namespace {

using testing::call;
using testing::FakeRequest;

// Appends a letter to the field `trace`, so that the order shows.
auto mark(char letter) {
  return [letter](const Request&, Response& response) {
    const std::string trace(response.header("trace").value_or(""));
    response.header("trace", trace + letter);
  };
}

auto guard(std::string& log, char letter) {
  return [&log, letter](Request&) -> std::optional<Response> {
    log += letter;
    return std::nullopt;
  };
}

TEST(Middleware, AnswersEarlyOrLetsThrough) {
  Router router;
  router.use([](const Request& request) -> std::optional<Response> {
    if (request.header("Authorization")) return std::nullopt;
    return Status::Unauthorized;
  });
  router.get("/", [] { return "in"; });
  EXPECT_EQ(call(router, "GET /").status(), Status::Unauthorized);
  EXPECT_EQ(call(router, "GET /unknown").status(), Status::Unauthorized)
      << "a guard hides what exists";
  FakeRequest fake("GET /");
  fake.header("authorization", "x");
  EXPECT_EQ(router.handle(fake.request()).body(), "in");
}

TEST(Middleware, AmendsEveryResponse) {
  Router router;
  router.get("/", [] { return "x"; }).get("/prepared", PreparedResponse("x"));
  router.use(mark('a'));
  for (const char* const line :
       {"GET /", "GET /prepared", "GET /none", "POST /", "OPTIONS /", "OPTIONS *"}) {
    EXPECT_EQ(call(router, line).header("trace"), "a") << line;
  }
}

TEST(Middleware, RunsGuardsFromOutsideAndFinishersFromInside) {
  std::string log;
  Router inner;
  inner.use(guard(log, '3')).use(guard(log, '4')).use(mark('c')).use(mark('d'));
  inner.get("/x", [] { return "x"; });
  Router outer;
  outer.mount("/in", std::move(inner));
  outer.use(guard(log, '1')).use(guard(log, '2')).use(mark('a')).use(mark('b'));
  outer.get("/out", [] { return "out"; });
  EXPECT_EQ(call(outer, "GET /in/x").header("trace"), "cdab");
  EXPECT_EQ(log, "1234");
  log.clear();
  EXPECT_EQ(call(outer, "GET /out").header("trace"), "ab");
  EXPECT_EQ(log, "12");
}

TEST(Middleware, ConcernsUnknownPathsBelowAMountToo) {
  Router inner;
  inner.use([](Request&) -> std::optional<Response> { return Status::Unauthorized; });
  inner.get("/x", [] { return "x"; });
  Router outer;
  outer.mount("/admin", std::move(inner));
  EXPECT_EQ(call(outer, "GET /admin/none").status(), Status::Unauthorized);
  EXPECT_EQ(call(outer, "GET /admin").status(), Status::Unauthorized);
  EXPECT_EQ(call(outer, "POST /admin/x").status(), Status::Unauthorized);
  EXPECT_EQ(call(outer, "GET /administrator").status(), Status::NotFound);
}

TEST(Middleware, FinishesAnEarlyResponse) {
  Router router;
  router.use(mark('a')).use([](Request&) -> std::optional<Response> { return "early"; });
  router.get("/", []() -> Response { throw std::runtime_error("not reached"); });
  EXPECT_EQ(call(router, "GET /").body(), "early");
  EXPECT_EQ(call(router, "GET /").header("trace"), "a");
}

// Counts requests in flight; guard and finisher must see the same object.
class InFlight {
 public:
  explicit InFlight(std::string refused) : refused_(std::move(refused)) {}
  std::optional<Response> guard(Request& request) const {
    ++*count_;
    if (request.path() == refused_) return Status::Forbidden;
    return std::nullopt;
  }
  void finish(const Request&, Response& response) const {
    response.header("in-flight", std::to_string((*count_)--));
  }

 private:
  std::string refused_;
  std::unique_ptr<int> count_ = std::make_unique<int>(0);
};

TEST(Middleware, APairGuardsAndFinishesAsOneObject) {
  Router router;
  router.use(InFlight("/secret"));  // moved: it cannot be copied
  router.get("/", [] { return "x"; });
  EXPECT_EQ(call(router, "GET /").body(), "x");
  EXPECT_EQ(call(router, "GET /").header("in-flight"), "1");
  EXPECT_EQ(call(router, "GET /secret").status(), Status::Forbidden);
  EXPECT_EQ(call(router, "GET /secret").header("in-flight"), "1");
}

struct Stateless {
  static std::optional<Response> guard(Request&) { return "early"; }
  static void finish(const Request&, Response& response) { response.header("trace", "x"); }
};

TEST(Middleware, APairMayHaveNoState) {
  Router router;
  const Stateless pair;
  router.use(pair);
  EXPECT_EQ(call(router, "GET /").body(), "early");
  EXPECT_EQ(call(router, "GET /").header("trace"), "x");
}

}  // namespace
}  // namespace skua
