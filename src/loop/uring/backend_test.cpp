// SPDX-License-Identifier: MIT
#include "loop/backends.hpp"

#include "support/uring_fixture.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <deque>
#include <string>
#include <vector>

namespace skua::loop {
namespace {

const UringOptions all_options[] = {
    {}, tiny_options, {.defers_task_runs = false}, {.shared_buffers = {}}, tiny_shared_options};

std::string options_name(const ::testing::TestParamInfo<UringOptions>& tested) {
  return std::vector<std::string>{"Default", "Tiny", "Undeferred", "Single",
                                  "TinyShared"}[tested.index];
}

INSTANTIATE_TEST_SUITE_P(Sizes, UringBackendTest, ::testing::ValuesIn(all_options), options_name);

TEST_P(UringBackendTest, HandsOverWhatArrivesUntilTheEnd) {
  const auto [ours, peer] = socket_pair();
  Recorder handle;
  backend->open(handle, ours);
  backend->start_receive(handle);
  std::string expected;
  for (int i = 0; i < 300; ++i) {
    const std::string piece = "piece " + std::to_string(i) + std::string(60, '.');
    write_all(peer, piece);
    expected += piece;
    if (i % 7 == 0) backend->turn(0ns);
  }
  ::close(peer);
  turn_until([&] { return handle.end.has_value(); });
  EXPECT_EQ(handle.received, expected);
  EXPECT_EQ(handle.end->code(), Errc::None);
  close_and_wait(handle);
}

TEST_P(UringBackendTest, SendsOneSliceAndManyInOrder) {
  const auto [ours, peer] = socket_pair();
  Recorder handle;
  backend->open(handle, ours);
  EXPECT_EQ(backend->send(handle, std::array{slice("one "), slice("")}), 0U);
  turn_until([&] { return handle.sent_calls == 1; });
  std::vector<Slice> many;
  for (int i = 0; i < 40; ++i) many.push_back(slice("xyz"));
  backend->send(handle, many);
  turn_until([&] { return handle.sent_calls == 2; });
  // More slices than fit into an operation: the rest is for the next send.
  EXPECT_EQ(handle.sent_bytes, 4U + 32U * 3U);
  EXPECT_EQ(read_some(peer).size(), handle.sent_bytes);
  EXPECT_EQ(backend->send(handle, {}), 0U);
  settle();
  EXPECT_EQ(handle.sent_calls, 2);
  close_and_wait(handle);
  ::close(peer);
}

TEST_P(UringBackendTest, ReportsAPartialSend) {
  const auto [ours, peer] = tcp_pair();
  Recorder handle;
  backend->open(handle, ours);
  const std::string big(64 << 20, 'b');
  backend->send(handle, std::array{slice(big)});
  turn_until([&] { return handle.sent_calls == 1; });
  EXPECT_GT(handle.sent_bytes, 0U);
  EXPECT_LT(handle.sent_bytes, big.size());
  close_and_wait(handle);
  ::close(peer);
}

TEST_P(UringBackendTest, TellsOfAResetOnceEvenIfReceivingWasStoppedMeanwhile) {
  const auto [ours, peer] = tcp_pair();
  Recorder handle;
  backend->open(handle, ours);
  backend->start_receive(handle);
  settle();
  backend->stop_receive(handle);
  reset(peer);
  settle();
  EXPECT_FALSE(handle.end.has_value());
  backend->start_receive(handle);
  EXPECT_FALSE(handle.end.has_value());
  turn_until([&] { return handle.end.has_value(); });
  EXPECT_EQ(handle.end->code(), Errc::Reset);
  close_and_wait(handle);
}

TEST_P(UringBackendTest, FailsASendToAPeerThatIsGone) {
  const auto [ours, peer] = socket_pair();
  ::close(peer);
  Recorder handle;
  backend->open(handle, ours);
  backend->send(handle, std::array{slice("lost")});
  EXPECT_FALSE(handle.send_failure.has_value());
  turn_until([&] { return handle.send_failure.has_value(); });
  EXPECT_EQ(handle.send_failure->code(), Errc::Closed);
  close_and_wait(handle);
}

TEST_P(UringBackendTest, BoundsWhatAFloodBringsAfterStopping) {
  const auto [ours, peer] = tcp_pair();
  ::fcntl(peer, F_SETFL, O_NONBLOCK);
  Recorder handle;
  backend->open(handle, ours);
  backend->start_receive(handle);
  settle();
  backend->stop_receive(handle);
  const std::string chunk(1 << 18, 'f');
  const auto flood = [&] {
    std::size_t total = 0;
    for (int i = 0; i < 200; ++i) {
      const ssize_t count = ::send(peer, chunk.data(), chunk.size(), MSG_NOSIGNAL);
      if (count > 0) total += static_cast<std::size_t>(count);
      backend->turn(0ns);
    }
    return total;
  };
  std::size_t flooded = flood();
  EXPECT_GT(flooded, 1U << 20);
  EXPECT_LE(handle.received.size(), std::size_t{1} << 20);
  const std::size_t before = handle.received.size();
  flooded += flood();
  EXPECT_EQ(handle.received.size(), before);
  backend->start_receive(handle);
  turn_until([&] { return handle.received.size() == flooded; });
  close_and_wait(handle);
  ::close(peer);
}

TEST_P(UringBackendTest, ReceivesAgainWhenStartedWhileStillStopping) {
  const auto [ours, peer] = socket_pair();
  Recorder handle;
  backend->open(handle, ours);
  std::size_t written = 0;
  handle.when_received = [&](std::span<char>) {
    backend->stop_receive(handle);
    backend->start_receive(handle);
    backend->stop_receive(handle);
    backend->start_receive(handle);
  };
  backend->start_receive(handle);
  for (int i = 0; i < 100; ++i) {
    if (i % 3 == 0) backend->stop_receive(handle);
    write_all(peer, "0123456789");
    written += 10;
    backend->turn(0ns);
    backend->start_receive(handle);
    if (i % 5 == 0) backend->turn(0ns);
  }
  turn_until([&] { return handle.received.size() == written; });
  close_and_wait(handle);
  ::close(peer);
}

TEST_P(UringBackendTest, ShutsDownAfterThePendingSend) {
  const auto [ours, peer] = socket_pair();
  Recorder handle;
  backend->open(handle, ours);
  handle.when_sent = [&] {
    if (handle.sent_calls == 1) backend->send(handle, std::array{slice(" and last")});
  };
  backend->send(handle, std::array{slice("first")});
  backend->shutdown_write(handle);
  std::string all;
  turn_until([&] {
    all += read_some(peer);
    return handle.sent_calls == 2;
  });
  all += read_some(peer);
  EXPECT_EQ(all, "first and last");
  char byte = 0;
  EXPECT_EQ(::recv(peer, &byte, 1, 0), 0);
  close_and_wait(handle);
  ::close(peer);
}

TEST_P(UringBackendTest, SendsAFileInPiecesAndRefusesToSendMoreThanItHas) {
  constexpr std::size_t file_bytes = std::size_t{5} << 20;
  std::FILE* const file = std::tmpfile();
  ASSERT_NE(file, nullptr);
  const std::string content(file_bytes, 'c');
  ASSERT_EQ(std::fwrite(content.data(), 1, file_bytes, file), file_bytes);
  ASSERT_EQ(std::fflush(file), 0);
  const auto [ours, peer] = tcp_pair();
  ::fcntl(peer, F_SETFL, O_NONBLOCK);
  Recorder handle;
  backend->open(handle, ours);
  std::size_t taken = 0, arrived = 0;
  const auto send_rest = [&] {
    taken += handle.sent_bytes;
    handle.sent_bytes = 0;
    // One byte more than the file has.
    taken += backend->send_file(handle, ::fileno(file), taken, file_bytes + 1 - taken);
  };
  handle.when_sent = send_rest;
  send_rest();
  turn_until([&] {
    while (const std::size_t count = read_some(peer).size()) arrived += count;
    return handle.send_failure.has_value() && arrived == file_bytes;
  });
  EXPECT_EQ(taken, file_bytes);
  EXPECT_EQ(handle.send_failure->code(), Errc::TruncatedBody);
  close_and_wait(handle);
  ::close(peer);
  std::fclose(file);
}

TEST_P(UringBackendTest, ClosesWhileAFileWaitsForRoom) {
  std::FILE* const file = std::tmpfile();
  ASSERT_NE(file, nullptr);
  ASSERT_EQ(::ftruncate(::fileno(file), off_t{1} << 30), 0);
  const auto [ours, peer] = tcp_pair();
  Recorder handle;
  backend->open(handle, ours);
  std::size_t taken = 0;
  const auto send_rest = [&] {
    taken += backend->send_file(handle, ::fileno(file), taken, (std::size_t{1} << 30) - taken);
  };
  handle.when_sent = send_rest;
  send_rest();
  settle();
  const int calls = handle.sent_calls;
  close_and_wait(handle);
  EXPECT_EQ(handle.sent_calls, calls);
  ::close(peer);
  std::fclose(file);
}

}  // namespace
}  // namespace skua::loop
