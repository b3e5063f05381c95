// SPDX-License-Identifier: MIT
// ClientRequest::limit_rate: what is received and sent takes its time, and the server has to wait.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>

#include "client_fixture.hpp"

namespace skua {
namespace {

constexpr std::uint64_t rate = 200'000;
const std::string content(40'000, 'x');  // 200 ms, of which the first 50 are free
constexpr auto least_time = 140ms;

class ClientRate : public testing::ClientTest {
 protected:
  ClientRate() {
    router_.get("/content", [] { return content; });
    router_.post("/size",
                 [](const Request& request) { return std::to_string(request.body().size()); });
    router_.get("/endless", [this] {
      return Response::stream("text/plain", [this](BodyWriter& out) -> Task<> {
        while (true) {
          co_await out.write(content);
          written_bytes_ += content.size();
        }
      });
    });
  }
  void start() { began_ = std::chrono::steady_clock::now(); }
  [[nodiscard]] auto passed() const { return std::chrono::steady_clock::now() - began_; }

  std::atomic<std::uint64_t> written_bytes_ = 0;

 private:
  std::chrono::steady_clock::time_point began_;
};

TEST_P(ClientRate, ADownloadTakesItsTimeInSmallSteps) {
  std::uint64_t last = 0;
  std::uint64_t longest_step = 0;
  const auto note = [&](Progress progress) {
    longest_step = std::max(longest_step, progress.done_bytes - last);
    last = progress.done_bytes;
  };
  run([&](Client& client) -> Task<> {
    start();
    ClientRequest request = client.get(url("/content"));
    request.limit_rate(rate).on_progress(note);
    auto got = co_await std::move(request).text();
    EXPECT_EQ(got.value_or("problem"), content);
  });
  EXPECT_GE(passed(), least_time);
  EXPECT_EQ(last, content.size());
  EXPECT_LE(longest_step, rate / 20);
}

TEST_P(ClientRate, AnUploadTakesItsTime) {
  run([&](Client& client) -> Task<> {
    start();
    auto got = co_await client.post(url("/size")).body(content).limit_rate(rate).text();
    EXPECT_EQ(got.value_or("problem"), std::to_string(content.size()));
  });
  EXPECT_GE(passed(), least_time);
}

TEST_P(ClientRate, AProducedUploadTakesItsTime) {
  run([&](Client& client) -> Task<> {
    start();
    const auto produce = [](BodyWriter& out) -> Task<> { co_await out.write(content); };
    auto got =
        co_await client.post(url("/size")).stream("text/plain", produce).limit_rate(rate).text();
    EXPECT_EQ(got.value_or("problem"), std::to_string(content.size()));
  });
  EXPECT_GE(passed(), least_time);
}

// All buffers on the way hold a few MiB; without a limit there would be hundreds.
TEST_P(ClientRate, TheServerHasToWait) {
  run([&](Client& client) -> Task<> {
    auto response = co_await client.get(url("/endless")).limit_rate(rate);
    EXPECT_TRUE(response);
    if (!response) co_return;
    std::size_t received = 0;
    while (received < content.size()) {
      auto piece = co_await response->read();
      if (!piece || !*piece) break;
      received += (*piece)->size();
    }
    EXPECT_GE(received, content.size());
  });
  EXPECT_LT(written_bytes_, 32_MiB);
}

TEST_P(ClientRate, APauseEndsWithTheRequestsTime) {
  run([&](Client& client) -> Task<> {
    start();
    auto got = co_await client.get(url("/content")).limit_rate(1).timeout(100ms).text();
    EXPECT_FALSE(got);
    if (!got) {
      EXPECT_EQ(got.error().code(), Errc::TimedOut);
    }
  });
  EXPECT_LT(passed(), 5s);
}

INSTANTIATE_TEST_SUITE_P(All, ClientRate, testing::client_test_values_of_both_versions(),
                         testing::client_test_name);

}  // namespace
}  // namespace skua
