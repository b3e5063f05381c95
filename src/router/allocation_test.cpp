// SPDX-License-Identifier: MIT
// Counts the allocations of this test program, to prove that requests make none.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "http/uri/target_path.hpp"
#include "router/tree.hpp"
#include "skua/router.hpp"
#include "skua/testing.hpp"

namespace {
std::atomic<std::size_t> allocations{0};
}

// Not inlined: GCC would warn of a pointer from `new` passed to free().
[[gnu::noinline]] void* operator new(std::size_t size) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  if (void* const memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace skua {
namespace {

template <class F>
std::size_t allocations_of(const F& f) {
  const std::size_t before = allocations.load();
  f();
  return allocations.load() - before;
}

Router app() {
  Router router;
  router.get("/", [] { return "Hello, world!"; });
  router.get("/users/{id}", [](int id) -> Response { return id == 7 ? "Ada" : "?"; });
  router.get("/files/{path...}", [](std::string_view path) { return path; });
  router.get("/prepared", PreparedResponse(std::string(1000, 'x')));
  router.get("/search", [](const Request& request) -> Response { return *request.query("q"); });
  router.use(
      [](const Request&, Response& response) { response.header("X-Frame-Options", "DENY"); });
  router.use([](Request&) -> std::optional<Response> { return {}; });
  return router;
}

TEST(Allocation, CountsWhatATestAllocates) {
  EXPECT_EQ(allocations_of([] { ::operator delete(::operator new(1)); }), 1U);
}

TEST(Allocation, IsNotNeededToMatchAndAnswer) {
  const Router router = app();
  for (const char* const line : {"GET /", "GET /users/7", "GET /files/a/b/c", "GET /prepared",
                                 "GET /search?q=plain", "HEAD /", "GET /none/a/b"}) {
    testing::FakeRequest fake(line);
    Request& request = fake.request();
    EXPECT_EQ(allocations_of([&] {
                EXPECT_NE(router.handle(request).header("X-Frame-Options"), std::nullopt);
              }),
              0U)
        << line;
  }
}

TEST(Allocation, IsNotNeededForACanonicalPath) {
  char scratch[32];
  EXPECT_EQ(allocations_of([&] { EXPECT_TRUE(http::canonical_path("/a/%20/../b", scratch)); }), 0U);
}

}  // namespace
}  // namespace skua
