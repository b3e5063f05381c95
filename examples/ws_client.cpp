// SPDX-License-Identifier: MIT
// A WebSocket client: sends texts and prints the first COUNT messages that come back.
// Usage: `example-ws_client URL COUNT TEXT...`
#include <skua.hpp>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

skua::Task<int> talk(std::string url, int count, std::vector<std::string> texts) {
  skua::Client client;
  auto socket = co_await client.websocket(url).compression(skua::WebSocketCompression::Context);
  if (!socket) {
    std::fprintf(stderr, "%s\n", socket.error().text.c_str());
    co_return 1;
  }
  for (const std::string& text : texts) co_await socket->send(text);
  for (int i = 0; i < count; ++i) {
    const auto message = co_await socket->receive();
    if (!message) break;
    std::printf("%.*s\n", static_cast<int>(message->text.size()), message->text.data());
  }
  socket->close();
  co_await socket->receive();  // waits for the end of the closing handshake
  const skua::CloseReason& reason = socket->close_reason();
  std::printf("closed: %d %s\n", static_cast<int>(reason.code), reason.text.c_str());
  co_return reason.code == skua::CloseCode::Normal ? 0 : 1;
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 3) {
    std::fprintf(stderr, "usage: %s URL COUNT TEXT...\n", arguments[0]);
    return 2;
  }
  std::vector<std::string> texts(arguments + 3, arguments + count);
  return skua::run(talk(arguments[1], std::atoi(arguments[2]), std::move(texts)));
}
