// SPDX-License-Identifier: MIT
// A server for tests that make servers fail: `skua-failing-target PORT [MILLISECONDS]`. It answers
// every method, echoes the messages of WebSockets, closes connections that are idle for so long,
// and can be told to answer 503 to some requests:
//   /unavailable...  503
//   /livez           200, or 503 after /sick and until /well
//   /slow            200 after a second
#include <skua.hpp>

#include <atomic>
#include <charconv>
#include <cstdio>
#include <string>
#include <string_view>

using namespace std::chrono_literals;

namespace {

skua::Task<std::string> answer_slowly(skua::Request&) {
  co_await skua::sleep(1s);
  co_return std::string("slow");
}

// Reads all of the content, however long that takes.
skua::Task<std::string> count(skua::Request& request) {
  const std::string content = co_await request.text();
  co_return std::to_string(content.size());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  skua::ServerOptions options{.host = "127.0.0.1", .threads = 1};
  const std::string_view text = argv[1];
  std::from_chars(text.data(), text.data() + text.size(), options.port);
  if (argc > 2) {
    const std::string_view time = argv[2];
    int idle = 0;
    std::from_chars(time.data(), time.data() + time.size(), idle);
    options.timeouts.idle = std::chrono::milliseconds(idle);
  }
  std::atomic<bool> is_sick{false};
  skua::Router router;
  router.get("/livez",
             [&is_sick] { return is_sick ? skua::Status::ServiceUnavailable : skua::Status::Ok; });
  router.any("/sick", [&is_sick] {
    is_sick = true;
    return "sick";
  });
  router.any("/well", [&is_sick] {
    is_sick = false;
    return "well";
  });
  router.any("/unavailable/{path...}", [] { return skua::Status::ServiceUnavailable; });
  router.any("/slow", answer_slowly);
  router.websocket("/echo", skua::WebSocketCallbacks{
                                .message = [](skua::WebSocket& socket, skua::Message message) {
                                  socket.send(message.text);
                                }});
  router.any("/", count);

  const skua::ShutdownSignals signals;
  skua::Server server(router, options);
  server.start().value();
  std::printf("listening on %s\n", server.url().c_str());
  std::fflush(stdout);
  signals.wait_and_drain(server);
}
