// SPDX-License-Identifier: MIT
// Uses of the client and of tasks that must not compile; see routes.cpp for the form.
#include <string>
#include <utility>
#include <vector>

#include "skua/async.hpp"
#include "skua/blocking.hpp"
#include "skua/client.hpp"
#include "skua/literals.hpp"

using namespace skua::literals;

namespace {
struct Json {
  [[nodiscard]] std::string dump() const { return "{}"; }
};
}  // namespace

skua::Task<int> number();
skua::Task<> work();
int count(int limit);
skua::Task<> uses([[maybe_unused]] skua::Client& client);
skua::Task<> waits([[maybe_unused]] skua::Client& client);
skua::Task<std::string> page([[maybe_unused]] skua::Client& client);
void calls([[maybe_unused]] skua::Client& client);

skua::Task<> uses([[maybe_unused]] skua::Client& client) {
#if CASE == 0
  // case 0: compiles
  auto posted = co_await client.post("/").header("A", "b").json(Json().dump()).timeout(5s);
  auto request = client.post("/").query("a", "b").field("c", std::string("d"));
  request.json("{}").timeout(50ms);
  request.stream("text/plain",
                 [](skua::BodyWriter& out) -> skua::Task<> { co_await out.write("x"); });
  auto text = co_await std::move(request).text();
  if (!text || !posted) co_return;
  const std::string content = *text;
#elif CASE == 1
  // case 1: a Result may be an error: test it
  std::string text = co_await client.get("/").text();
#elif CASE == 2
  // case 2: a request is sent once: co_await std::move.request.
  auto request = client.get("/");
  auto text = co_await request.text();
#elif CASE == 3
  // case 3: a request is sent once: co_await std::move.request.
  auto request = client.get("/");
  auto response = co_await request.send();
#elif CASE == 4
  // case 4: a request is made of its URL
  auto response = co_await client.post("/", "content");
#elif CASE == 5
  // case 5: a value is text: write std::to_string.number.
  auto response = co_await client.get("/").header("A", 42);
#elif CASE == 6
  // case 6: a value is text: write std::to_string.number.
  auto response = co_await client.get("/").query("a", 42);
#elif CASE == 7
  // case 7: JSON is passed as text
  auto response = co_await client.post("/").json(Json());
#elif CASE == 8
  // case 8: a duration has a unit
  auto response = co_await client.get("/").timeout(5);
#elif CASE == 10
  // case 10: a stream is produced by a coroutine
  auto response = co_await client.post("/").stream(
      "text/plain", [](skua::BodyWriter& out) { out.trailer("A", "b"); });
#elif CASE == 15
  // case 15: content is text: write std::to_string.number.
  auto response = co_await client.post("/").body(42);
#endif
  co_return;
}

skua::Task<> waits([[maybe_unused]] skua::Client& client) {
#if CASE == 0
  co_await skua::sleep(1ms);
  auto task = number();
  const int one = co_await task;
  auto all = co_await skua::when_all(number(), client.get("/").send());
  std::vector<skua::Task<int>> tasks;
  auto numbers = co_await skua::when_all(std::move(tasks));
  const auto limited = [one] { return count(one); };
  const int counted = co_await skua::offload(limited);
#elif CASE == 9
  // case 9: a duration has a unit
  co_await skua::sleep(5);
#elif CASE == 11
  // case 11: a coroutine cannot be offloaded
  auto got = co_await skua::offload(number);
#elif CASE == 12
  // case 12: offload.. takes a function without parameters
  co_await skua::offload(count, 1);
#elif CASE == 13
  // case 13: when_all.. takes tasks
  co_await skua::when_all(client.get("/a"), client.get("/b"));
#elif CASE == 14
  // case 14: deleted (function|constructor).*Task
  auto task = number();
  auto copy = task;
#endif
  co_return;
}

skua::Task<std::string> page([[maybe_unused]] skua::Client& client) {
  auto text = co_await client.get("/").text();
#if CASE == 16
  // case 16: co_return needs a value of the task's type
  co_return 42;
#elif CASE == 17
  // case 17: a Result may be an error: test it
  co_return text;
#elif CASE == 34
  // case 34: a task has a value only after it was awaited
  [](std::string_view) {}(client.get("/").text());
#elif CASE == 35
  // case 35: a task has a value only after it was awaited
  co_return std::string(page(client));
#else
  co_return text.value();
#endif
}

void calls([[maybe_unused]] skua::Client& client) {
#if CASE == 0
  skua::Client other({.base_url = "http://127.0.0.1/"});
  skua::run(uses(other));
  skua::run(waits(other));
  const int one = skua::run(number());
  const std::string text = skua::blocking::get("http://127.0.0.1/").value();
  skua::Scope scope;
  scope.spawn(work());
  other.get("/").then([](skua::Result<skua::ClientResponse, skua::Problem>) {});
  other.get("/").then([](const auto&) {});
#elif CASE == 18
  // case 18: a task has a value only after it was awaited
  std::string text = client.get("/").text();
#elif CASE == 19
  // case 19: a task has a value only after it was awaited
  auto text = client.get("/").text();
  if (text) return;
#elif CASE == 20
  // case 20: a task has a value only after it was awaited
  auto text = client.get("/").text();
  auto size = text->size();
#elif CASE == 21
  // case 21: a task has a value only after it was awaited
  const int one = number() + 1;
#elif CASE == 22
  // case 22: a request has a response only after it was awaited
  auto response = client.get("/");
  response->status();
#elif CASE == 23
  // case 23: a request has a response only after it was awaited
  auto response = client.get("/");
  if (!response) return;
#elif CASE == 24
  // case 24: a Result may be an error: test it
  std::string text = skua::blocking::get("http://127.0.0.1/");
#elif CASE == 25
  // case 25: skua::run.. takes a task
  skua::run([]() -> skua::Task<> { co_return; });
#elif CASE == 26
  // case 26: skua::run.. takes a task
  auto response = skua::run(client.get("/"));
#elif CASE == 27
  // case 27: a scope runs tasks without a value
  skua::Scope scope;
  scope.spawn(work);
#elif CASE == 28
  // case 28: a client takes options
  skua::Client other("http://127.0.0.1/");
#elif CASE == 29
  // case 29: then.. calls back with a result
  client.get("/").then([](skua::ClientResponse) {});
#elif CASE == 30
  // case 30: a request is sent once: co_await std::move.request.
  auto request = client.get("/");
  request.then([](const auto&) {});
#elif CASE == 32
  // case 32: a task does nothing until it is awaited
#pragma GCC diagnostic error "-Wunused-result"
  skua::offload([] { return 1; });
#elif CASE == 33
  // case 33: it may be an error: test it
#pragma GCC diagnostic error "-Wunused-result"
  skua::blocking::get("http://127.0.0.1/");
#elif CASE == 31
  // case 31: a task has a value only after it was awaited
  auto text = client.get("/").text().value();
#endif
}
