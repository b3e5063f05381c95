// SPDX-License-Identifier: MIT
// A shop that operators can watch: a log with a line for each response, and, on an address of their
// own, metrics for Prometheus, probes for a load balancer, and a page for people.
#include <skua.hpp>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

namespace {

int fail(const std::string& text) {
  std::fprintf(stderr, "%s\n", text.c_str());
  return 1;
}

}  // namespace

int main(int count, char** arguments) {
  const auto port = static_cast<std::uint16_t>(count > 1 ? std::atoi(arguments[1]) : 8080);
  const auto admin_port = static_cast<std::uint16_t>(count > 2 ? std::atoi(arguments[2]) : 9090);
  std::atomic<std::uint64_t> orders{0};
  skua::Router router;
  router.post("/orders/{item}", [&orders](std::string_view item) {
    return "order " + std::to_string(++orders) + ": " + std::string(item) + "\n";
  });

  const auto metrics = std::make_shared<skua::Metrics>();
  metrics->collect([&orders](skua::MetricsText& out) {
    out.family("shop_orders", skua::MetricType::Counter, "Orders that were placed.");
    out.sample(orders.load());
  });
  const auto health = std::make_shared<skua::Health>();
  health->check("stock", [&orders]() -> skua::Result<void, skua::Problem> {
    if (orders < 3) return {};
    return skua::Problem{skua::Error(skua::Errc::Unsupported, "shop"), "sold out"};
  });

  const skua::ShutdownSignals signals;  // before any thread, like the log and its signal
  const auto log = skua::AccessLog::open({.file = "-", .format = "json"});
  if (!log) return fail(log.error().text);
  skua::ServerOptions options{.host = "127.0.0.1", .port = port, .metrics = metrics};
  options.hooks.on_response = [&log](const skua::RequestRecord& record) { (*log)->add(record); };
  skua::Server server(router, options);
  health->watch(server);
  const skua::Router admin = skua::admin_routes({.metrics = metrics, .health = health});
  skua::Server admin_server(admin, skua::admin_server_options(admin_port));
  if (const auto started = server.start(); !started) return fail(started.error().message());
  if (const auto started = admin_server.start(); !started) return fail(started.error().message());
  std::printf("listening on %s\nadmin on %s\n", server.url().c_str(), admin_server.url().c_str());
  std::fflush(stdout);
  (*log)->start();  // after the lines above
  signals.wait_and_drain(server);
}
