// SPDX-License-Identifier: MIT
// The guards and finishers of a path: mounts x routes that match below them x methods x spellings.
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "skua/router.hpp"
#include "skua/testing.hpp"

namespace skua {
namespace {

using testing::call;

/// How often each half of a middleware was called.
struct Calls {
  int guards = 0;
  int finishers = 0;
};

class Locked {
 public:
  explicit Locked(Calls& calls) noexcept : calls_(&calls) {}
  std::optional<Response> guard(Request&) const {
    ++calls_->guards;
    return Status::Unauthorized;
  }
  void finish(const Request&, Response&) const { ++calls_->finishers; }

 private:
  Calls* calls_;
};

Router locked(Calls& calls) {
  Router router;
  router.use(Locked(calls));
  router.get("/known", [] { return "a secret"; });
  return router;
}

/// Routes of a router beside its mount; each would take paths below the mount.
struct Other {
  std::string_view name;
  std::function<void(Router&)> add;
};

const std::vector<Other>& others() {
  static const std::vector<Other> all = {
      {"nothing", [](Router&) {}},
      {"GET the rest", [](Router& r) { r.get("/{path...}", [] { return "leaked"; }); }},
      {"POST the rest", [](Router& r) { r.post("/{path...}", [] { return "leaked"; }); }},
      {"any the rest", [](Router& r) { r.any("/{path...}", [] { return "leaked"; }); }},
      {"the rest below", [](Router& r) { r.any("/private/{path...}", [] { return "leaked"; }); }},
      {"a segment", [](Router& r) { r.any("/{folder}/{file}", [] { return "leaked"; }); }},
      {"a literal", [](Router& r) { r.any("/private/secret.txt", [] { return "leaked"; }); }},
      {"the prefix", [](Router& r) { r.any("/private", [] { return "leaked"; }); }},
      {"a coroutine",
       [](Router& r) { r.get("/{path...}", []() -> Task<std::string> { co_return "leaked"; }); }},
      {"a WebSocket",
       [](Router& r) { r.websocket("/{path...}", [](WebSocket&) -> Task<> { co_return; }); }},
      {"an open mount",
       [](Router& r) {
         Router open;
         open.any("/{path...}", [] { return "leaked"; });
         r.mount("/private/secret.txt", std::move(open));
       }},
      {"an open mount beside it",
       [](Router& r) {
         Router open;
         open.any("/{path...}", [] { return "leaked"; });
         r.mount("/private", std::move(open));
       }},
  };
  return all;
}

constexpr std::array<std::string_view, 9> methods = {
    "GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT"};
constexpr std::array<std::string_view, 11> paths_below = {
    "/private",         "/private/",           "/private/known",      "/private/secret.txt",
    "/private/a/b/c",   "/%70rivate/known",    "/./private/known",    "/x/../private/known",
    "/private/./known", "/private/x/%2e%2e/y", "/private/known?a=/b",
};
constexpr std::array<std::string_view, 5> paths_beside = {"/", "/privateer", "/privat",
                                                          "/private/../public", "/public/private"};

std::string describe(std::string_view method, std::string_view path, const Other& other,
                     bool is_mounted_last) {
  return std::string(method)
      .append(" ")
      .append(path)
      .append(" with ")
      .append(other.name)
      .append(is_mounted_last ? " before" : " after")
      .append(" the mount");
}

// Guards see every path below a mount and none beside it, whatever else matches, in any order.
TEST(Guards, OwnWhatIsBelowTheirMount) {
  for (const Other& other : others()) {
    for (const bool is_mounted_last : {false, true}) {
      Calls calls;
      Router router;
      if (is_mounted_last) other.add(router);
      router.mount("/private", locked(calls));
      if (!is_mounted_last) other.add(router);
      for (const std::string_view method : methods) {
        for (const std::string_view path : paths_below) {
          SCOPED_TRACE(describe(method, path, other, is_mounted_last));
          const Calls before = calls;
          const Response response = call(router, std::string(method).append(" ").append(path));
          EXPECT_EQ(response.status(), Status::Unauthorized);
          EXPECT_EQ(calls.guards, before.guards + 1);
          EXPECT_EQ(calls.finishers, before.finishers + 1);
        }
        for (const std::string_view path : paths_beside) {
          SCOPED_TRACE(describe(method, path, other, is_mounted_last));
          const Calls before = calls;
          const Response response = call(router, std::string(method).append(" ").append(path));
          EXPECT_NE(response.status(), Status::Unauthorized);
          EXPECT_EQ(calls.guards, before.guards);
          EXPECT_EQ(calls.finishers, before.finishers);
        }
      }
    }
  }
}

auto note(std::string& trace, char mark) {
  return [&trace, mark](Request&) -> std::optional<Response> {
    trace.push_back(mark);
    return std::nullopt;
  };
}

// A path passes all mounts around it, from outside inwards, in whatever order they were mounted.
TEST(Guards, OfNestedMountsComeFromOutsideInwards) {
  std::string trace;
  const auto marked = [&](char mark) {
    Router router;
    router.use(note(trace, mark));
    return router;
  };
  Router router;
  router.use(note(trace, 'r'));
  router.mount("/a/b", marked('b'));  // before the mount around it
  router.mount("/a", marked('a'));
  Router deep = marked('d');
  deep.mount("/e", marked('e'));
  router.mount("/a/b/c", std::move(deep));
  router.mount("/a", marked('A'));  // once more
  const auto passed = [&](std::string_view line) {
    trace.clear();
    (void)call(router, line);
    return trace;
  };
  EXPECT_EQ(passed("GET /"), "r");
  EXPECT_EQ(passed("GET /a"), "raA");
  EXPECT_EQ(passed("GET /a/x"), "raA");
  EXPECT_EQ(passed("GET /a/b/x"), "raAb");
  EXPECT_EQ(passed("GET /a/bc"), "raA");
  EXPECT_EQ(passed("GET /a/b/c/e/f"), "raAbde");
}

// A coroutine around a mount is also around other routers' routes below it.
TEST(Guards, CoroutinesOwnWhatIsBelowTheirMountToo) {
  Router inner;
  inner.use([](Request& request, Next next) -> Task<Response> {
    Response response = co_await next(request);
    response.header("Around", "yes");
    co_return response;
  });
  Router router;
  router.get("/{path...}", [] { return "the rest"; });
  router.mount("/private", std::move(inner));
  const Response below = call(router, "GET /private/x");
  EXPECT_EQ(below.body(), "the rest");
  EXPECT_EQ(below.header("Around"), "yes");
  EXPECT_FALSE(call(router, "GET /x").header("Around"));
}

}  // namespace
}  // namespace skua
