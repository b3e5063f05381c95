// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "server/http2_worker.hpp"
#include "support/websocket_client.hpp"

namespace skua::testing {

/// WebSockets on the HTTP/2 streams of a worker, frame by frame.
class Http2Sockets : public Http2Worker {
 protected:
  Http2Sockets() {
    router_.websocket("/ws/{name}", [this](WebSocket& socket, std::string name) -> Task<> {
      const Held held(alive_);
      while (auto message = co_await socket.receive()) {
        const std::string text = name + ":" + std::string(message->text);
        co_await socket.send(text);
      }
      ends_.push_back(socket.close_reason().code);
    });
  }
  ~Http2Sockets() override { worker_.reset(); }  // handlers end here, and write to ends_

  static std::string connect_to(std::uint32_t id, std::string_view path,
                                const h2::frames::Fields& more = {}, bool is_end = false) {
    h2::frames::Fields fields{{":protocol", "websocket"}, {"sec-websocket-version", "13"}};
    fields.insert(fields.end(), more.begin(), more.end());
    return h2::frames::headers(id, h2::frames::request_block("CONNECT", path, fields),
                               is_end ? h2::frames::whole : h2::frames::open);
  }
  static std::string message(std::uint32_t id, std::string_view text) {
    return h2::frames::data(id, client_frame(ws::Opcode::Text, text));
  }
  static std::string close(std::uint32_t id, unsigned flags = 0) {
    const std::string code("\x03\xe8", 2);
    return h2::frames::data(id, client_frame(ws::Opcode::Close, code), flags);
  }
  /// Returns the payloads of the server's DATA frames on a stream.
  static std::string data_of(std::string_view bytes, std::uint32_t id) {
    std::string data;
    for (const h2::frames::Frame& frame : h2::frames::split(bytes)) {
      if (frame.head.type == h2::FrameType::Data && frame.head.stream_id == id) {
        data += frame.payload;
      }
    }
    return data;
  }
  /// Sends bytes on a stream, and returns the bytes that come back on it.
  std::string exchange(Client& client, std::uint32_t id, std::string_view bytes) {
    client.send(h2::frames::data(id, bytes));
    return data_of(received(client), id);
  }
  /// Returns a client that translates text to frames. It may use only one stream.
  WebSocketClient translated() {
    return WebSocketClient(worker().connect(Transport::H2), [this] { (*worker()).run_once(1ms); });
  }

  std::vector<CloseCode> ends_;  // close codes that the handlers of /ws saw
  std::vector<std::string> log_;
};

}  // namespace skua::testing
