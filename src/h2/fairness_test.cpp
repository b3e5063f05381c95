// SPDX-License-Identifier: MIT
// Streams that send at the same time share what the peer's windows allow, in either role, however
// the windows open.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <tuple>

#include "support/h2_client_session.hpp"
#include "support/h2_server_session.hpp"

namespace skua::h2 {
namespace {

constexpr std::size_t frame_bytes = 16 * 1024 - frame_header_bytes;
constexpr std::size_t large_bytes = 4'000'000;

/// A session whose streams have begun to send.
template <class AnyRecorder>
struct Senders {
  AnyRecorder recorder;
  std::unique_ptr<Connection> session;

  void open(const Options& options, const std::string& hello) {
    session = std::make_unique<Connection>(options, recorder, recorder.workspace, start);
    recorder.session = session.get();
    session->receive(hello, start);
    recorder.flush();
  }
  /// Gives each stream that is not whole more to send.
  void make(std::size_t bytes) {
    for (const auto& [id, stream] : recorder.streams) {
      auto& content = recorder.contents[id];
      if (content.is_whole || content.text.size() - content.sent >= bytes) continue;
      content.text.append(bytes, 'm');
      session->resume_body(*stream);
    }
  }
  /// Opens the connection's window again and again. Returns how much each stream has sent.
  std::map<std::uint32_t, std::size_t> sent_in_steps(std::size_t step, std::size_t total) {
    std::map<std::uint32_t, std::size_t> before;
    for (const auto& [id, content] : recorder.contents) before[id] = content.sent;
    for (std::size_t given = 0; given < total; given += step) {
      make(70'000);
      session->receive(frames::window_update(0, static_cast<std::uint32_t>(step)), start);
      recorder.flush();
      make(70'000);
      recorder.flush();
    }
    std::map<std::uint32_t, std::size_t> sent;
    for (const auto& [id, content] : recorder.contents) sent[id] = content.sent - before[id];
    return sent;
  }
};

const std::string wide_streams = frames::settings({{4, 0x7fff'ffff}}) + frames::settings_ack();

using Case = std::tuple<Role, std::size_t, std::size_t, bool>;

class Fairness : public ::testing::TestWithParam<Case> {
 protected:
  static Role role() { return std::get<0>(GetParam()); }
  static std::size_t step() { return std::get<1>(GetParam()); }
  static std::size_t count() { return std::get<2>(GetParam()); }
  static bool is_streaming() { return std::get<3>(GetParam()); }
  static std::size_t total() { return std::min<std::size_t>(large_bytes / 2, 400 * step()); }

  template <class AnyRecorder>
  static void share(Senders<AnyRecorder>& senders) {
    senders.recorder.flush();  // uses up the first window
    const auto sent = senders.sent_in_steps(step(), total());
    ASSERT_EQ(sent.size(), count());
    std::size_t sum = 0;
    for (const auto& [id, bytes] : sent) {
      sum += bytes;
      EXPECT_GE(bytes + 2 * frame_bytes, total() / count()) << "stream " << id;
    }
    EXPECT_GE(sum, total());
  }
};

TEST_P(Fairness, TheWindowOfTheConnectionIsSharedInTurns) {
  const std::string text(is_streaming() ? 20'000 : large_bytes, 'x');
  if (role() == Role::Server) {
    Senders<Recorder> senders;
    senders.open({}, std::string(client_preface) + wide_streams);
    senders.recorder.when_requested = [&](Stream& stream, bool) {
      senders.recorder.contents[stream.id()] = {.text = text, .is_whole = !is_streaming()};
      senders.session->respond(stream, {}, true);
    };
    const std::string block = frames::request_block("GET", "/", {{"priority", "u=3,i"}});
    for (std::uint32_t i = 0; i < count(); ++i) {
      senders.session->receive(frames::headers(2 * i + 1, block), start);
    }
    share(senders);
  } else {
    Senders<ClientRecorder> senders;
    senders.open(client_options(), wide_streams);
    for (std::uint32_t i = 0; i < count(); ++i) {
      senders.recorder.post({.text = text, .is_whole = !is_streaming()});
    }
    share(senders);
  }
}

std::string name_of(const ::testing::TestParamInfo<Case>& one) {
  const auto& [role, step, count, is_streaming] = one.param;
  return std::string(role == Role::Server ? "Server" : "Client") + std::to_string(count) + "By" +
         std::to_string(step) + (is_streaming ? "Streaming" : "Whole");
}

INSTANTIATE_TEST_SUITE_P(
    Windows, Fairness,
    ::testing::Combine(::testing::Values(Role::Server, Role::Client),
                       ::testing::Values(std::size_t{1'000}, frame_bytes - 1, frame_bytes,
                                         std::size_t{16 * 1024}, std::size_t{20'000},
                                         std::size_t{65'535}),
                       ::testing::Values(std::size_t{2}, std::size_t{3}, std::size_t{7}),
                       ::testing::Bool()),
    name_of);

TEST(FairnessOfUploads, SmallOnesEndBesideALargeOne) {
  Senders<ClientRecorder> senders;
  senders.open(client_options(), wide_streams);
  senders.recorder.post({.text = std::string(large_bytes, 'l')});
  for (int i = 0; i < 3; ++i) senders.recorder.post({.text = std::string(100'000, 's')});
  senders.recorder.flush();
  const auto sent = senders.sent_in_steps(16 * 1024, 4 * 110'000);
  for (std::uint32_t id = 3; id <= 7; id += 2) {
    EXPECT_EQ(senders.recorder.contents[id].sent, 100'000U) << "stream " << id;
  }
}

}  // namespace
}  // namespace skua::h2
