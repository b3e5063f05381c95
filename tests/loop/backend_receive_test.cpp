// SPDX-License-Identifier: MIT
// Receiving on every back end: pieces, ends, resets, stopping and starting.
#include "backend_harness.hpp"

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace skua::loop {
namespace {

class BackendReceive : public BackendTest {};
INSTANTIATE_TEST_SUITE_P(Every, BackendReceive, ::testing::ValuesIn(testing::backends()),
                         testing::backend_name);

TEST_P(BackendReceive, HandsOverBytesPieceByPiece) {
  Pair pair = connected_pair();
  Probe probe(*backend, std::move(pair.ours));
  probe.start_receive();
  std::string expected;
  for (int i = 0; i < 20; ++i) {
    const std::string piece = "piece " + std::to_string(i) + ";";
    write(pair.peer, piece);
    expected += piece;
    turn_until([&] { return probe.received == expected; });
  }
  EXPECT_FALSE(probe.receive_end.has_value());
  close_all({&probe});
}

// Some processors copy at a quarter of the speed to unaligned parts of a page.
TEST_P(BackendReceive, ReceivesOntoTheEdgeOfAPage) {
  if (GetParam() == BackendChoice::IoUring) GTEST_SKIP() << "io_uring provides its own buffers";
  Pair pair = connected_pair();
  Probe probe(*backend, std::move(pair.ours));
  probe.start_receive();
  write(pair.peer, "text");
  turn_until([&] { return probe.received == "text"; });
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(probe.received_at) % 4096, 0U);
  close_all({&probe});
}

TEST_P(BackendReceive, HandsOverMoreThanItsBufferHolds) {
  Pair pair = connected_pair();
  Probe probe(*backend, std::move(pair.ours));
  probe.start_receive();
  const std::string text = pattern(1'000'000);
  std::size_t written = 0;
  turn_until([&] {
    const ssize_t count = bsd::send(pair.peer.descriptor(), text.data() + written,
                                    text.size() - written, net::no_signal);
    if (count > 0) written += static_cast<std::size_t>(count);
    return probe.received.size() == text.size();
  });
  EXPECT_EQ(probe.received, text);
  close_all({&probe});
}

TEST_P(BackendReceive, ABriefReceiveLeavesTheRestToTheSystem) {
  Pair pair = connected_pair();
  Probe probe(*backend, std::move(pair.ours));
  const std::string text = pattern(60'000);
  write(pair.peer, text);
  Backend::receive_briefly(probe, true);
  const bool is_heeded =
      GetParam() != BackendChoice::IoUring && GetParam() != BackendChoice::CompletionPort;
  std::size_t first_bytes = 0;
  probe.after_call = [&](std::string_view) {
    if (first_bytes != 0) return;
    first_bytes = probe.received.size();
    Backend::receive_briefly(probe, false);
  };
  probe.start_receive();
  turn_until([&] { return probe.received.size() == text.size(); });
  EXPECT_EQ(probe.received, text);
  EXPECT_LE(first_bytes, is_heeded ? 16'384U : text.size());
  close_all({&probe});
}

// Input is answered or passed on while the CPU caches hold it. Nobody starves.
TEST_P(BackendReceive, MuchInputEndsATurn) {
  constexpr std::size_t count = 16;
  constexpr std::size_t piece_bytes = 50'000;
  const std::string text = pattern(piece_bytes);
  std::vector<Pair> pairs;
  std::vector<std::unique_ptr<Probe>> probes;
  for (std::size_t i = 0; i < count; ++i) {
    Pair& pair = pairs.emplace_back(connected_pair());
    write(pair.peer, text);
    probes.push_back(std::make_unique<Probe>(*backend, std::move(pair.ours)));
    probes.back()->start_receive();
  }
  const auto received = [&] {
    std::size_t sum = 0;
    for (const auto& probe : probes) sum += probe->received.size();
    return sum;
  };
  const bool has_limit = GetParam() == BackendChoice::Epoll || GetParam() == BackendChoice::IoUring;
  std::size_t before = 0;
  turn_until([&] {
    const std::size_t now = received();
    EXPECT_LT(now - before, has_limit ? 128'000U + 2 * piece_bytes : count * piece_bytes + 1);
    before = now;
    return now == count * piece_bytes;
  });
  for (const auto& probe : probes) {
    EXPECT_EQ(probe->received, text);
    close_all({probe.get()});
  }
}

TEST_P(BackendReceive, ReportsTheEndOnceAfterTheLastBytes) {
  Pair pair = connected_pair();
  Probe probe(*backend, std::move(pair.ours));
  write(pair.peer, "the last words");
  pair.peer.close();
  probe.start_receive();
  turn_until([&] { return probe.receive_end.has_value(); });
  EXPECT_EQ(*probe.receive_end, Errc::None);
  EXPECT_EQ(probe.received, "the last words");
  settle();  // a second end would fail the probe
  close_all({&probe});
}

TEST_P(BackendReceive, ReportsAReset) {
  Pair pair = connected_pair();
  Probe probe(*backend, std::move(pair.ours));
  probe.start_receive();
  reset(pair.peer);
  turn_until([&] { return probe.receive_end.has_value(); });
  EXPECT_EQ(*probe.receive_end, Errc::Reset);
  settle();
  close_all({&probe});
}

TEST_P(BackendReceive, AResetThatNobodyWaitsForDoesNotSpin) {
  Pair pair = connected_pair();
  Probe probe(*backend, std::move(pair.ours));
  probe.start_receive();
  write(pair.peer, "x");
  turn_until([&] { return probe.received == "x"; });
  probe.stop_receive();
  reset(pair.peer);
  settle();
  wait_out(30ms);
  probe.start_receive();
  turn_until([&] { return probe.receive_end.has_value(); });
  close_all({&probe});
}

TEST_P(BackendReceive, StopsAndStartsAgainWithoutLosingAnything) {
  Pair pair = connected_pair();
  Probe probe(*backend, std::move(pair.ours));
  probe.start_receive();
  write(pair.peer, "a");
  turn_until([&] { return probe.received == "a"; });
  probe.stop_receive();
  settle();
  write(pair.peer, "b");
  settle();
  const std::size_t meanwhile = probe.received.size();  // io_uring may have received it already
  write(pair.peer, "c");
  settle();
  EXPECT_LE(meanwhile, 3U);
  probe.start_receive();
  turn_until([&] { return probe.received == "abc"; });
  close_all({&probe});
}

TEST_P(BackendReceive, AStoppedReceiveHoldsThePeerBack) {
  Pair pair = connected_pair();
  Probe probe(*backend, std::move(pair.ours));
  probe.start_receive();
  probe.stop_receive();
  settle();
  const std::string chunk = pattern(65536);
  std::size_t written = 0;
  for (int i = 0; i < 4000; ++i) {  // 256 MB, unless the sender is held back
    const ssize_t count =
        bsd::send(pair.peer.descriptor(), chunk.data(), chunk.size(), net::no_signal);
    if (count > 0) written += static_cast<std::size_t>(count);
    if (i % 100 == 0) settle();
  }
  EXPECT_LT(written, std::size_t{64} << 20);
  EXPECT_LE(probe.received.size(), std::size_t{512} << 10);
  close_all({&probe});
}

TEST_P(BackendReceive, StopsInsideTheCallbackAndStartsInALaterTurn) {
  Pair pair = connected_pair();
  Probe probe(*backend, std::move(pair.ours));
  int stops = 0;
  probe.after_call = [&](std::string_view name) {
    if (name != "on_receive") return;
    probe.stop_receive();
    ++stops;
  };
  probe.start_receive();
  std::string expected;
  for (int i = 0; i < 5; ++i) {
    write(pair.peer, "0123456789");
    expected += "0123456789";
    turn_until([&] { return probe.received == expected; });
    settle();
    probe.start_receive();
  }
  EXPECT_GE(stops, 5);
  close_all({&probe});
}

TEST_P(BackendReceive, WorksOnUnixSocketsToo) {
  Pair pair = unix_pair();
  Probe probe(*backend, std::move(pair.ours));
  probe.start_receive();
  probe.send("there");
  EXPECT_EQ(read_exactly(pair.peer, 5, 5), "there");
  write(pair.peer, "and back");
  turn_until([&] { return probe.received == "and back"; });
  pair.peer.close();
  turn_until([&] { return probe.receive_end.has_value(); });
  EXPECT_EQ(*probe.receive_end, Errc::None);
  close_all({&probe});
}

TEST_P(BackendReceive, AnEndThatNobodyWaitsForDoesNotSpinWhileASendIsPending) {
  Pair pair = connected_pair();
  Probe probe(*backend, std::move(pair.ours));
  const std::string text = pattern(12'000'000);
  probe.start_receive();
  probe.send(text);
  settle();
  probe.stop_receive();
  ::shutdown(pair.peer.descriptor(), SHUT_WR);
  wait_out(20ms);
  EXPECT_TRUE(probe.is_sending());
  EXPECT_FALSE(probe.receive_end.has_value());
  close_all({&probe});
}

}  // namespace
}  // namespace skua::loop
