// SPDX-License-Identifier: MIT
// Server-sent events: a page with a counter that resumes where it was after a lost connection.
#include <skua.hpp>

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <string>

using namespace skua::literals;

namespace {

constexpr skua::StaticText page = R"(<!doctype html>
<title>Ticks</title>
<h1 id="tick">waiting</h1>
<script>
  const source = new EventSource("/ticks");
  source.addEventListener("tick", (event) => {
    document.getElementById("tick").textContent = event.data;
  });
</script>
)";

}  // namespace

int main(int count, char** arguments) {
  skua::Router router;
  router.get("/", [] { return skua::Response::html(page); });
  router.get("/ticks", [](const skua::Request& request) {
    // The last event that the browser has seen, if it reconnects after a lost connection.
    const std::string_view last = request.header("Last-Event-ID").value_or("");
    int tick = 0;
    std::from_chars(last.data(), last.data() + last.size(), tick);
    return skua::server_sent_events([tick](skua::EventWriter& out) -> skua::Task<> {
      for (int now = tick + 1;; ++now) {
        const std::string id = std::to_string(now);
        const std::string text = "tick " + id;
        const skua::ServerSentEvent event{.data = text, .event = "tick", .id = id, .retry = 1s};
        co_await out.send(event);
        co_await skua::sleep(200ms);
      }
    });
  });

  const int port = count > 1 ? std::atoi(arguments[1]) : 8080;
  const skua::ShutdownSignals signals;
  skua::Server server(router, {.host = "127.0.0.1", .port = static_cast<std::uint16_t>(port)});
  server.start().value();
  std::printf("listening on %s\n", server.url().c_str());
  std::fflush(stdout);
  signals.wait_and_drain(server);
}
