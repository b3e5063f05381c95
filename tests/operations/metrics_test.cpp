// SPDX-License-Identifier: MIT
// What Metrics says of the requests that servers have answered. On every back end, over every
// transport.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "skua.hpp"
#include "support/test_server.hpp"

namespace skua {
namespace {

using testing::Client;
using testing::get;
using testing::TestServer;

/// Returns the value of a sample as text; empty if there is none.
std::string value_of(const std::string& text, const std::string& sample) {
  const std::size_t at = text.find("\n" + sample + " ");
  if (at == text.npos) return {};
  const std::size_t begin = at + sample.size() + 2;
  return text.substr(begin, text.find('\n', begin) - begin);
}

class MetricsOfServer : public ::testing::TestWithParam<BackendChoice> {
 protected:
  MetricsOfServer() {
    router_.get("/users/{id}", [](int id) { return std::to_string(id); });
    router_.post("/users/{id}", [](const Request& request) { return std::string(request.body()); });
    router_.get("/later", []() -> Task<std::string> {
      co_await sleep(1ms);
      co_return std::string("late");
    });
    router_.get("/throws", []() -> Response { throw std::runtime_error("no"); });
    router_.websocket("/socket", [](WebSocket& socket) -> Task<> {
      while (auto message = co_await socket.receive()) static_cast<void>(message);
    });
    options_.metrics = metrics_;
    options_.http2 = testing::speaks_http2();
  }

  /// Returns the text once it has this value.
  std::string await(const std::string& sample, const std::string& value) {
    const auto end = std::chrono::steady_clock::now() + 20s;
    while (true) {
      std::string text = metrics_->text();
      const bool is_there = value_of(text, sample) == value;
      if (is_there || std::chrono::steady_clock::now() > end) {
        EXPECT_TRUE(is_there) << sample << " is not " << value << " in\n" << text;
        return text;
      }
      std::this_thread::yield();
    }
  }

  Router router_;
  std::shared_ptr<Metrics> metrics_ = std::make_shared<Metrics>();
  ServerOptions options_;
};

TEST_P(MetricsOfServer, CountRequestsByRouteMethodAndStatus) {
  TestServer server(router_, GetParam(), options_);
  Client client = server.connect();
  for (const std::string_view path :
       {"/users/1", "/users/2", "/users/x", "/later", "/throws", "/nowhere"}) {
    client.send(get(path));
    ASSERT_TRUE(client.answer()) << path;
  }
  for (int i = 0; i < 20; ++i) {
    client.send("X" + std::to_string(i) + " /users/1 HTTP/1.1\r\nHost: t\r\n\r\n");
    ASSERT_TRUE(client.answer());
  }
  client.send("POST /users/7 HTTP/1.1\r\nHost: t\r\nContent-Length: 3\r\n\r\nabc");
  ASSERT_TRUE(client.answer());
  const auto sample = [](std::string_view route, std::string_view method, std::string_view status) {
    return "http_server_requests_total{route=\"" + std::string(route) + "\",method=\"" +
           std::string(method) + "\",status=\"" + std::string(status) + "\"}";
  };
  const std::string text = await(sample("/users/{id}", "POST", "2xx"), "1");
  EXPECT_EQ(value_of(text, sample("/users/{id}", "GET", "2xx")), "2");
  EXPECT_EQ(value_of(text, sample("/users/{id}", "GET", "4xx")), "1");
  EXPECT_EQ(value_of(text, sample("/later", "GET", "2xx")), "1");
  EXPECT_EQ(value_of(text, sample("/throws", "GET", "5xx")), "1");
  EXPECT_EQ(value_of(text, sample("", "GET", "4xx")), "1");
  EXPECT_EQ(value_of(text, sample("", "_OTHER", "5xx")), "20") << "one label for all of them";
  EXPECT_EQ(text.find("X19"), text.npos);
  EXPECT_EQ(value_of(text, sample("/later", "GET", "5xx")), "");
  EXPECT_EQ(text.find("nowhere"), text.npos) << "paths are not labels";
  const std::string later = "{route=\"/later\",method=\"GET\"";
  EXPECT_EQ(value_of(text, "http_server_request_duration_seconds_count" + later + "}"), "1");
  EXPECT_EQ(
      value_of(text, "http_server_request_duration_seconds_bucket" + later + ",le=\"0.0005\"}"),
      "0");
  EXPECT_EQ(value_of(text, "http_server_request_duration_seconds_bucket" + later + ",le=\"60\"}"),
            "1");
  EXPECT_EQ(value_of(text, "http_server_handler_failures_total"), "1");
  EXPECT_EQ(value_of(text, "http_server_connections_accepted_total"), "1");
  if (testing::speaks_http2()) {
    EXPECT_EQ(value_of(text, "http_server_connections{state=\"http2\"}"), "1");
  } else {
    EXPECT_EQ(value_of(text, "http_server_connections{state=\"http1\"}"), "1");
  }
}

TEST_P(MetricsOfServer, CountCallsOfOffload) {
  std::promise<void> go;
  const std::shared_future<void> gone = go.get_future().share();
  router_.get("/blocks", [gone]() -> Task<Status> {
    const auto wait = [gone] { gone.wait(); };
    co_await offload(wait);
    co_return Status::Ok;
  });
  options_.offload_threads = 1;
  options_.offload_queue = 1;
  TestServer server(router_, GetParam(), options_);
  Client first = server.connect();
  Client second = server.connect();
  Client third = server.connect();
  first.send(get("/blocks"));
  await("http_server_offloads{state=\"running\"}", "1");
  second.send(get("/blocks"));
  await("http_server_offloads{state=\"waiting\"}", "1");
  third.send(get("/blocks"));
  EXPECT_EQ(third.answer()->status, 503);
  EXPECT_EQ(value_of(metrics_->text(), "http_server_offloads_refused_total"), "1");
  go.set_value();
  EXPECT_EQ(first.answer()->status, 200);
  EXPECT_EQ(second.answer()->status, 200);
  const std::string text = await("http_server_offloads{state=\"running\"}", "0");
  EXPECT_EQ(value_of(text, "http_server_offloads{state=\"waiting\"}"), "0");
}

TEST_P(MetricsOfServer, NameTheSlowestRouteAndTheLastError) {
  TestServer server(router_, GetParam(), options_);
  Client client = server.connect();
  for (const std::string_view path : {"/users/1", "/later", "/throws"}) {
    client.send(get(path));
    ASSERT_TRUE(client.answer());
  }
  await("http_server_handler_failures_total", "1");
  while (metrics_->routes().size() < 3 || metrics_->recent_errors().empty()) {
    std::this_thread::yield();
  }
  const std::vector<Metrics::Route> routes = metrics_->routes();
  EXPECT_TRUE(std::ranges::is_sorted(routes, std::greater(), &Metrics::Route::mean_seconds));
  const auto later = std::ranges::find(routes, "/later", &Metrics::Route::pattern);
  ASSERT_NE(later, routes.end());
  EXPECT_EQ(later->method, "GET");
  EXPECT_EQ(later->requests, 1U);
  EXPECT_GE(later->mean_seconds, 0.001);
  EXPECT_GE(later->p99_seconds, 0.001);
  const std::vector<Metrics::RecentError> errors = metrics_->recent_errors();
  ASSERT_EQ(errors.size(), 1U);
  EXPECT_EQ(errors[0].pattern, "/throws");
  EXPECT_EQ(errors[0].status, Status::InternalServerError);
}

TEST_P(MetricsOfServer, OutliveTheServer) {
  {
    TestServer server(router_, GetParam(), options_);
    Client client = server.connect();
    client.send(get("/users/1"));
    ASSERT_TRUE(client.answer());
    EXPECT_NE(metrics_->text().find("http_server_ready{server=\"" + server->url() + "\"} 1\n"),
              std::string::npos);
  }
  const std::string text = metrics_->text();
  EXPECT_EQ(value_of(text,
                     "http_server_requests_total{route=\"/users/"
                     "{id}\",method=\"GET\",status=\"2xx\"}"),
            "1");
  EXPECT_EQ(value_of(text, "http_server_requests_received_total"), "1");
  EXPECT_EQ(text.find("http_server_ready{"), text.npos);
  EXPECT_EQ(value_of(text, "http_server_connections{state=\"http1\"}"), "0");
}

TEST_P(MetricsOfServer, ForgetThePresentOfAServerThatIsGone) {
  TestServer server(router_, GetParam(), options_);
  Client client = server.connect();
  client.send(get("/users/1"));
  ASSERT_TRUE(client.answer());
  EXPECT_EQ(metrics_->counters().connections_open, 1U);
  metrics_->remove(*server);  // as by a handler that destroys its server
  EXPECT_EQ(metrics_->counters().connections_open, 0U);
  EXPECT_EQ(metrics_->counters().connections_accepted, 1U);
  EXPECT_EQ(metrics_->counters().requests, 1U);
}

TEST_P(MetricsOfServer, HaveTheMetricsOfTheProgram) {
  int orders = 0;
  metrics_->collect([&orders](MetricsText& out) {
    out.family("shop_orders", MetricType::Counter, "Orders.");
    out.sample(std::uint64_t(++orders));
  });
  EXPECT_EQ(value_of(metrics_->text(), "shop_orders_total"), "1");
  EXPECT_EQ(value_of(metrics_->text(), "shop_orders_total"), "2");
}

INSTANTIATE_TEST_SUITE_P(Backends, MetricsOfServer, ::testing::ValuesIn(testing::backends()),
                         testing::backend_name);

// The routes of admin_routes()
// ---------------------------------------------------------------------

class AdminRoutes : public ::testing::TestWithParam<BackendChoice> {
 protected:
  static testing::Answer answer(const TestServer& server, std::string_view path,
                                std::string_view fields = {}) {
    Client client = server.connect();
    client.send(get(path, fields));
    auto found = client.answer();
    EXPECT_TRUE(found) << path;
    return found ? *std::move(found) : testing::Answer();
  }
};

TEST_P(AdminRoutes, ShowMetricsInTheFormatThatIsAskedFor) {
  const auto metrics = std::make_shared<Metrics>();
  const Router router = admin_routes({.metrics = metrics});
  TestServer server(router, GetParam());
  const testing::Answer plain = answer(server, "/metrics");
  EXPECT_EQ(plain.field("Content-Type"), "text/plain; version=0.0.4; charset=utf-8");
  EXPECT_EQ(plain.field("Cache-Control"), "no-store");
  EXPECT_NE(plain.body.find("# TYPE skua_build_info gauge\n"), std::string::npos);
  const testing::Answer open = answer(
      server, "/metrics",
      "Accept: "
      "application/openmetrics-text;version=1.0.0;q=0.75,text/plain;version=0.0.4;q=0.5\r\n");
  EXPECT_EQ(open.field("Content-Type"),
            "application/openmetrics-text; version=1.0.0; charset=utf-8");
  EXPECT_TRUE(open.body.ends_with("# EOF\n"));
}

TEST_P(AdminRoutes, TellWhetherTheProgramIsReady) {
  const auto health = std::make_shared<Health>();
  std::atomic<bool> is_well{true};
  health->check("store", [&is_well]() -> Result<void, Problem> {
    if (is_well) return {};
    return Problem{Error(Errc::Closed, "store"), "line\nbroken"};
  });
  const Router router = admin_routes({.health = health});
  TestServer server(router, GetParam());
  EXPECT_EQ(answer(server, "/readyz").status, 200);
  EXPECT_EQ(answer(server, "/readyz").body, "[+] store: ok\nready\n");
  is_well = false;
  EXPECT_EQ(answer(server, "/readyz").status, 503);
  EXPECT_EQ(answer(server, "/readyz").body, "[-] store: line broken\nnot ready\n");
  EXPECT_EQ(answer(server, "/livez").status, 200);
  EXPECT_EQ(answer(server, "/metrics").status, 404) << "there are none";
}

TEST_P(AdminRoutes, HaveAPageForPeople) {
  const auto metrics = std::make_shared<Metrics>();
  const auto health = std::make_shared<Health>();
  health->check("<b>", []() -> Result<void, Problem> { return {}; });
  Router users;
  users.get("/users/{id}", [](int id) { return std::to_string(id); });
  TestServer served(users, GetParam(), {.metrics = metrics});
  answer(served, "/users/1");
  while (metrics->routes().empty()) std::this_thread::yield();
  const Router router = admin_routes({.metrics = metrics, .health = health});
  TestServer server(router, GetParam());
  const testing::Answer page = answer(server, "/");
  EXPECT_EQ(page.status, 200);
  EXPECT_NE(page.body.find("GET /users/{id}"), std::string::npos) << page.body;
  EXPECT_NE(page.body.find("&lt;b&gt;"), std::string::npos) << page.body;
  EXPECT_EQ(page.body.find("<b>"), std::string::npos) << page.body;
  EXPECT_EQ(page.body.find("<script"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Backends, AdminRoutes, ::testing::ValuesIn(testing::backends()),
                         testing::backend_name);

}  // namespace
}  // namespace skua
