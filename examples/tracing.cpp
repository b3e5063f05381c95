// SPDX-License-Identifier: MIT
// A shop whose requests can be followed in a trace, also through the service that it asks (which
// is itself). The spans go to an OpenTelemetry collector; errors are JSON.
#include <skua.hpp>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

int main(int count, char** arguments) {
  const auto port = static_cast<std::uint16_t>(count > 1 ? std::atoi(arguments[1]) : 8080);
  skua::OtlpOptions collector{.service = "shop"};
  if (count > 2) collector.url = arguments[2];
  collector.on_problem = [](std::string_view problem) {
    std::fprintf(stderr, "%.*s\n", static_cast<int>(problem.size()), problem.data());
  };
  skua::OtlpExporter exporter(std::move(collector));  // outlives the server

  const skua::PerThread<skua::Client> client;  // outlives the server, too

  skua::Router router;
  router.use(skua::tracing({
      .sink = [&exporter](skua::Span span) { exporter.add(std::move(span)); },
      .server_timing = true,
  }));
  router.use(skua::problem_details());
  router.use(skua::load_shedding());
  router.limits({.body_bytes = 100'000, .handler_timeout = std::chrono::seconds(5)});
  router.get("/stock/{item}", [](skua::Request& request, std::string_view item) -> skua::Response {
    skua::trace_attribute(request, "shop.item", std::string(item));
    if (item != "gull") throw skua::HttpError(skua::Status::NotFound, "we never had that");
    return "3 left\n";
  });
  router.get("/orders/{item}",
             [&client](skua::Request& request, std::string item) -> skua::Task<skua::Response> {
               const std::string url = "http://" + std::string(request.host()) + "/stock/" + item;
               auto answer = co_await client->get(url)
                                 .header("traceparent", skua::trace_context(request)->traceparent())
                                 .timeout(request.time_left());
               if (!answer) throw skua::HttpError(skua::Status::BadGateway, answer.error().text);
               if (answer->status() != skua::Status::Ok) throw skua::HttpError(answer->status());
               const auto text = co_await answer->text();
               co_return "ordered one of " + text.value();
             });

  const skua::ShutdownSignals signals;  // before any thread is started
  skua::Server server(router, {.host = "127.0.0.1", .port = port});
  server.start().value();
  std::printf("listening on %s\n", server.url().c_str());
  std::fflush(stdout);
  signals.wait_and_drain(server);
}
