// SPDX-License-Identifier: MIT
// Streams and listeners of programs, on every back end.
#include <array>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "skua/async.hpp"
#include "skua/loop.hpp"
#include "skua/resolver.hpp"
#include "skua/stream.hpp"
#include "support/temporary_directory.hpp"
#include "support/test_server.hpp"

namespace skua {
namespace {

class Streams : public ::testing::TestWithParam<BackendChoice> {
 protected:
  [[nodiscard]] Address address() const { return listener->address(); }

  /// Runs two tasks until both have ended.
  void run_both(Task<> a, Task<> b) {
    loop->run([](Task<> first, Task<> second) -> Task<> {
      const auto done = co_await when_all(std::move(first), std::move(second));
      static_cast<void>(done);
    }(std::move(a), std::move(b)));
  }

  /// Connects a stream to the listener, and returns both ends.
  std::pair<TcpStream, TcpStream> connected() {
    const auto both = [](Address to, Listener& at) -> Task<std::pair<TcpStream, TcpStream>> {
      auto here = co_await TcpStream::connect(to);
      auto there = co_await at.accept();
      std::pair<TcpStream, TcpStream> ends(std::move(here).value(), std::move(there).value());
      co_return ends;
    };
    return loop->run(both(address(), *listener));
  }

  template <class T>
  T run(Task<T> task) {
    return loop->run(std::move(task));
  }

  /// Sends alongside the test. `bytes` outlives the sending.
  void begin_send(TcpStream& stream, std::string_view bytes) {
    loop->spawn(stream.send(bytes), [](const Result<void>& sent) { EXPECT_TRUE(sent); });
  }
  /// Ends the side of `from`, and returns all that arrives at `to`.
  std::string send_to_the_end(TcpStream& from, TcpStream& to);

  const std::unique_ptr<Loop> loop = Loop::create({.backend = GetParam()}).value();
  std::optional<Listener> listener =
      Listener::listen(Address::loopback(Address::Family::Ipv4, 0)).value();
};

Task<std::string> receive_everything(TcpStream& stream) {
  std::string all;
  std::array<char, 4096> room;
  while (true) {
    const Result<std::size_t> count = co_await stream.receive(room);
    if (!count) {
      EXPECT_EQ(count.error().code(), Errc::Closed);
      co_return all;
    }
    all.append(room.data(), *count);
  }
}

std::string Streams::send_to_the_end(TcpStream& from, TcpStream& to) {
  auto done = run(when_all(from.shutdown_write(), receive_everything(to)));
  EXPECT_TRUE(std::get<0>(done));
  return std::move(std::get<1>(done));
}

TEST_P(Streams, ExchangeBytesBothWays) {
  auto [here, there] = connected();
  EXPECT_EQ(here.peer_address(), address());
  EXPECT_EQ(there.peer_address(), here.local_address());
  EXPECT_TRUE(run(here.send("ping")));
  std::array<char, 16> room;
  EXPECT_EQ(run(there.receive(room)).value(), 4U);
  EXPECT_EQ(std::string_view(room.data(), 4), "ping");
  EXPECT_TRUE(run(there.send("pong")));
  EXPECT_TRUE(run(here.receive_all(std::span(room).first(4))));
  EXPECT_EQ(std::string_view(room.data(), 4), "pong");
}

TEST_P(Streams, KeepWhatDoesNotFitIntoTheRoom) {
  auto [here, there] = connected();
  EXPECT_TRUE(run(here.send("abcdef")));
  std::array<char, 4> room;
  EXPECT_EQ(run(there.receive(std::span(room).first(1))).value(), 1U);
  EXPECT_EQ(run(there.receive(std::span(room).first(4))).value(), 4U);
  EXPECT_EQ(std::string_view(room.data(), 4), "bcde");
  EXPECT_EQ(run(there.receive(room)).value(), 1U);
}

TEST_P(Streams, ReceiveLines) {
  auto [here, there] = connected();
  EXPECT_TRUE(run(here.send("one\r\n\r\nthr")));
  EXPECT_EQ(run(there.receive_until("\r\n")).value(), "one");
  EXPECT_EQ(run(there.receive_until("\r\n")).value(), "");
  EXPECT_EQ(run(there.receive_until("\r\n", 64_KiB, 1ms)).error().code(), Errc::TimedOut);
  EXPECT_TRUE(run(here.send("ee\r")));
  EXPECT_TRUE(run(here.send("\nrest")));
  EXPECT_EQ(run(there.receive_until("\r\n")).value(), "three");
  EXPECT_TRUE(run(here.shutdown_write()));
  EXPECT_EQ(run(there.receive_until("\r\n")).error().code(), Errc::Closed);
  std::array<char, 8> room;
  EXPECT_EQ(run(there.receive(room)).value(), 4U);  // what came without an end is not lost
}

TEST_P(Streams, RefuseALineThatIsTooLong) {
  auto [here, there] = connected();
  EXPECT_TRUE(run(here.send("12345\n123456\n")));
  EXPECT_EQ(run(there.receive_until("\n", 5)).value(), "12345");
  EXPECT_EQ(run(there.receive_until("\n", 5)).error().code(), Errc::MessageTooLong);
  EXPECT_EQ(run(there.receive_until("\n", 6)).value(), "123456");
}

TEST_P(Streams, ReceiveLinesOfAnyLength) {
  constexpr std::size_t any_length = std::numeric_limits<std::size_t>::max();
  for (const char* const end : {"\n", "\r\n"}) {
    auto [here, there] = connected();
    const auto none = run(there.receive_until(end, any_length, 1ms));
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().code(), Errc::TimedOut);
    std::array<char, 1> room;
    EXPECT_TRUE(run(here.send("-half")));
    EXPECT_TRUE(run(there.receive_all(room)));  // the rest is kept
    const auto half = run(there.receive_until(end, any_length, 1ms));
    ASSERT_FALSE(half);
    EXPECT_EQ(half.error().code(), Errc::TimedOut);
    EXPECT_TRUE(run(here.send(std::string(" and half") + end)));
    EXPECT_EQ(run(there.receive_until(end, any_length)).value(), "half and half");
  }
}

// More than the buffers of both systems hold: the sender waits for the receiver.
TEST_P(Streams, SendLargeContentToASlowReader) {
  auto [here, there] = connected();
  const std::string content(8_MiB, 'x');
  std::string received;
  const auto send = [](TcpStream& stream, const std::string& all) -> Task<> {
    const Result<void> sent = co_await stream.send(all);
    EXPECT_TRUE(sent);
    const Result<void> ended = co_await stream.shutdown_write();
    EXPECT_TRUE(ended);
  };
  const auto receive = [](TcpStream& stream, std::string& all) -> Task<> {
    co_await sleep(5ms);
    all = co_await receive_everything(stream);
  };
  run_both(send(here, content), receive(there, received));
  EXPECT_EQ(received.size(), content.size());
}

TEST_P(Streams, SendsOfTwoTasksDoNotMix) {
  auto [here, there] = connected();
  const std::string as(2_MiB, 'a');
  const std::string bs(2_MiB, 'b');
  std::string received;
  const auto send = [](TcpStream& stream, std::string_view one, std::string_view two) -> Task<> {
    const auto sent = co_await when_all(stream.send(one), stream.send(two));
    EXPECT_TRUE(std::get<0>(sent) && std::get<1>(sent));
    const Result<void> ended = co_await stream.shutdown_write();
    EXPECT_TRUE(ended);
  };
  const auto receive = [](TcpStream& stream, std::string& all) -> Task<> {
    all = co_await receive_everything(stream);
  };
  run_both(send(here, as, bs), receive(there, received));
  EXPECT_TRUE(received == as + bs);
}

TEST_P(Streams, WhatIsWrittenFollowsTheSendsThatBeganBefore) {
  auto [here, there] = connected();
  const std::string as(16_MiB, 'a');
  const std::string bs(1_MiB, 'b');
  begin_send(here, as);
  const std::uint64_t queued = here.unsent_bytes();
  EXPECT_GT(queued, 0U);
  here.write("between ");
  EXPECT_EQ(here.unsent_bytes(), queued + 8);
  begin_send(here, bs);
  here.write("the ");
  here.write("end");
  EXPECT_EQ(here.unsent_bytes(), queued + 15);
  EXPECT_TRUE(send_to_the_end(here, there) == as + "between " + bs + "the end");
  EXPECT_EQ(here.unsent_bytes(), 0U);
}

TEST_P(Streams, WhatIsWrittenIsSentThoughTheSendBeforeTimesOut) {
  auto [here, there] = connected();
  const std::string large(16_MiB, 'x');
  begin_send(here, large);
  Errc ended = Errc::None;
  loop->spawn(here.send("late", 1ms), [&](const Result<void>& sent) {
    ended = sent.error().code();
    loop->stop();
  });
  here.write("written");
  loop->run();
  EXPECT_EQ(ended, Errc::TimedOut);
  EXPECT_TRUE(send_to_the_end(here, there) == large + "written");
}

TEST_P(Streams, WhatACallbackWritesFollowsTheSendThatRuns) {
  auto [here, there] = connected();
  const std::string large(16_MiB, 'x');
  int calls = 0;
  here.on_sent([&](Error why) {
    EXPECT_EQ(why.code(), Errc::None);
    if (++calls == 1) here.write("last");
  });
  here.write("first");
  begin_send(here, large);
  EXPECT_TRUE(send_to_the_end(here, there) == "first" + large + "last");
  EXPECT_EQ(calls, 2);
}

TEST_P(Streams, TimeOut) {
  auto [here, there] = connected();
  std::array<char, 16> room;
  EXPECT_EQ(run(here.receive(room, 1ms)).error().code(), Errc::TimedOut);
  const std::string large(32_MiB, 'x');
  EXPECT_EQ(run(here.send(large, 20ms)).error().code(), Errc::TimedOut);
  EXPECT_GT(here.unsent_bytes(), 0U);
}

TEST_P(Streams, HalfCloseBothWays) {
  auto [here, there] = connected();
  EXPECT_TRUE(run(here.send("question")));
  EXPECT_TRUE(run(here.shutdown_write()));
  EXPECT_EQ(run(receive_everything(there)), "question");
  EXPECT_TRUE(run(there.send("answer")));
  EXPECT_TRUE(run(there.shutdown_write()));
  EXPECT_EQ(run(receive_everything(here)), "answer");
}

TEST_P(Streams, FinishDeliversEverythingBeforeItCloses) {
  auto [here, there] = connected();
  std::string received;
  const auto finish = [](TcpStream& stream) -> Task<> {
    stream.write("the last words");
    co_await stream.finish();
  };
  const auto receive = [](TcpStream& stream, std::string& all) -> Task<> {
    all = co_await receive_everything(stream);
    stream.close();
  };
  run_both(finish(here), receive(there, received));
  EXPECT_EQ(received, "the last words");
}

TEST_P(Streams, AResetEndsReceivingAndSending) {
  auto [here, there] = connected();
  EXPECT_TRUE(run(here.send("x")));
  {
    auto released = run(there.release()).value();
    EXPECT_TRUE(released.socket.set_linger(0s));
  }
  std::array<char, 16> room;
  EXPECT_EQ(run(here.receive(room)).error().code(), Errc::Reset);
  EXPECT_FALSE(run(here.send("after the reset")));  // and no SIGPIPE
}

TEST_P(Streams, DroppingATaskCancelsIt) {
  auto [here, there] = connected();
  std::array<char, 16> room{};
  {
    const auto other = [](TcpStream& stream, std::span<char> into) -> Task<> {
      const Result<std::size_t> never = co_await stream.receive(into);
      ADD_FAILURE() << never.has_value();
    };
    Scope scope;
    loop->run([](Scope& in, Task<> task) -> Task<> {
      in.spawn(std::move(task));
      co_await sleep(1ms);
    }(scope, other(there, room)));
  }
  EXPECT_TRUE(run(here.send("later")));
  std::array<char, 16> second{};
  EXPECT_EQ(run(there.receive(second)).value(), 5U);
  EXPECT_EQ(room[0], '\0');
}

TEST_P(Streams, OnlyOneTaskReceives) {
  auto [here, there] = connected();
  std::array<char, 16> room;
  Errc second = Errc::None;
  const auto both = [](TcpStream& stream, std::span<char> into, Errc& code) -> Task<> {
    Scope scope;
    scope.spawn([](TcpStream& its, std::span<char> its_room) -> Task<> {
      const Result<std::size_t> never = co_await its.receive(its_room);
      static_cast<void>(never);
    }(stream, into));
    const Result<std::size_t> refused = co_await stream.receive(into);
    code = refused.error().code();
  };
  run(both(here, room, second));
  EXPECT_EQ(second, Errc::AlreadyStarted);
}

TEST_P(Streams, ClosingEndsWhatWaits) {
  auto [here, there] = connected();
  std::array<char, 16> room;
  Errc ended = Errc::None;
  loop->spawn(here.receive(room), [&](const Result<std::size_t>& result) {
    ended = result.error().code();
    loop->stop();
  });
  loop->post([&] { here.close(); });
  loop->run();
  EXPECT_EQ(ended, Errc::Closed);
  EXPECT_FALSE(here);
  EXPECT_EQ(run(here.send("x")).error().code(), Errc::Closed);
  EXPECT_EQ(run(there.receive(room)).error().code(), Errc::Closed);
}

TEST_P(Streams, AMovedFromOrEmptyStreamIsHarmless) {
  TcpStream empty;
  std::array<char, 4> room;
  EXPECT_FALSE(empty);
  EXPECT_EQ(run(empty.receive(room)).error().code(), Errc::Closed);
  EXPECT_EQ(run(empty.release()).error().code(), Errc::Closed);
  run(empty.finish());
  empty.write("x");
  empty.close();
  EXPECT_EQ(empty.peer_address(), Address());
  auto [here, there] = connected();
  TcpStream moved = std::move(here);
  EXPECT_FALSE(here);
  EXPECT_TRUE(run(moved.send("x")));
}

TEST_P(Streams, CallBackWithWhatArrives) {
  auto [here, there] = connected();
  std::string received;
  std::optional<Errc> ended;
  there.on_receive([&](std::string_view bytes) { received += bytes; });
  there.on_end([&](Error why) {
    ended = why.code();
    loop->stop();
  });
  here.write("by");
  here.write("tes");
  const auto end = [](TcpStream& stream) -> Task<> {
    const Result<void> sent = co_await stream.shutdown_write();
    EXPECT_TRUE(sent);
  };
  loop->spawn(end(here));
  loop->run();
  EXPECT_EQ(received, "bytes");
  EXPECT_EQ(ended, Errc::None);
}

TEST_P(Streams, CallbacksGetWhatArrivedBefore) {
  auto [here, there] = connected();
  EXPECT_TRUE(run(here.send("early")));
  std::array<char, 1> room;
  EXPECT_EQ(run(there.receive(room)).value(), 1U);  // the rest is kept
  std::string received;
  there.on_receive([&](std::string_view bytes) {
    received += bytes;
    loop->stop();
  });
  loop->run();
  EXPECT_EQ(received, "arly");
}

TEST_P(Streams, ACallbackMayCloseItsStream) {
  auto [here, there] = connected();
  int calls = 0;
  there.on_receive([&](std::string_view) {
    ++calls;
    there.close();
    loop->stop();
  });
  here.write("x");
  loop->run();
  EXPECT_EQ(calls, 1);
  std::array<char, 4> room;
  EXPECT_FALSE(run(here.receive(room)));
}

TEST_P(Streams, TellWhenTheQueueIsSent) {
  auto [here, there] = connected();
  const std::string large(8_MiB, 'x');
  std::size_t received = 0;
  bool is_sent = false;
  here.on_sent([&](Error why) {
    EXPECT_EQ(why.code(), Errc::None);
    EXPECT_EQ(here.unsent_bytes(), 0U);
    is_sent = true;
  });
  there.on_receive([&](std::string_view bytes) {
    received += bytes.size();
    if (received == large.size()) loop->stop();
  });
  here.write(large);
  EXPECT_EQ(here.unsent_bytes(), large.size());
  loop->run();
  EXPECT_TRUE(is_sent);
}

TEST_P(Streams, GiveTheirSocketAwayWithWhatHadArrived) {
  auto [here, there] = connected();
  EXPECT_TRUE(run(here.send("12345")));
  std::array<char, 2> room;
  EXPECT_EQ(run(there.receive(room)).value(), 2U);
  TcpStream::Released released = run(there.release()).value();
  EXPECT_EQ(released.received, "345");
  EXPECT_TRUE(released.socket.send_all("by hand", 1s));
  std::array<char, 7> answer;
  EXPECT_TRUE(run(here.receive_all(answer)));
  EXPECT_TRUE(run(here.send("to hand")));
  EXPECT_TRUE(released.socket.receive_all(answer, 1s));
  // And back: a socket from elsewhere is adopted.
  TcpStream again(std::move(released.socket));
  EXPECT_TRUE(run(again.send("adopted")));
  EXPECT_TRUE(run(here.receive_all(answer)));
  EXPECT_EQ(std::string_view(answer.data(), answer.size()), "adopted");
}

TEST_P(Streams, GivingTheSocketAwayEndsATaskThatReceives) {
  auto [here, there] = connected();
  std::array<char, 7> room;
  auto done = run(when_all(there.receive(room), there.release()));
  EXPECT_EQ(std::get<0>(done).error().code(), Errc::Closed);
  TcpStream::Released released = std::move(std::get<1>(done)).value();
  EXPECT_TRUE(released.socket.send_all("by hand", 1s));
  EXPECT_TRUE(run(here.receive_all(room)));
  EXPECT_TRUE(run(here.send("to hand")));
  EXPECT_TRUE(released.socket.receive_all(room, 1s));
}

TEST_P(Streams, TheSocketIsGivenAwayAfterWhatIsWrittenMeanwhile) {
  auto [here, there] = connected();
  const auto write = [](TcpStream& stream) -> Task<> {
    stream.write("late");
    co_return;
  };
  auto done = run(when_all(here.release(), write(here)));
  TcpStream::Released released = std::move(std::get<0>(done)).value();
  EXPECT_TRUE(released.socket.send_all(" words", 1s));
  std::string received(10, '\0');
  EXPECT_TRUE(run(there.receive_all(received)));
  EXPECT_EQ(received, "late words");
}

TEST_P(Streams, ConnectionsAreRefusedWithASentence) {
  const Address gone = address();
  listener.reset();
  loop->poll();
  const auto refused = run(TcpStream::connect(gone));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Errc::Refused);
  EXPECT_EQ(refused.error().text,
            "could not connect to " + gone.to_string() + ": the connection was refused");
}

TEST_P(Streams, NamesAreResolvedAndTheirAddressesTried) {
  auto here = run(TcpStream::connect("localhost", address().port()));  // ::1 refuses
  ASSERT_TRUE(here);
  auto there = run(listener->accept());
  EXPECT_TRUE(run(there->send("x")));
  Resolver resolver;
  EXPECT_EQ(run(resolver.resolve("127.0.0.1", 80)).value(),
            std::vector{*Address::parse("127.0.0.1:80")});
  const auto malformed = run(TcpStream::connect("127.1", 80, {.resolver = &resolver}));
  EXPECT_EQ(malformed.error().code(), Errc::InvalidAddress);
}

TEST_P(Streams, UnixSocketsToo) {
  const support::TemporaryDirectory folder;
  const auto path = Address::unix_path((folder.path() / "socket").string()).value();
  auto at = Listener::listen(path).value();
  auto here = run(TcpStream::connect(path));
  auto there = run(at.accept());
  EXPECT_TRUE(run(here->send("unix")));
  std::array<char, 4> room;
  EXPECT_TRUE(run(there->receive_all(room)));
}

TEST_P(Streams, ATakenPortIsAProblem) {
  const auto taken = Listener::listen(address());
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().code(), Errc::AddressInUse);
}

TEST_P(Streams, ListenersCallBack) {
  std::vector<TcpStream> accepted;
  listener->on_accept([&](TcpStream stream) {
    accepted.push_back(std::move(stream));
    if (accepted.size() == 2) loop->stop();
  });
  const auto first = run(TcpStream::connect(address()));
  const auto second = run(TcpStream::connect(address()));
  loop->run();
  EXPECT_EQ(accepted.size(), 2U);
}

TEST_P(Streams, AListenerThatIsDestroyedEndsAccept) {
  Errc ended = Errc::None;
  loop->spawn(listener->accept(), [&](const Result<TcpStream>& result) {
    ended = result.error().code();
    loop->stop();
  });
  loop->post([&] { listener.reset(); });
  loop->run();
  EXPECT_EQ(ended, Errc::Closed);
}

INSTANTIATE_TEST_SUITE_P(Backends, Streams, ::testing::ValuesIn(testing::backends()),
                         testing::backend_name);

}  // namespace
}  // namespace skua
