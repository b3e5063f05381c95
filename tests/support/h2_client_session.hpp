// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "h2/connection.hpp"
#include "support/h2_client_recorder.hpp"
#include "support/h2_frames.hpp"

namespace skua::h2 {

inline constexpr loop::Instant start{};

/// The head of a response.
inline std::string head(std::uint32_t id, const frames::Fields& more = {},
                        unsigned flags = frames::open, std::string_view status = "200") {
  return frames::headers(id, frames::field(":status", status) + frames::block(more), flags);
}

/// A client's session against frames made by hand. Everything is told with the bytes in one piece,
/// in several, and byte by byte.
class ClientSessionTest : public ::testing::TestWithParam<std::size_t> {
 protected:
  void SetUp() override { open(client_options()); }
  /// A connection whose settings are agreed on.
  void open(const Options& options,
            const std::string& hello = frames::settings() + frames::settings_ack()) {
    session = std::make_unique<Connection>(options, recorder, recorder.workspace, start);
    recorder.session = session.get();
    recorder.log.clear();
    recorder.received.clear();
    recorder.contents.clear();
    recorder.streams.clear();
    recorder.failures.clear();
    session->receive(hello, start);
    recorder.flush();
  }
  /// What comes back for these bytes.
  std::string exchange(const std::string& bytes) {
    receive(bytes);
    return frames::describe(recorder.flush());
  }
  void receive(std::string_view bytes) {
    for (; !bytes.empty(); bytes.remove_prefix(std::min(GetParam(), bytes.size()))) {
      session->receive(bytes.substr(0, GetParam()), start);
    }
  }
  std::string flush() { return frames::describe(recorder.flush()); }
  Errc failure_of(std::uint32_t id) {
    const auto found = recorder.failures.find(id);
    return found != recorder.failures.end() ? found->second.error.code() : Errc::None;
  }

  ClientRecorder recorder;
  std::unique_ptr<Connection> session;
};

}  // namespace skua::h2
