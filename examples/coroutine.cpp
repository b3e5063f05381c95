// SPDX-License-Identifier: MIT
// Handlers that wait for time, another thread or each other, without a thread of their own.
#include <skua.hpp>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <tuple>

using namespace skua::literals;

namespace {

std::uint64_t sum_of_divisors(std::uint64_t number) {  // slow on purpose
  std::uint64_t sum = 0;
  for (std::uint64_t n = 1; n <= number; ++n) sum += number % n == 0 ? n : 0;
  return sum;
}

skua::Task<int> price_of(int item) {  // stands for a database query
  co_await skua::sleep(50ms);
  co_return item * 3;
}

}  // namespace

int main(int count, char** arguments) {
  skua::Router router;
  router.get("/wait/{ms}", [](std::uint32_t ms) -> skua::Task<std::string> {
    co_await skua::sleep(std::chrono::milliseconds(ms));
    co_return "waited for " + std::to_string(ms) + " ms\n";
  });
  // Work that computes or blocks goes to a thread pool, so that other requests are still served.
  router.get("/divisors/{n}", [](std::uint64_t n) -> skua::Task<std::string> {
    const auto compute = [n] { return sum_of_divisors(n); };
    const std::uint64_t sum = co_await skua::offload(compute);
    co_return std::to_string(sum) + "\n";
  });
  router.get("/sum", []() -> skua::Task<std::string> {
    const auto [one, other] = co_await skua::when_all(price_of(4), price_of(10));
    co_return std::to_string(one + other) + "\n";
  });
  // A coroutine around all handlers.
  router.use([](skua::Request& request, skua::Next next) -> skua::Task<skua::Response> {
    const auto begin = std::chrono::steady_clock::now();
    skua::Response response = co_await next(request);
    const auto took = (std::chrono::steady_clock::now() - begin) / 1ms;
    response.header("Server-Timing", "total;dur=" + std::to_string(took));
    co_return response;
  });

  const int port = count > 1 ? std::atoi(arguments[1]) : 8080;
  const skua::ShutdownSignals signals;
  skua::Server server(router, {.host = "127.0.0.1", .port = static_cast<std::uint16_t>(port)});
  server.start().value();
  std::printf("listening on %s\n", server.url().c_str());
  std::fflush(stdout);
  signals.wait_and_drain(server);
}
