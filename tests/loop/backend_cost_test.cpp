// SPDX-License-Identifier: MIT
// Counts the system calls per request that the readiness back ends promise.
#include "backend_harness.hpp"

namespace skua::loop {
namespace {

const std::vector<BackendChoice> readiness{BackendChoice::Epoll, BackendChoice::Poll,
                                           BackendChoice::Kqueue};

class BackendCost : public BackendTest {};
INSTANTIATE_TEST_SUITE_P(Readiness, BackendCost, ::testing::ValuesIn(testing::backends(readiness)),
                         testing::backend_name);

TEST_P(BackendCost, ATurnWithManyReadyConnectionsCostsOneWaitAndAReceiveAndASendEach) {
  constexpr std::size_t count = 64;
  std::vector<Pair> pairs;
  std::vector<std::unique_ptr<Probe>> probes;
  for (std::size_t i = 0; i < count; ++i) {
    Pair& pair = pairs.emplace_back(connected_pair());
    Probe& probe = *probes.emplace_back(std::make_unique<Probe>(*backend, std::move(pair.ours)));
    probe.after_call = [&probe](std::string_view name) {
      if (name == "on_receive") probe.send("answer");
    };
    probe.start_receive();
  }
  settle();
  for (int round = 0; round < 3; ++round) {
    const SystemCalls before = backend->system_calls();
    for (const Pair& pair : pairs) write(pair.peer, "request");
    backend->turn(Duration(-1));
    const SystemCalls& after = backend->system_calls();
    EXPECT_EQ(after.waits - before.waits, 1U);
    EXPECT_EQ(after.receives - before.receives, count);
    EXPECT_EQ(after.sends - before.sends, count);
    EXPECT_EQ(after.others - before.others, 0U);
    for (const Pair& pair : pairs) EXPECT_EQ(read(pair.peer), "answer");
  }
  for (auto& probe : probes) close_all({probe.get()});
}

TEST_P(BackendCost, StoppingAndStartingToReceiveIsFreeWhileNothingArrives) {
  Pair pair = connected_pair();
  Probe probe(*backend, std::move(pair.ours));
  probe.start_receive();
  const std::uint64_t before = backend->system_calls().total();
  for (int i = 0; i < 10; ++i) {
    probe.stop_receive();
    probe.start_receive();
  }
  EXPECT_EQ(backend->system_calls().total(), before);
  close_all({&probe});
}

TEST_P(BackendCost, LimitsOfWaitsAreFreeWhileTheyMoveOn) {
  Pair pair = connected_pair();
  Probe probe(*backend, std::move(pair.ours));
  probe.start_receive();
  write(pair.peer, "x");
  backend->turn(1h);
  const std::uint64_t before = backend->system_calls().waits;
  for (int i = 0; i < 100; ++i) {
    write(pair.peer, "x");
    backend->turn(2h);
  }
  EXPECT_EQ(backend->system_calls().waits - before, 100U);
  EXPECT_EQ(probe.received.size(), 101U);
  backend->turn(1ms);  // a limit that is earlier than those that are set
  backend->turn(1ms);
  close_all({&probe});
}

TEST_P(BackendCost, AConnectionCostsFewSystemCallsBesidesItsRequests) {
  Pair pair = connected_pair();
  const std::uint64_t before = backend->system_calls().others;
  Probe probe(*backend, std::move(pair.ours));
  probe.start_receive();
  pair.peer.close();
  while (!probe.receive_end) backend->turn(Duration(-1));
  close_all({&probe});
  // One close, and on epoll two calls of epoll_ctl. Accept was called outside the back end.
  EXPECT_EQ(backend->system_calls().others - before, GetParam() == BackendChoice::Epoll ? 3U : 1U);
}

}  // namespace
}  // namespace skua::loop
