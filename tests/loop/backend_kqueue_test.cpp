// SPDX-License-Identifier: MIT
// How changes of interest travel to the kernel: with the next wait, and all of them.
#include <unistd.h>

#include "backend_harness.hpp"

namespace skua::loop {
namespace {

std::vector<BackendChoice> kqueue_if_available() {
  if (!Backend::create(BackendChoice::Kqueue)) return {};
  return {BackendChoice::Kqueue};
}

class BackendKqueue : public BackendTest {};
INSTANTIATE_TEST_SUITE_P(Changes, BackendKqueue, ::testing::ValuesIn(kqueue_if_available()),
                         testing::backend_name);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(BackendKqueue);

TEST_P(BackendKqueue, AChangeIsNoSystemCallOfItsOwn) {
  Pair pair = connected_pair();
  Probe probe(*backend, std::move(pair.ours));
  const std::string text = pattern(12'000'000);
  const std::uint64_t before = backend->system_calls().others;
  probe.start_receive();
  probe.send(text);
  EXPECT_TRUE(probe.is_sending());
  EXPECT_EQ(read_exactly(pair.peer, text.size(), 1'000'000), text);
  settle();  // no interest in writing is left
  probe.stop_receive();
  write(pair.peer, "x");
  settle();  // nor in reading
  EXPECT_EQ(backend->system_calls().others, before);
  wait_out(5ms);
  close_all({&probe});
}

TEST_P(BackendKqueue, MakesMoreChangesThanATurnHasEvents) {
  constexpr std::size_t count = 200;
  std::vector<Pair> pairs;
  std::vector<std::unique_ptr<Probe>> probes;
  for (std::size_t i = 0; i < count; ++i) {
    Pair& pair = pairs.emplace_back(connected_pair());
    Probe& probe = *probes.emplace_back(std::make_unique<Probe>(*backend, std::move(pair.ours)));
    probe.start_receive();
    write(pair.peer, "x");
  }
  turn_until([&] {
    return std::ranges::all_of(probes, [](const auto& probe) { return probe->received == "x"; });
  });
  for (auto& probe : probes) close_all({probe.get()});
}

TEST_P(BackendKqueue, TellsEachOwnerThatTheKernelRefused) {
  constexpr std::size_t count = 100;
  std::vector<Pair> pairs;
  std::vector<std::unique_ptr<Probe>> probes;
  for (std::size_t i = 0; i < count; ++i) {
    Pair& pair = pairs.emplace_back(connected_pair());
    probes.push_back(std::make_unique<Probe>(*backend, std::move(pair.ours)));
  }
  for (auto& probe : probes) {
    probe->start_receive();
    ::close(probe->descriptor());  // behind its back, so that the change fails
  }
  settle();
  for (auto& probe : probes) {
    EXPECT_TRUE(probe->receive_end.has_value());
    EXPECT_NE(probe->receive_end, Errc::None);
    close_all({probe.get()});
  }
}

TEST_P(BackendKqueue, AChangeOfAClosedDescriptorIsNotMadeToTheNextOne) {
  Pair first = connected_pair();
  Pair second = connected_pair();
  const int number = second.ours.descriptor();
  Probe caller(*backend, std::move(first.ours));
  auto closed = std::make_unique<Probe>(*backend, std::move(second.ours));
  caller.after_call = [&](std::string_view name) {
    if (name != "on_receive") return;
    closed->start_receive();
    closed->close();  // in the turn in which the change was noted
  };
  caller.start_receive();
  write(first.peer, "x");
  turn_until([&] { return closed->closed_count == 1; });
  closed.reset();
  const Pair next = connected_pair();
  ASSERT_EQ(::dup2(next.ours.descriptor(), number), number);
  const Socket again(number);
  write(next.peer, "y");
  wait_out(5ms);  // an event would spin, or call the destroyed handle
  close_all({&caller});
}

}  // namespace
}  // namespace skua::loop
