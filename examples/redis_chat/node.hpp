// SPDX-License-Identifier: MIT
// A node of the chat: its options, and what it serves beside the page.
//
// | variable | default | |
// |---|---|---|
// | CHAT_HOST | 127.0.0.1 | the address of the port and of the admin port |
// | CHAT_PORT | 8080 | instead of the first argument |
// | CHAT_REDIS | none | the URL, instead of the second argument; none: this process only |
// | CHAT_CLUSTER | none | more nodes of a Redis Cluster, as 10.0.0.8:6379,10.0.0.9:6379 |
// | CHAT_NODE | chat | the name of the node, in `/status` and the field `Server` |
// | CHAT_ADMIN_PORT | 0 | of `/livez`, `/readyz` and `/metrics`; 0: any |
// | CHAT_PROXIES | none | networks of load balancers, which send PROXY headers |
// | CHAT_ORIGINS | own | origins whose pages may connect, too: https://a.example |
// | CHAT_DRAIN_DELAY | 0 | seconds that it serves on after SIGTERM; `/readyz` answers 503 |
// | CHAT_HISTORY | 1000 | messages of a room that are kept |
// | CHAT_HEARTBEAT | 5 | seconds; after three of them the people of a dead node are gone |
// | CHAT_RATE | 0 | POSTs a minute of a client, to all nodes together; 0: any number |
// | CHAT_FOLDER | examples/chat | has the page |
#pragma once

#include <skua.hpp>

#include <chrono>
#include <cstdlib>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "../chat/rooms.hpp"

namespace chat {

using namespace std::chrono_literals;

struct Node {
  std::string name{};
  skua::redis::Options redis{};  // without a URL: none
  std::string folder{};
  std::size_t history = 0;
  std::size_t rate = 0;
  std::chrono::seconds heartbeat{};
  std::vector<std::string> origins{};
  skua::ServerOptions server{};
  skua::ServerOptions admin{};
};

inline std::string variable(const char* name, const char* otherwise) {
  const char* const value = std::getenv(name);
  return value != nullptr ? value : otherwise;
}

inline int number_in(const char* name, const char* otherwise) {
  return std::atoi(variable(name, otherwise).c_str());
}

inline std::vector<std::string> list_in(const char* name) {
  std::vector<std::string> list;
  std::istringstream text(variable(name, ""));
  for (std::string word; std::getline(text, word, ',');) list.push_back(word);
  return list;
}

inline Node read_node(int count, char** arguments) {
  Node node;
  node.name = variable("CHAT_NODE", "chat");
  node.redis.url = count > 2 ? arguments[2] : variable("CHAT_REDIS", "");
  node.redis.nodes = list_in("CHAT_CLUSTER");
  if (!node.redis.nodes.empty()) node.redis.mode = skua::redis::Mode::Cluster;
  node.redis.client_name = node.name;
  node.folder = variable("CHAT_FOLDER", "examples/chat");
  node.history = static_cast<std::size_t>(number_in("CHAT_HISTORY", "1000"));
  node.heartbeat = std::chrono::seconds(number_in("CHAT_HEARTBEAT", "5"));
  node.rate = static_cast<std::size_t>(number_in("CHAT_RATE", "0"));
  node.origins = list_in("CHAT_ORIGINS");
  node.server.server_name = node.name;
  node.server.host = variable("CHAT_HOST", "127.0.0.1");
  const int port = count > 1 ? std::atoi(arguments[1]) : number_in("CHAT_PORT", "8080");
  node.server.port = static_cast<std::uint16_t>(port);
  node.server.timeouts.drain_delay = std::chrono::seconds(number_in("CHAT_DRAIN_DELAY", "0"));
  node.server.timeouts.websocket_spread = 2s;  // pages come back one after the other
  if (const std::string networks = variable("CHAT_PROXIES", ""); !networks.empty()) {
    node.server.trusted_proxies = std::make_shared<skua::TrustedProxies>(skua::ProxyRules{
        .networks = skua::parse_networks(networks).value(), .proxy_protocol = true});
  }
  const int admin_port = number_in("CHAT_ADMIN_PORT", "0");
  node.admin = skua::admin_server_options(static_cast<std::uint16_t>(admin_port));
  node.admin.host = node.server.host;
  return node;
}

/// Returns the bus that nodes share; null without Redis.
inline std::shared_ptr<skua::TopicBus> bus_of(const Node& node) {
  if (node.redis.url.empty()) return nullptr;
  return skua::redis::topic_bus(node.redis, {.history = node.history, .heartbeat = node.heartbeat});
}

/// Limits what each client may post to all nodes. While Redis is away, each node counts by itself.
inline void limit_posts(skua::Router& router, const Node& node) {
  if (node.rate == 0 || node.redis.url.empty()) return;
  const auto rates = std::make_shared<skua::redis::SharedRates>(skua::redis::PerThread(node.redis));
  const auto limit =
      skua::shared_rate_limit({.requests = node.rate, .per = 1min, .policy = "posts"}, rates);
  router.use([limit](skua::Request& request, skua::Next next) {
    return request.method() == skua::Method::Post ? limit(request, next) : next(request);
  });
}

/// Answers a POST with `{"name":...,"text":...}`. A client that got no answer sends it again, with
/// the same Idempotency-Key, to any node.
inline skua::Task<skua::Response> say(skua::Topics& topics, skua::Request& request,
                                      std::string room) {
  const std::string body = co_await request.text();
  const Json json = Json::parse(body, nullptr, false);
  if (short_text(json, "name").empty() || !json.contains("text") || !json["text"].is_string()) {
    co_return skua::Response(skua::Status::BadRequest, "a name or a text is missing\n");
  }
  std::string text = said(json["name"], json["text"]);
  std::string once(request.header("Idempotency-Key").value_or(""));
  const auto id = co_await topics.publish(std::move(room), std::move(text), std::move(once));
  if (!id) {
    co_return skua::Response(skua::Status::ServiceUnavailable, id.error().text + "\n")
        .header("Retry-After", "1");
  }
  const Json answer{{"id", *id}};
  co_return skua::Response::json(text_of(answer));
}

inline skua::Task<skua::Response> list_people(skua::Topics& topics, std::string room) {
  const auto members = co_await topics.members(std::move(room));
  if (!members) co_return skua::Status::ServiceUnavailable;
  Json names = Json::array();
  for (const skua::TopicMember& member : *members) names.push_back(member.name);
  co_return skua::Response::json(text_of(names));
}

/// Returns the measurements of a node, for Prometheus.
inline std::shared_ptr<skua::Metrics> measure(const skua::Topics& topics) {
  auto metrics = std::make_shared<skua::Metrics>();
  skua::collect_topics(*metrics, topics);
  return metrics;
}

inline skua::Response status(const skua::Topics& topics, const Node& node) {
  const auto bus = topics.check();
  return skua::Response::json(
             text_of({{"node", node.name}, {"bus", bus ? "ok" : bus.error().text}}))
      .header("Cache-Control", "no-store");
}

}  // namespace chat
