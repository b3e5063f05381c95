// SPDX-License-Identifier: MIT
// Sending memory and files on every back end, to fast, slow and vanished readers.
#include <array>
#include <cstdio>

#include "backend_harness.hpp"

namespace skua::loop {
namespace {

class BackendSend : public BackendTest {
 protected:
  struct Closer {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  using File = std::unique_ptr<std::FILE, Closer>;

  static File file_of(std::string_view text) {
    File file(std::tmpfile());
    EXPECT_EQ(std::fwrite(text.data(), 1, text.size(), file.get()), text.size());
    std::fflush(file.get());
    return file;
  }
};
INSTANTIATE_TEST_SUITE_P(Every, BackendSend, ::testing::ValuesIn(testing::backends()),
                         testing::backend_name);

TEST_P(BackendSend, GathersSlicesInOrder) {
  Pair pair = connected_pair();
  Probe probe(*backend, std::move(pair.ours));
  const std::string text = pattern(3000);
  std::vector<Slice> slices;
  for (std::size_t i = 0; i < 3000; i += 20) slices.push_back({text.data() + i, 20});
  slices.insert(slices.begin() + 3, Slice{text.data(), 0});
  probe.send(slices);
  EXPECT_EQ(read_exactly(pair.peer, text.size(), 65536), text);
  turn_until([&] { return !probe.is_sending(); });
  EXPECT_EQ(probe.sent, text.size());
  close_all({&probe});
}

TEST_P(BackendSend, SendsMoreThanTheSocketHoldsToASlowReader) {
  Pair pair = connected_pair();
  Probe probe(*backend, std::move(pair.ours));
  const std::string text = pattern(12'000'000);
  probe.send({Slice{text.data(), 5'000'000}, Slice{text.data() + 5'000'000, 7'000'000}});
  EXPECT_TRUE(probe.is_sending());
  settle();
  EXPECT_TRUE(read_exactly(pair.peer, text.size(), 40'000) == text);
  turn_until([&] { return !probe.is_sending(); });
  EXPECT_EQ(probe.sent, text.size());
  settle();  // an extra on_sent would fail the probe
  close_all({&probe});
}

TEST_P(BackendSend, SendsAndReceivesAtTheSameTime) {
  Pair pair = connected_pair();
  Probe probe(*backend, std::move(pair.ours));
  probe.start_receive();
  const std::string text = pattern(8'000'000);
  probe.send(text);
  std::string out;
  std::size_t written = 0;
  turn_until([&] {
    if (written < 100'000) {
      write(pair.peer, std::string_view(text).substr(written, 1000));
      written += 1000;
    }
    out += read(pair.peer, 100'000);
    return out.size() == text.size() && probe.received.size() == 100'000;
  });
  EXPECT_TRUE(out == text);
  EXPECT_TRUE(probe.received == text.substr(0, 100'000));
  close_all({&probe});
}

TEST_P(BackendSend, TellsOfAFailureOnceAndNeverInsideSend) {
  Pair pair = connected_pair();
  Probe probe(*backend, std::move(pair.ours));
  probe.start_receive();
  reset(pair.peer);
  turn_until([&] { return probe.receive_end.has_value(); });
  probe.send("to nobody");
  turn_until([&] { return probe.send_failure.has_value(); });
  EXPECT_TRUE(is_gone(probe.send_failure));
  settle();
  close_all({&probe});
}

TEST_P(BackendSend, APendingSendFailsWhenThePeerResets) {
  Pair pair = connected_pair();
  Probe probe(*backend, std::move(pair.ours));
  const std::string text = pattern(12'000'000);
  probe.send(text);
  settle();
  EXPECT_TRUE(probe.is_sending());
  reset(pair.peer);
  turn_until([&] { return probe.send_failure.has_value(); });
  EXPECT_LT(probe.sent, text.size());
  settle();
  close_all({&probe});
}

TEST_P(BackendSend, ATryTakesWhatFitsAndTellsNothing) {
  Pair pair = connected_pair();
  Probe probe(*backend, std::move(pair.ours));
  const std::string text = pattern(12'000'000);
  const std::string_view all = text;
  const std::array<Slice, 2> start{Slice{text.data(), 6}, Slice{text.data() + 6, 4}};
  EXPECT_EQ(backend->try_send(probe, start), 10U);
  EXPECT_EQ(read_exactly(pair.peer, 10, 65536), all.substr(0, 10));
  const Slice rest{text.data() + 10, text.size() - 10};
  const std::size_t taken = backend->try_send(probe, {&rest, 1});
  EXPECT_GT(taken, 0U);
  EXPECT_LT(taken, rest.size_bytes);
  settle();
  EXPECT_EQ(probe.call_count, 0);
  // The next send takes over the remaining bytes, and nothing overtakes it.
  probe.send(all.substr(10 + taken));
  EXPECT_EQ(backend->try_send(probe, {&rest, 1}), 0U);
  EXPECT_TRUE(read_exactly(pair.peer, text.size() - 10, 65536) == all.substr(10));
  turn_until([&] { return !probe.is_sending(); });
  close_all({&probe});
}

TEST_P(BackendSend, ATryThatFailsTakesNothingAndTheNextSendTells) {
  Pair pair = unix_pair();
  Probe probe(*backend, std::move(pair.ours));
  pair.peer.close();
  const Slice slice{"lost", 4};
  EXPECT_EQ(backend->try_send(probe, {&slice, 1}), 0U);
  settle();
  EXPECT_EQ(probe.call_count, 0);
  probe.send("lost");
  turn_until([&] { return probe.send_failure.has_value(); });
  EXPECT_TRUE(is_gone(probe.send_failure));
  EXPECT_EQ(backend->try_send(probe, {&slice, 1}), 0U);
  close_all({&probe});
  EXPECT_EQ(backend->try_send(probe, {&slice, 1}), 0U);
}

TEST_P(BackendSend, HalfClosesAfterWhatWasSentAndStillReceives) {
  Pair pair = connected_pair();
  Probe probe(*backend, std::move(pair.ours));
  probe.start_receive();
  probe.send("goodbye");
  turn_until([&] { return !probe.is_sending(); });
  probe.shutdown_write();
  EXPECT_EQ(read_exactly(pair.peer, 7, 65536), "goodbye");
  turn_until([&] { return has_ended(pair.peer); });
  write(pair.peer, "and to you");
  turn_until([&] { return probe.received == "and to you"; });
  EXPECT_FALSE(probe.receive_end.has_value());
  pair.peer.close();
  turn_until([&] { return probe.receive_end.has_value(); });
  close_all({&probe});
}

TEST_P(BackendSend, SendsAWholeFile) {
  const std::string text = pattern(100'000);
  const File file = file_of(text);
  Pair pair = connected_pair();
  Probe probe(*backend, std::move(pair.ours));
  probe.send_file(::fileno(file.get()), 0, text.size());
  EXPECT_TRUE(read_exactly(pair.peer, text.size(), 65536) == text);
  turn_until([&] { return !probe.is_sending(); });
  EXPECT_EQ(probe.sent, text.size());
  close_all({&probe});
}

TEST_P(BackendSend, SendsARangeOfAFileBetweenOtherBytes) {
  const std::string text = pattern(100'000);
  const File file = file_of(text);
  Pair pair = connected_pair();
  Probe probe(*backend, std::move(pair.ours));
  probe.send("head;");
  turn_until([&] { return !probe.is_sending(); });
  probe.send_file(::fileno(file.get()), 12'345, 23'456);
  turn_until([&] { return !probe.is_sending(); });
  probe.send(";tail");
  EXPECT_TRUE(read_exactly(pair.peer, 23'466, 65536) ==
              "head;" + text.substr(12'345, 23'456) + ";tail");
  close_all({&probe});
}

TEST_P(BackendSend, SendsALargeFileToASlowReader) {
  const std::string text = pattern(9'000'000);
  const File file = file_of(text);
  Pair pair = connected_pair();
  Probe probe(*backend, std::move(pair.ours));
  probe.send_file(::fileno(file.get()), 0, text.size());
  EXPECT_TRUE(read_exactly(pair.peer, text.size(), 40'000) == text);
  turn_until([&] { return !probe.is_sending(); });
  EXPECT_EQ(probe.sent, text.size());
  close_all({&probe});
}

TEST_P(BackendSend, AFileThatIsTooShortIsAFailure) {
  const std::string text = pattern(1000);
  const File file = file_of(text);
  Pair pair = connected_pair();
  Probe probe(*backend, std::move(pair.ours));
  probe.send_file(::fileno(file.get()), 0, 2000);
  turn_until([&] { return probe.send_failure.has_value(); });
  EXPECT_EQ(*probe.send_failure, Errc::TruncatedBody);
  EXPECT_EQ(read_exactly(pair.peer, 1000, 65536), text);
  settle();
  close_all({&probe});
}

TEST_P(BackendSend, AFileToAVanishedReaderIsAFailureAndNoSignal) {
  const std::string text = pattern(5000);
  const File file = file_of(text);
  Pair pair = connected_pair();
  Probe probe(*backend, std::move(pair.ours));
  probe.start_receive();
  reset(pair.peer);
  turn_until([&] { return probe.receive_end.has_value(); });
  probe.send_file(::fileno(file.get()), 0, text.size());
  turn_until([&] { return probe.send_failure.has_value(); });
  EXPECT_TRUE(is_gone(probe.send_failure));
  close_all({&probe});
}

}  // namespace
}  // namespace skua::loop
