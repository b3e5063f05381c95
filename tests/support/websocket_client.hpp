// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "skua/websocket_message.hpp"
#include "support/client.hpp"
#include "ws/deflate.hpp"
#include "ws/frame.hpp"
#include "ws/message_reader.hpp"

namespace skua::testing {

/// Builds a masked frame, as a client sends it.
inline std::string client_frame(ws::Opcode opcode, std::string_view payload, bool is_final = true,
                                bool is_compressed = false) {
  return ws::make_frame({.payload_bytes = payload.size(),
                         .opcode = opcode,
                         .is_final = is_final,
                         .is_compressed = is_compressed,
                         .is_masked = true,
                         .key = {1, 2, 3, 4}},
                        payload);
}

/// Returns the handshake of RFC 6455 §1.2 with the given extra fields, each with CRLF.
inline std::string handshake(std::string_view path, std::string_view fields = {}) {
  return std::string("GET ")
      .append(path)
      .append(
          " HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: keep-alive, Upgrade\r\n"
          "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n")
      .append(fields)
      .append("\r\n");
}

/// Returns the status that opens a WebSocket: RFC 6455 §4.2.2, RFC 8441 §5.
inline std::string_view opened() { return speaks_http2() ? "200" : "101"; }

/// A WebSocket client that sends exactly the given bytes and frames.
class WebSocketClient {
 public:
  using Event = ws::MessageReader::Event;

  /// `turn`: runs a server on this thread for a moment.
  explicit WebSocketClient(Client client, std::function<void()> turn = {})
      : client_(std::move(client)), turn_(std::move(turn)) {}

  /// Sends a handshake and returns the head of the response.
  std::string open(std::string_view request) {
    send_raw(request);
    return read_head();
  }
  std::string read_head() {
    while (received_.find("\r\n\r\n") == received_.npos) {
      const std::string more = some();
      if (more.empty()) return std::exchange(received_, {});
      received_.append(more);
    }
    const std::size_t end = received_.find("\r\n\r\n") + 4;
    std::string head = received_.substr(0, end);
    received_.erase(0, end);
    return head;
  }
  void send(std::string_view text) { send(ws::Opcode::Text, text); }
  void send(ws::Opcode opcode, std::string_view payload) {
    send_raw(client_frame(opcode, payload));
  }
  void send_raw(std::string_view bytes) {
    if (!turn_) return client_.send(bytes);
    for (int i = 0; i < 100'000 && !bytes.empty(); ++i) {
      bytes.remove_prefix(client_.send_some(bytes));
      turn_();
    }
    EXPECT_TRUE(bytes.empty()) << "the server does not read";
  }
  void close(std::uint16_t code) {
    const char payload[] = {static_cast<char>(code >> 8), static_cast<char>(code)};
    send(ws::Opcode::Close, {payload, 2});
  }

  /// Returns the next event, or NeedMore if the server has closed the connection.
  Event next() {
    while (true) {
      std::span<char> input(received_);
      const Event event = reader_->next(input);
      payload_ = reader_->payload();
      received_.erase(0, received_.size() - input.size());
      if (event != Event::NeedMore) return event;
      received_ = some();
      if (received_.empty()) return event;
    }
  }
  /// Returns the next message's text, or any other event in angle brackets.
  std::string text() {
    switch (next()) {
      case Event::Message: return payload_;
      case Event::NeedMore: return "<end>";
      case Event::Ping: return "<ping " + payload_ + ">";
      case Event::Pong: return "<pong " + payload_ + ">";
      case Event::Failed: return "<failed>";
      case Event::Close: break;
    }
    return "<close " + std::to_string(static_cast<unsigned>(reader_->reason().code)) + " " +
           reader_->reason().text + ">";
  }
  /// Sets the inflater once compression has been negotiated.
  void use(ws::Inflater& inflater) { reader_->use(&inflater); }
  /// Bytes received so far, including the handshake response.
  [[nodiscard]] std::size_t received_bytes() const noexcept { return received_bytes_; }
  [[nodiscard]] MessageType type() const { return reader_->type(); }
  Client& wire() noexcept { return client_; }

 private:
  std::string some() {
    for (int i = 0; turn_ && i < 2000 && !client_.is_readable(); ++i) turn_();
    std::string bytes = client_.some();
    received_bytes_ += bytes.size();
    return bytes;
  }

  Client client_;
  std::function<void()> turn_;
  std::string received_;
  std::string payload_;
  std::size_t received_bytes_ = 0;
  std::unique_ptr<ws::MessageReader> reader_ =
      std::make_unique<ws::MessageReader>(ws::Role::Client, 64U << 20U);
};

}  // namespace skua::testing
