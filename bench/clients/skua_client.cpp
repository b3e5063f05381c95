// SPDX-License-Identifier: MIT
//
// In: a URL and the numbers of connections and requests. Out: their cost, as one line of JSON.
// The idea: a coroutine per connection, which repeats its request once it has read the response as
// one text. With --post it sends content instead and prints percentiles of the response times: a
// client that sends head and content in two small packets waits 40 ms for the first's ACK.

#include "measured.hpp"

#include "loop/loop.hpp"
#include "loop/worker_pool.hpp"
#include "skua.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace bench::clients {
namespace {

using Clock = std::chrono::steady_clock;
using Milliseconds = std::chrono::duration<double, std::milli>;
using namespace std::chrono_literals;

struct Options {
  Plan plan;
  std::string backend = "epoll";
  std::size_t post_bytes = 0;
};

void expect_ok(const skua::Result<skua::ClientResponse, skua::Problem>& response) {
  if (!response) throw std::runtime_error(response.error().text);
  if (response->status() != skua::Status::Ok) throw std::runtime_error("a response was not 200");
}

// State shared by the connections of a load.
struct Load {
  skua::Client& client;
  const Options& options;
  std::size_t left = 0;
  Measurement measurement{};
};

skua::Task<> get(Load& load) {
  while (load.left != 0) {
    --load.left;
    skua::Result<skua::ClientResponse, skua::Problem> response =
        co_await load.client.get(load.options.plan.url);
    expect_ok(response);
    const skua::Result<std::string, skua::Problem> text = co_await response->text();
    if (!text) throw std::runtime_error(text.error().text);
    load.measurement.add(text->size());
  }
}

void print(std::vector<Milliseconds> times) {
  std::sort(times.begin(), times.end());
  const auto at = [&](double part) {
    return times[static_cast<std::size_t>(part * static_cast<double>(times.size() - 1))].count();
  };
  const auto delayed = std::count_if(
      times.begin(), times.end(), [](Milliseconds time) { return time >= 35ms && time <= 50ms; });
  std::printf(
      "{\"requests\": %zu, \"p50_ms\": %.3f, \"p99_ms\": %.3f, \"max_ms\": %.3f, \"delayed\": "
      "%td}\n",
      times.size(), at(0.5), at(0.99), at(1), delayed);
}

// Sends the POSTs one after the other.
skua::Task<> post(skua::Client& client, const Options& options) {
  const std::string content(options.post_bytes, 'c');
  std::vector<Milliseconds> times;
  for (std::size_t i = 0; i < options.plan.requests; ++i) {
    const Clock::time_point began = Clock::now();
    skua::ClientRequest request = client.post(options.plan.url);
    request.body(content);
    skua::Result<skua::ClientResponse, skua::Problem> response = co_await std::move(request);
    expect_ok(response);
    const skua::Result<std::string, skua::Problem> text = co_await response->text();
    if (!text) throw std::runtime_error(text.error().text);
    times.emplace_back(Clock::now() - began);
  }
  print(std::move(times));
}

skua::Task<> run_client(const Options& options) {
  skua::ClientOptions told;
  told.connections_per_host = options.plan.connections;
  told.connections = options.plan.connections;
  told.decompress = false;  // none of the clients asks for compressed content
  skua::Client client(told);
  if (options.post_bytes != 0) {
    co_await post(client, options);
  } else {
    Load load{.client = client, .options = options, .left = options.plan.requests};
    skua::Scope connections;
    for (std::size_t i = 0; i < options.plan.connections; ++i) connections.spawn(get(load));
    co_await connections.join();
    load.measurement.print();
  }
  co_await client.close();
}

// Like skua::run, but on the given back end.
void drive(skua::Task<> task, skua::BackendChoice kind) {
  const std::unique_ptr<skua::loop::Loop> loop =
      skua::loop::Loop::create({.backend = kind}).value();
  skua::loop::WorkerPool pool(1, 64);  // resolves names
  loop->use_pool(&pool);
  loop->post([&task] { task.start(nullptr, nullptr); });
  loop->run_once(skua::Duration(0));
  while (!task.is_done()) loop->run_once(skua::Duration(-1));
  task.result();
}

int run(int argc, char** argv) {
  Options options;
  CLI::App app("Sends requests to a server with skua's client; prints their cost.");
  app.add_option("--url", options.plan.url, "URL to request")->required();
  app.add_option("--connections", options.plan.connections, "Connections, each always busy")
      ->check(CLI::Range(1, 10000));
  app.add_option("--requests", options.plan.requests, "Requests on all connections together")
      ->check(CLI::PositiveNumber);
  app.add_option("--backend", options.backend, "Back end of the event loop")
      ->check(CLI::IsMember({"epoll", "io_uring", "poll"}));
  app.add_option("--post", options.post_bytes, "POST this many bytes instead, one after the other");
  CLI11_PARSE(app, argc, argv);
  drive(run_client(options),
        skua::parse_backend(options.backend).value_or(skua::BackendChoice::Epoll));
  return 0;
}

}  // namespace
}  // namespace bench::clients

int main(int argc, char** argv) {
  try {
    return bench::clients::run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "skua-bench-client: %s\n", error.what());
    return 1;
  }
}
