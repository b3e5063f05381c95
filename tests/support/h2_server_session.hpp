// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "h2/connection.hpp"
#include "support/h2_frames.hpp"
#include "support/h2_recorder.hpp"

namespace skua::h2 {

/// A server session after the SETTINGS exchange, fed frame by frame.
class ServerSessionTest : public ::testing::Test {
 protected:
  static constexpr loop::Instant start{};

  void SetUp() override { open({}); }
  void open(const Options& options, const std::string& hello = frames::hello()) {
    session = std::make_unique<Connection>(options, recorder, recorder.workspace, start);
    recorder.session = session.get();
    recorder.streams.clear();
    recorder.log.clear();
    session->receive(hello, start);
    recorder.flush();
  }
  /// Sends an extended CONNECT on stream 1.
  void ask_for_tunnel() {
    open({.allows_extended_connect = true});
    const std::string block = frames::request_block("CONNECT", "/", {{":protocol", "websocket"}});
    session->receive(frames::headers(1, block, frames::open), start);
  }
  std::string exchange(const std::string& bytes) {
    session->receive(bytes, start);
    return frames::describe(recorder.flush());
  }
  std::string flushed() { return frames::describe(recorder.flush()); }
  Stream& stream(std::uint32_t id) { return *recorder.streams.at(id); }
  /// Returns the content of the DATA frames in the last output.
  [[nodiscard]] std::string content() const {
    std::string text;
    for (const frames::Frame& frame : frames::split(recorder.output)) {
      if (frame.head.type == FrameType::Data) text += frame.payload;
    }
    return text;
  }

  Recorder recorder;
  std::unique_ptr<Connection> session;
};

}  // namespace skua::h2
