// SPDX-License-Identifier: MIT
// Runs all cases of the Autobahn test suite's server as a client: echoes each message, and requests
// the report at the end. Usage: skua-autobahn-client [auto|epoll|io_uring|kqueue|poll] URL
#include <charconv>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "skua/client.hpp"
#include "support/echo_socket.hpp"
#include "support/run_on.hpp"

namespace {

using namespace skua;

BackendChoice backend_named(std::string_view name) {
  const auto backend = parse_backend(name);
  if (!backend)
    throw std::invalid_argument("the back end is auto, epoll, io_uring, kqueue or poll");
  return *backend;
}

Task<WebSocket> open(Client& client, std::string url) {
  auto socket = co_await client.websocket(url);
  if (!socket) throw std::runtime_error(socket.error().text);
  co_return *std::move(socket);
}

// Returns the first message.
Task<std::string> ask(Client& client, std::string url) {
  WebSocket socket = co_await open(client, std::move(url));
  const auto message = co_await socket.receive();
  co_return std::string(message ? message->text : "");
}

Task<int> case_count(Client& client, std::string url) {
  const std::string text = co_await ask(client, url + "/getCaseCount");
  int count = 0;
  std::from_chars(text.data(), text.data() + text.size(), count);
  co_return count;
}

Task<> run_case(Client& client, std::string url) {
  WebSocket socket = co_await open(client, url);
  co_await testing::echo(socket);
}

Task<> run_all(std::string url) {
  ClientOptions options;
  options.websocket.message_bytes = 64_MiB;
  options.websocket.queue_bytes = 64_MiB;
  options.websocket.compression = WebSocketCompression::Context;
  Client client(options);
  const int count = co_await case_count(client, url);
  if (count == 0) throw std::runtime_error("the server has no cases");
  for (int i = 1; i <= count; ++i) {
    const std::string which = "?case=" + std::to_string(i) + "&agent=skua";
    co_await run_case(client, url + "/runCase" + which);
    // This responds once the server has seen the end of the case; reports could lack it otherwise.
    co_await ask(client, url + "/getCaseStatus" + which);
  }
  co_await run_case(client, url + "/updateReports?agent=skua");
  co_await client.close();
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2 && count != 3) {
    std::fprintf(stderr, "usage: %s [auto|epoll|io_uring|kqueue|poll] URL\n", arguments[0]);
    return 2;
  }
  try {
    testing::run_on(count == 3 ? backend_named(arguments[1]) : BackendChoice::Auto,
                    run_all(arguments[count - 1]));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "skua-autobahn-client: %s\n", error.what());
    return 1;
  }
  return 0;
}
