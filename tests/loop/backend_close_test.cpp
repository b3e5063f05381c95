// SPDX-License-Identifier: MIT
// Closing at any time, on every back end: on_closed comes once, last, and never inside close().
#include "backend_harness.hpp"

namespace skua::loop {
namespace {

class BackendClose : public BackendTest {};
INSTANTIATE_TEST_SUITE_P(Every, BackendClose, ::testing::ValuesIn(testing::backends()),
                         testing::backend_name);

TEST_P(BackendClose, ClosesAnIdleHandleAndThePeerSeesTheEnd) {
  Pair pair = connected_pair();
  Probe probe(*backend, std::move(pair.ours));
  probe.close();
  EXPECT_EQ(probe.closed_count, 0);
  EXPECT_FALSE(probe.is_open());
  backend->turn(Duration(-1));  // must return without any other event
  close_all({&probe});
  EXPECT_TRUE(has_ended(pair.peer));
}

TEST_P(BackendClose, ClosingTwiceIsClosingOnce) {
  Pair pair = connected_pair();
  Probe probe(*backend, std::move(pair.ours));
  probe.close();
  close_all({&probe});
}

TEST_P(BackendClose, CancelsAPendingSendAndReceive) {
  Pair pair = connected_pair();
  Probe probe(*backend, std::move(pair.ours));
  probe.start_receive();
  const std::string text = pattern(12'000'000);
  probe.send(text);
  settle();
  EXPECT_TRUE(probe.is_sending());
  write(pair.peer, "too late");
  close_all({&probe});  // after close() the probe accepts only on_closed
  EXPECT_EQ(probe.closed_count, 1);
}

TEST_P(BackendClose, CancelsAFailureThatWasNotToldYet) {
  Pair pair = connected_pair();
  Probe probe(*backend, std::move(pair.ours));
  probe.start_receive();
  reset(pair.peer);
  turn_until([&] { return probe.receive_end.has_value(); });
  probe.send("to nobody");
  close_all({&probe});
  EXPECT_FALSE(probe.send_failure.has_value());
}

TEST_P(BackendClose, WorksInsideOnReceive) {
  Pair pair = connected_pair();
  Probe probe(*backend, std::move(pair.ours));
  probe.after_call = [&](std::string_view name) {
    if (name == "on_receive") probe.close();
  };
  probe.start_receive();
  write(pair.peer, "close now");
  write(pair.peer, ", and no more");
  turn_until([&] { return probe.closed_count == 1; });
  close_all({&probe});
}

TEST_P(BackendClose, WorksInsideOnReceiveEnd) {
  Pair pair = connected_pair();
  Probe probe(*backend, std::move(pair.ours));
  probe.after_call = [&](std::string_view name) {
    if (name == "on_receive_end") probe.close();
  };
  probe.start_receive();
  pair.peer.close();
  turn_until([&] { return probe.closed_count == 1; });
  close_all({&probe});
}

TEST_P(BackendClose, WorksInsideOnSent) {
  Pair pair = connected_pair();
  Probe probe(*backend, std::move(pair.ours));
  probe.after_call = [&](std::string_view name) {
    if (name == "on_sent") probe.close();
  };
  const std::string text = pattern(12'000'000);
  probe.send(text);
  turn_until([&] { return read(pair.peer), probe.closed_count == 1; });
  close_all({&probe});
}

TEST_P(BackendClose, WorksInsideOnSendFailed) {
  Pair pair = connected_pair();
  Probe probe(*backend, std::move(pair.ours));
  probe.after_call = [&](std::string_view name) {
    if (name == "on_send_failed") probe.close();
  };
  probe.start_receive();
  reset(pair.peer);
  turn_until([&] { return probe.receive_end.has_value(); });
  probe.send("to nobody");
  turn_until([&] { return probe.closed_count == 1; });
  close_all({&probe});
}

TEST_P(BackendClose, WorksInsideOnAcceptAndOnConnect) {
  Socket listening = listener();
  const Address address = net::local_address(listening.descriptor());
  Probe server(*backend, std::move(listening));
  Probe client(*backend, *net::create_socket(Address::Family::Ipv4));
  server.after_call = [&](std::string_view name) {
    if (name == "on_accept") server.close();
  };
  client.after_call = [&](std::string_view name) {
    if (name == "on_connect") client.close();
  };
  server.start_accept();
  client.connect(address);
  turn_until([&] { return server.closed_count == 1 && client.closed_count == 1; });
  EXPECT_EQ(server.accepted.size(), 1U);
  close_all({&server, &client});
}

TEST_P(BackendClose, AHandleMayBeDestroyedInsideOnClosed) {
  Pair pair = connected_pair();
  auto probe = std::make_unique<Probe>(*backend, std::move(pair.ours));
  bool is_destroyed = false;
  probe->start_receive();
  write(pair.peer, "unread");
  probe->after_call = [&](std::string_view name) {
    if (name != "on_closed") return;
    is_destroyed = true;
    auto* const last = probe.release();
    // Keeps this lambda, which belongs to the probe, alive while it runs.
    const auto keep = std::move(last->after_call);
    delete last;
  };
  probe->close();
  turn_until([&] { return is_destroyed; });
  settle();
}

TEST_P(BackendClose, AHandleMayBeOpenedAgainInsideOnClosed) {
  Pair first = connected_pair();
  Pair second = connected_pair();
  Probe probe(*backend, std::move(first.ours));
  probe.start_receive();
  Probe next(*backend);
  probe.after_call = [&](std::string_view name) {
    if (name != "on_closed") return;
    next.open(std::move(second.ours));
    next.start_receive();
  };
  write(second.peer, "hello");
  probe.close();
  turn_until([&] { return next.received == "hello"; });
  close_all({&next});
}

TEST_P(BackendClose, ClosingAnotherHandleInsideACallbackSilencesIt) {
  // All are ready in the same batch. The first one notified closes all others.
  constexpr std::size_t count = 16;
  std::vector<Pair> pairs;
  std::vector<std::unique_ptr<Probe>> probes;
  int heard = 0;
  for (std::size_t i = 0; i < count; ++i) {
    pairs.push_back(connected_pair());
    probes.push_back(std::make_unique<Probe>(*backend, std::move(pairs.back().ours)));
  }
  for (auto& probe : probes) {
    probe->after_call = [&, self = probe.get()](std::string_view name) {
      if (name != "on_receive") return;
      ++heard;
      for (auto& other : probes) {
        if (other.get() != self) other->close();
      }
    };
    probe->start_receive();
  }
  for (const Pair& pair : pairs) write(pair.peer, "x");
  turn_until([&] {
    std::size_t closed = 0;
    for (const auto& probe : probes) closed += probe->closed_count == 1 ? 1 : 0;
    return closed == count - 1;
  });
  EXPECT_EQ(heard, 1);
  for (auto& probe : probes) close_all({probe.get()});
}

TEST_P(BackendClose, SurvivesTheChurnOfManyHandles) {
  Probe server(*backend, listener());
  const Address address = net::local_address(server.descriptor());
  std::vector<std::unique_ptr<Probe>> clients;
  std::vector<std::unique_ptr<Probe>> served;
  std::size_t echoed = 0;
  server.after_call = [&](std::string_view name) {
    if (name != "on_accept") return;
    auto& probe = *served.emplace_back(
        std::make_unique<Probe>(*backend, std::exchange(server.accepted.back(), Socket())));
    server.accepted.clear();
    probe.after_call = [&probe](std::string_view what) {
      if (what == "on_receive" && probe.received == "ping") probe.send("pong");
      if (what == "on_receive_end") probe.close();
    };
    probe.start_receive();
  };
  server.start_accept();
  for (int round = 0; round < 40; ++round) {
    for (int i = 0; i < 8; ++i) {
      auto& probe = *clients.emplace_back(
          std::make_unique<Probe>(*backend, *net::create_socket(Address::Family::Ipv4)));
      probe.after_call = [&probe, &echoed](std::string_view what) {
        if (what == "on_connect") probe.start_receive(), probe.send("ping");
        if (what == "on_receive" && probe.received == "pong") ++echoed, probe.close();
      };
      probe.connect(address);
    }
    turn_until([&] { return echoed == static_cast<std::size_t>(round + 1) * 8; });
  }
  turn_until([&] {
    std::size_t closed = 0;
    for (const auto& probe : clients) closed += probe->closed_count == 1 ? 1 : 0;
    for (const auto& probe : served) closed += probe->closed_count == 1 ? 1 : 0;
    return closed == 640;
  });
  close_all({&server});
}

TEST_P(BackendClose, ABackEndThatGoesTellsWhatWasClosing) {
  Pair pair = connected_pair();
  Probe probe(*backend, std::move(pair.ours));
  probe.start_receive();
  settle();
  probe.close();
  backend.reset();
  EXPECT_EQ(probe.closed_count, 1);
}

}  // namespace
}  // namespace skua::loop
