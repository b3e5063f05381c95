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

/// Returns the HEADERS frame of a response.
inline std::string head(std::uint32_t id, const frames::Fields& more = {},
                        unsigned flags = frames::open, std::string_view status = "200") {
  return frames::headers(id, frames::field(":status", status) + frames::block(more), flags);
}

/// A client session fed with handmade frames. The parameter is the size of the pieces in which the
/// session receives them.
class ClientSessionTest : public ::testing::TestWithParam<std::size_t> {
 protected:
  void SetUp() override { open(client_options()); }
  /// Opens a connection whose SETTINGS have been exchanged.
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
  /// Feeds these bytes and describes the frames that the session sends in return.
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
