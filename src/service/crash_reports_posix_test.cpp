// SPDX-License-Identifier: MIT
#include "skua/crash_reports.hpp"

#include <gtest/gtest.h>
#include <signal.h>

#include <cstdlib>
#include <string>
#include <string_view>

#include "skua/async.hpp"
#include "skua/router.hpp"
#include "skua/server.hpp"
#include "support/test_server.hpp"

namespace skua {
namespace {

using testing::get;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool is_sanitized = true;
#elif defined(__has_feature)
constexpr bool is_sanitized = __has_feature(memory_sanitizer) || __has_feature(address_sanitizer) ||
                              __has_feature(thread_sanitizer);
#else
constexpr bool is_sanitized = false;
#endif

int volatile* volatile null_pointer = nullptr;
bool volatile ends = false;

// NOLINTNEXTLINE(misc-no-recursion): that is the mistake
std::string endless(int depth) {
  char volatile frame[4096] = {};
  frame[0] = static_cast<char>(depth);
  return ends ? std::string() : endless(depth + 1) + frame[0];
}

/// Asks a server with several mistakes, in a child of the test program.
void ask(std::string_view head) {
  Router router;
  router.get("/fine", [] { return "fine"; });
  router.get("/users/{id}", [](int) { return std::to_string(*null_pointer); });
  router.post("/abort", []() -> std::string { std::abort(); });
  router.get("/waits", []() -> Task<std::string> {
    co_await sleep(1ms);
    co_return std::to_string(*null_pointer);
  });
  router.get("/deep", [] { return endless(0); });
  testing::TestServer server(router, BackendChoice::Auto, {.threads = 2}, testing::Transport::Tcp);
  report_crashes(*server);
  testing::Client client = server.connect();
  client.send(get("/fine"));
  client.answer();
  client.send(head);
  client.answer();
}

class CrashReports : public ::testing::Test {
 protected:
  void SetUp() override {
    if (is_sanitized) GTEST_SKIP() << "sanitizers have reports of their own";
  }
};

TEST_F(CrashReports, NameTheRoute) {
  EXPECT_EXIT(ask(get("/users/7")), ::testing::KilledBySignal(SIGSEGV),
              "skua: SIGSEGV at 0x0; last handled on this thread: GET /users/\\{id\\}\n");
  EXPECT_EXIT(ask("POST /abort HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n"),
              ::testing::KilledBySignal(SIGABRT),
              "skua: SIGABRT; last handled on this thread: POST /abort\n");
  EXPECT_EXIT(ask(get("/waits")), ::testing::KilledBySignal(SIGSEGV),
              "skua: SIGSEGV at 0x0; last handled on this thread: GET /waits\n");
}

#if defined(__GLIBC__)
TEST_F(CrashReports, ListTheCalls) {
  EXPECT_EXIT(ask(get("/users/7")), ::testing::KilledBySignal(SIGSEGV),
              "\\{id\\}\n.*test-service.*\n");
}
#endif

TEST_F(CrashReports, WorkWithoutAStack) {
  EXPECT_EXIT(ask(get("/deep")), ::testing::KilledBySignal(SIGSEGV),
              "skua: SIGSEGV at 0x[0-9a-f]+; last handled on this thread: GET /deep\n");
}

TEST_F(CrashReports, NeedNoRequest) {
  const auto die = [](int signal) {
    report_crashes();
    ::raise(signal);
  };
  EXPECT_EXIT(die(SIGBUS), ::testing::KilledBySignal(SIGBUS), "skua: SIGBUS\n");
  EXPECT_EXIT(die(SIGFPE), ::testing::KilledBySignal(SIGFPE), "skua: SIGFPE\n");
  EXPECT_EXIT(die(SIGILL), ::testing::KilledBySignal(SIGILL), "skua: SIGILL\n");
  EXPECT_EXIT(die(SIGABRT), ::testing::KilledBySignal(SIGABRT), "skua: SIGABRT\n");
}

}  // namespace
}  // namespace skua
