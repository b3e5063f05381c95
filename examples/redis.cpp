// SPDX-License-Identifier: MIT
// Counts visits in Redis, which any number of servers share: `example-redis [PORT [URL]]`.
// `/live` tells browsers of each visit, whichever server had it.
#include <skua.hpp>

#include <cstdio>
#include <cstdlib>
#include <string>

using namespace skua::literals;

namespace {

skua::Task<skua::Response> visit(const skua::redis::PerThread& redis, skua::Request& request) {
  const std::string page(request.path());
  std::vector<skua::redis::Command> commands;
  commands.emplace_back("HINCRBY", "visits", page, 1);
  commands.emplace_back("PUBLISH", "visits", page);
  const auto replies = co_await redis->pipeline(commands);
  if (!replies[0]) {
    std::fprintf(stderr, "%s\n", replies[0].error().text.c_str());
    co_return skua::Status::ServiceUnavailable;
  }
  co_return skua::Response(replies[0]->to_string() + " visits of " + page + "\n");
}

skua::Task<> tell(const skua::redis::PerThread& redis, skua::EventWriter& out) {
  auto visits = co_await redis->subscribe(skua::redis::Channels().channel("visits"));
  while (visits) {
    const auto message = co_await visits->next();
    if (!message) break;
    const bool is_gap = message->kind == skua::redis::Message::Kind::Gap;
    const skua::ServerSentEvent event{.data = message->payload, .event = is_gap ? "gap" : "visit"};
    co_await out.send(event);
  }
}

}  // namespace

int main(int count, char** arguments) {
  const int port = count > 1 ? std::atoi(arguments[1]) : 8080;
  const skua::redis::PerThread redis(
      {.url = count > 2 ? arguments[2] : "redis://127.0.0.1:6379", .timeout = 2s});
  skua::Router router;
  router.get("/live", [&redis] {
    return skua::server_sent_events([&redis](skua::EventWriter& out) { return tell(redis, out); });
  });
  router.get("/{page...}", [&redis](skua::Request& request) { return visit(redis, request); });

  const skua::ShutdownSignals signals;
  skua::Server server(router, {.host = "127.0.0.1", .port = static_cast<std::uint16_t>(port)});
  server.start().value();
  std::printf("listening on %s\n", server.url().c_str());
  std::fflush(stdout);
  signals.wait_and_drain(server);
}
