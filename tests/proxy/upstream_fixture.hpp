// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "proxy/proxy_fixture.hpp"
#include "skua.hpp"
#include "support/test_server.hpp"
#include "support/wait_until.hpp"

namespace skua::testing {

/// A proxy on the transport under test, in front of a group of servers.
class Gateway {
 public:
  explicit Gateway(BackendChoice backend) : backend_(backend) {
    options.name = "shop";
    options.balance.by = Balance::RoundRobin;  // the first target gets the first request
    options.log = [this](LogLevel level, std::string_view line) { note(level, line); };
    server_options.hooks.log = options.log;
  }
  Gateway(const Gateway&) = delete;
  Gateway& operator=(const Gateway&) = delete;
  ~Gateway() { front_.reset(); }  // before what its tasks refer to

  void add(std::uint16_t port) {
    options.targets.push_back({.url = "http://127.0.0.1:" + std::to_string(port)});
  }
  template <class Server>
  void add(const Server& server) {
    add(server.port());
  }
  [[nodiscard]] std::size_t size() const { return options.targets.size(); }

  /// The proxy; its options are complete once this is called. All of `/api` is passed on.
  TestServer& front() {
    if (front_) return *front_;
    upstream_ = std::make_unique<Upstream>(options);
    metrics_ = std::make_shared<Metrics>();
    collect_upstreams(*metrics_, {*upstream_});
    reverse_proxy(router, "/api", *upstream_, proxy_options);
    front_ = std::make_unique<TestServer>(router, backend_, server_options);
    return *front_;
  }
  Client connect() { return front().connect(); }
  /// Sends a request on a connection of its own; nullopt if the response is cut off.
  std::optional<Answer> ask(std::string_view request) {
    Client client = connect();
    client.send(request);
    return client.answer();
  }
  int status_of(std::string_view request) {
    const std::optional<Answer> answer = ask(request);
    return answer ? answer->status : 0;
  }
  std::string body_of(std::string_view request) {
    const std::optional<Answer> answer = ask(request);
    return answer ? answer->body : "<cut off>";
  }

  [[nodiscard]] const Upstream& upstream() const { return *upstream_; }
  std::string log() {
    const std::lock_guard lock(mutex_);
    return log_;
  }
  /// Returns the value of a sample, as in `name{upstream="shop"}`; 0 if there is none.
  [[nodiscard]] int metric(const std::string& sample) const {
    const std::string text = "\n" + metrics_->text();
    const std::size_t begin = text.find("\n" + sample + " ");
    return begin == text.npos ? 0 : std::stoi(text.substr(begin + sample.size() + 2));
  }
  /// Returns how many requests to a target ended like this.
  [[nodiscard]] int requests(std::size_t target, std::string_view result) const {
    return metric("skua_upstream_requests_total{upstream=\"shop\",target=\"" + name_of(target) +
                  "\",result=\"" + std::string(result) + "\"}");
  }
  [[nodiscard]] int of_target(const std::string& family, std::size_t target) const {
    return metric(family + "{upstream=\"shop\",target=\"" + name_of(target) + "\"}");
  }
  [[nodiscard]] int of_group(const std::string& family) const {
    return metric(family + "{upstream=\"shop\"}");
  }
  [[nodiscard]] int refused(const std::string& why) const {
    return metric("skua_upstream_refused_total{upstream=\"shop\",why=\"" + why + "\"}");
  }
  [[nodiscard]] std::string name_of(std::size_t target) const {
    const std::string& url = options.targets[target].url;
    return url.substr(url.find("//") + 2);
  }

  UpstreamOptions options;
  ReverseProxyOptions proxy_options;
  ServerOptions server_options;
  Router router;

 private:
  void note(LogLevel level, std::string_view line) {
    if (level < LogLevel::Warning) return;  // of the machine
    const std::lock_guard lock(mutex_);
    log_.append(line).append("\n");
  }

  const BackendChoice backend_;
  std::mutex mutex_;
  std::string log_;
  std::unique_ptr<Upstream> upstream_;
  std::shared_ptr<Metrics> metrics_;
  std::unique_ptr<TestServer> front_;
};

/// A server that answers `/api` with its name.
class NamedServer {
 public:
  explicit NamedServer(std::string name, ServerOptions options = {}) {
    router_.any("/api/{path...}", [name](std::string_view) { return name; });
    router_.any("/api", [name] { return name; });
    server_ = std::make_unique<TestServer>(router_, BackendChoice::Auto, std::move(options),
                                           Transport::Tcp);
  }
  [[nodiscard]] std::uint16_t port() const { return server_->port(); }

 private:
  Router router_;
  std::unique_ptr<TestServer> server_;
};

}  // namespace skua::testing
