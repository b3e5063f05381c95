// SPDX-License-Identifier: MIT
// The chat of chat.cpp, on one process, or on any number of them that share a Redis. A node of it
// stands behind a load balancer. Usage: `example-redis_chat [PORT [REDIS_URL]]`;
// redis_chat/node.hpp has the variables of the environment.
#include <skua.hpp>

#include <cstdio>
#include <memory>

#include "chat/rooms.hpp"
#include "redis_chat/node.hpp"

using namespace skua::literals;  // 10s

namespace {

using Request = skua::Request;

void add_routes(skua::Router& router, skua::Topics& topics, const chat::Node& node) {
  chat::limit_posts(router, node);
  router.websocket("/chat",
                   [&topics](skua::WebSocket& socket) { return chat::talk(topics, socket); },
                   {.message_bytes = 4096, .origins = node.origins});
  router.get("/rooms/{room}/events", [&topics](const Request& request, std::string_view room) {
    return topics.events(request, std::string(room));
  });
  router.get("/rooms/{room}/poll", [&topics](Request& request, std::string room) {
    return topics.poll(request, std::move(room), {.wait = 10s});
  });
  router.post("/rooms/{room}", [&topics](Request& request, std::string room) {
    return chat::say(topics, request, std::move(room));
  });
  router.get("/rooms/{room}/people", [&topics](Request&, std::string room) {
    return chat::list_people(topics, std::move(room));
  });
  router.get("/status", [&topics, &node] { return chat::status(topics, node); });
  router.get("/{path...}", skua::FileHandler::open(node.folder).value());
}

}  // namespace

int main(int count, char** arguments) {
  chat::Node node = chat::read_node(count, arguments);
  const skua::ShutdownSignals signals;  // before any thread, also that of the bus
  skua::Topics topics(chat::bus_of(node), {.history = node.redis.url.empty() ? node.history : 0});
  skua::Router router;
  add_routes(router, topics, node);
  const auto metrics = chat::measure(topics);
  node.server.metrics = metrics;
  skua::Server server(router, node.server);
  const auto health = std::make_shared<skua::Health>();
  health->watch(server);
  const skua::Router admin = skua::admin_routes({.metrics = metrics, .health = health});
  skua::Server admin_server(admin, node.admin);
  server.start().value();
  admin_server.start().value();
  std::printf("listening on %s\nadmin on %s\n", server.url().c_str(), admin_server.url().c_str());
  std::fflush(stdout);
  signals.wait_and_drain(server);
}
