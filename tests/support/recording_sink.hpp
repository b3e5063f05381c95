// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>

#include "net/stream.hpp"

namespace skua::net {

/// A sink for tests that records the events of a stream.
class RecordingSink : public StreamSink {
 public:
  void on_receive(std::span<char> bytes) override {
    received.append(bytes.data(), bytes.size());
    received += '|';
  }
  void on_receive_end(Error error) override { receive_end = error.code(); }
  void on_sent(std::size_t count) override {
    ++sent_calls;
    sent += count;
  }
  void on_send_failed(Error error) override { send_failure = error.code(); }
  void on_closed() override { ++closed; }

  std::string received;
  std::optional<Errc> receive_end;
  int sent_calls = 0;
  std::size_t sent = 0;
  std::optional<Errc> send_failure;
  int closed = 0;
};

inline std::size_t send_text(Stream& stream, std::string_view text) {
  const Slice slice{text.data(), text.size()};
  return stream.send({&slice, 1});
}

}  // namespace skua::net
