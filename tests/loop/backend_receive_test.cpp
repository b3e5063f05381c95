// SPDX-License-Identifier: MIT
// Receiving on every back end: pieces, ends, resets, stopping and starting.
#include "backend_harness.hpp"

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace skua::loop {
namespace {

class BackendReceive : public BackendTest {
 protected:
  void receive_from_new_peer(const std::string& text) {
    Pair pair = connected_pair();
    write(pair.peer, text);
    peers.push_back(std::move(pair.peer));
    probes.push_back(std::make_unique<Probe>(*backend, std::move(pair.ours)));
    probes.back()->start_receive();
  }
  std::size_t received_bytes() const {
    std::size_t sum = 0;
    for (const auto& probe : probes) sum += probe->received.size();
    return sum;
  }

  std::vector<Socket> peers;
  std::vector<std::unique_ptr<Probe>> probes;
};
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

// Input is answered or passed on while the CPU caches hold it.
TEST_P(BackendReceive, MuchInputEndsATurn) {
  constexpr std::size_t count = 16;
  const std::string text = pattern(50'000);
  for (std::size_t i = 0; i < count; ++i) receive_from_new_peer(text);
  const bool has_limit = GetParam() == BackendChoice::Epoll || GetParam() == BackendChoice::IoUring;
  std::size_t before = 0;
  turn_until([&] {
    const std::size_t now = received_bytes();
    EXPECT_LT(now - before, has_limit ? 128'000U + 2 * text.size() : count * text.size() + 1);
    before = now;
    return now == count * text.size();
  });
  for (const auto& probe : probes) {
    EXPECT_EQ(probe->received, text);
    close_all({probe.get()});
  }
}

TEST_P(BackendReceive, PeersThatAlwaysSendDoNotStarveOthers) {
  constexpr std::size_t busy_count = 4;
  const std::string text = pattern(100'000);
  std::size_t sent_bytes = 0;
  const auto fill = [&] {
    for (std::size_t i = 0; i < busy_count; ++i) {
      ssize_t count = 0;
      while ((count = bsd::send(peers[i].descriptor(), text.data(), text.size(), net::no_signal)) >
             0) {
        sent_bytes += static_cast<std::size_t>(count);
      }
    }
  };
  for (std::size_t i = 0; i < busy_count; ++i) receive_from_new_peer("");
  fill();
  backend->turn(Duration(0));
  for (int i = 0; i < 20; ++i) receive_from_new_peer("");
  receive_from_new_peer("hello");
  const Probe& last = *probes.back();
  for (int turns = 0; turns < 100 && last.received.empty(); ++turns) {
    fill();
    backend->turn(Duration(0));
  }
  EXPECT_EQ(last.received, "hello");
  // And none is forgotten once they end.
  while (received_bytes() < sent_bytes + last.received.size()) backend->turn(1h);
  for (const auto& probe : probes) close_all({probe.get()});
}

// Events of one wait may be left for later turns.
TEST_P(BackendReceive, AConnectionMayEndBeforeItsEventIsHandled) {
  constexpr std::size_t count = 16;
  const std::string text = pattern(50'000);
  for (std::size_t i = 0; i < count; ++i) receive_from_new_peer(text);
  turn_until([&] { return received_bytes() != 0; });
  for (const auto& probe : probes) close_all({probe.get()});
  probes.clear();  // an event for one of them would read memory that is free
  settle();
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

TEST_P(BackendReceive, ReportsAnEndThatArrivesWithBytes) {
  struct Case {
    Pair pair;
    std::function<void(Socket&)> end;
    Errc expected;
  };
  std::array cases{
      Case{connected_pair(), [](Socket& peer) { reset(peer); }, Errc::Reset},
      Case{connected_pair(), [](Socket& peer) { peer.close(); }, Errc::None},
      Case{unix_pair(), [](Socket& peer) { peer.close(); }, Errc::None},
      Case{unix_pair(), [](Socket& peer) { bsd::shutdown(peer.descriptor(), SHUT_WR); },
           Errc::None},
  };
  for (Case& one : cases) {
    Probe probe(*backend, std::move(one.pair.ours));
    probe.start_receive();
    backend->turn(Duration(0));
    write(one.pair.peer, "half a li");
    one.end(one.pair.peer);
    turn_until([&] { return probe.receive_end.has_value(); });
    EXPECT_EQ(*probe.receive_end, one.expected);
    close_all({&probe});
  }
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
