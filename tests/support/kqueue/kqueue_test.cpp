// SPDX-License-Identifier: MIT
// Tests the promises of the manual page of kqueue(2): on Linux those of the emulation, elsewhere
// the kernel's.
#include <gtest/gtest.h>

#if __has_include(<sys/event.h>)
#include <fcntl.h>
#include <sys/event.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <thread>
#include <vector>

#include "net/socket.hpp"

namespace skua::testing {
namespace {

using Event = struct kevent;
using Filter = decltype(Event::filter);

Event event(int ident, Filter filter, int flags, unsigned fflags = 0, void* udata = nullptr) {
  Event made{};
  made.ident = static_cast<std::uintptr_t>(ident);
  made.filter = filter;
  made.flags = static_cast<decltype(made.flags)>(flags);
  made.fflags = fflags;
  made.udata = udata;
  return made;
}

class Kqueue : public ::testing::Test {
 protected:
  struct Pair {
    Socket ours;
    Socket peer;
  };

  /// Applies changes; returns 0 or an errno.
  int change(std::vector<Event> changes) {
    const int result = ::kevent(queue_.descriptor(), changes.data(),
                                static_cast<int>(changes.size()), nullptr, 0, nullptr);
    return result == 0 ? 0 : errno;
  }
  /// Returns the events that there are now, at most `room`.
  std::vector<Event> events(std::size_t room = 8, std::vector<Event> changes = {}) {
    std::vector<Event> found(room);
    const timespec now{};
    const int count =
        ::kevent(queue_.descriptor(), changes.data(), static_cast<int>(changes.size()),
                 found.data(), static_cast<int>(room), &now);
    EXPECT_GE(count, 0);
    found.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
    return found;
  }

  static Pair connected_pair() {
    const Socket listening = *net::create_listener(*Address::parse("127.0.0.1", 0));
    const Address address = net::local_address(listening.descriptor());
    Pair pair;
    pair.ours = Socket(::socket(AF_INET, SOCK_STREAM, 0));
    EXPECT_EQ(::connect(pair.ours.descriptor(), address.data(), address.size_bytes()), 0);
    pair.peer = Socket(::accept(listening.descriptor(), nullptr, nullptr));
    EXPECT_EQ(bsd::set_flags(pair.ours.descriptor()), 0);
    return pair;
  }
  static void write(const Socket& socket, std::string_view text) {
    EXPECT_EQ(::send(socket.descriptor(), text.data(), text.size(), net::no_signal),
              static_cast<ssize_t>(text.size()));
  }
  static std::string read(const Socket& socket, std::size_t count) {
    std::string text(count, '\0');
    const ssize_t size = ::recv(socket.descriptor(), text.data(), count, 0);
    text.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
    return text;
  }

  Socket queue_{::kqueue()};
};

TEST_F(Kqueue, ReportsHowManyBytesCanBeReadUntilTheyAreRead) {
  const Pair pair = connected_pair();
  int owner = 0;
  ASSERT_EQ(change({event(pair.ours.descriptor(), EVFILT_READ, EV_ADD, 0, &owner)}), 0);
  EXPECT_TRUE(events().empty());
  write(pair.peer, "hello");
  for (int i = 0; i < 2; ++i) {  // level-triggered
    const auto found = events();
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].ident, static_cast<std::uintptr_t>(pair.ours.descriptor()));
    EXPECT_EQ(found[0].filter, EVFILT_READ);
    EXPECT_EQ(found[0].flags & (EV_EOF | EV_ERROR), 0);
    EXPECT_EQ(found[0].data, 5);
    EXPECT_EQ(found[0].udata, &owner);
  }
  EXPECT_EQ(read(pair.ours, 5), "hello");
  EXPECT_TRUE(events().empty());
}

TEST_F(Kqueue, ReportsTheEndWithTheBytesThatAreLeft) {
  Pair pair = connected_pair();
  ASSERT_EQ(change({event(pair.ours.descriptor(), EVFILT_READ, EV_ADD)}), 0);
  write(pair.peer, "last");
  pair.peer.close();
  auto found = events();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NE(found[0].flags & EV_EOF, 0);
  EXPECT_EQ(found[0].fflags, 0U);
  EXPECT_EQ(found[0].data, 4);
  EXPECT_EQ(read(pair.ours, 4), "last");
  found = events();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NE(found[0].flags & EV_EOF, 0);
  EXPECT_EQ(found[0].data, 0);
}

TEST_F(Kqueue, ReportsAnErrorOfTheSocketWithTheEnd) {
  Pair pair = connected_pair();
  ASSERT_EQ(change({event(pair.ours.descriptor(), EVFILT_READ, EV_ADD),
                    event(pair.ours.descriptor(), EVFILT_WRITE, EV_ADD)}),
            0);
  const linger at_once{1, 0};
  ::setsockopt(pair.peer.descriptor(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  pair.peer.close();
  const auto found = events();
  ASSERT_EQ(found.size(), 2U);
  for (const Event& each : found) {
    EXPECT_NE(each.flags & EV_EOF, 0);
    EXPECT_EQ(each.fflags, static_cast<unsigned>(ECONNRESET));
  }
  char byte = 0;
  EXPECT_EQ(::recv(pair.ours.descriptor(), &byte, 1, 0), -1);
  EXPECT_EQ(errno, ECONNRESET);  // looking has not taken it away
}

TEST_F(Kqueue, ReportsTheRoomThatIsLeftToWriteTo) {
  const Pair pair = connected_pair();
  ASSERT_EQ(change({event(pair.ours.descriptor(), EVFILT_WRITE, EV_ADD)}), 0);
  const auto found = events();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].filter, EVFILT_WRITE);
  EXPECT_GT(found[0].data, 0);
  const std::string block(65536, 'x');
  while (::send(pair.ours.descriptor(), block.data(), block.size(), net::no_signal) > 0) {
  }
  EXPECT_TRUE(events().empty());
}

TEST_F(Kqueue, ReportsHowManyConnectionsWait) {
  const Socket listening = *net::create_listener(*Address::parse("127.0.0.1", 0));
  const Address address = net::local_address(listening.descriptor());
  ASSERT_EQ(change({event(listening.descriptor(), EVFILT_READ, EV_ADD)}), 0);
  EXPECT_TRUE(events().empty());
  const Socket first(::socket(AF_INET, SOCK_STREAM, 0));
  const Socket second(::socket(AF_INET, SOCK_STREAM, 0));
  ASSERT_EQ(::connect(first.descriptor(), address.data(), address.size_bytes()), 0);
  ASSERT_EQ(::connect(second.descriptor(), address.data(), address.size_bytes()), 0);
  const auto found = events();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].data, 2);
}

TEST_F(Kqueue, AnIdentAndAFilterAreOneEvent) {
  const Pair pair = connected_pair();
  const int ours = pair.ours.descriptor();
  int first = 0;
  int second = 0;
  ASSERT_EQ(change({event(ours, EVFILT_READ, EV_ADD, 0, &first),
                    event(ours, EVFILT_READ, EV_ADD, 0, &second)}),
            0);
  write(pair.peer, "x");
  const auto found = events();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].udata, &second);
  EXPECT_EQ(change({event(ours, EVFILT_READ, EV_DELETE)}), 0);
  EXPECT_TRUE(events().empty());
  EXPECT_EQ(change({event(ours, EVFILT_READ, EV_DELETE)}), ENOENT);
}

TEST_F(Kqueue, ADisabledEventIsKeptAndSilent) {
  const Pair pair = connected_pair();
  const int ours = pair.ours.descriptor();
  ASSERT_EQ(change({event(ours, EVFILT_READ, EV_ADD | EV_DISABLE)}), 0);
  write(pair.peer, "x");
  EXPECT_TRUE(events().empty());
  EXPECT_EQ(change({event(ours, EVFILT_READ, EV_ENABLE)}), 0);
  EXPECT_EQ(events().size(), 1U);
  EXPECT_EQ(change({event(ours, EVFILT_READ, EV_DISABLE)}), 0);
  EXPECT_TRUE(events().empty());
  EXPECT_EQ(change({event(ours, EVFILT_READ, EV_ADD)}), 0);  // adding enables
  EXPECT_EQ(events().size(), 1U);
}

TEST_F(Kqueue, AOneshotEventIsReportedOnceAndForgotten) {
  const Pair pair = connected_pair();
  const int ours = pair.ours.descriptor();
  ASSERT_EQ(change({event(ours, EVFILT_WRITE, EV_ADD | EV_ONESHOT)}), 0);
  EXPECT_EQ(events().size(), 1U);
  EXPECT_TRUE(events().empty());
  EXPECT_EQ(change({event(ours, EVFILT_WRITE, EV_ENABLE)}), ENOENT);
}

TEST_F(Kqueue, ADispatchedEventIsReportedOnceAndDisabled) {
  const Pair pair = connected_pair();
  const int ours = pair.ours.descriptor();
  ASSERT_EQ(change({event(ours, EVFILT_WRITE, EV_ADD | EV_DISPATCH)}), 0);
  EXPECT_EQ(events().size(), 1U);
  EXPECT_TRUE(events().empty());
  EXPECT_EQ(change({event(ours, EVFILT_WRITE, EV_ENABLE)}), 0);
  EXPECT_EQ(events().size(), 1U);
}

TEST_F(Kqueue, AFailedChangeIsAnEventIfThereIsRoom) {
  const Pair pair = connected_pair();
  const int ours = pair.ours.descriptor();
  int owner = 0;
  write(pair.peer, "x");
  // The others are made, and no event is looked for.
  const auto found = events(
      8, {event(ours, EVFILT_WRITE, EV_DELETE, 0, &owner), event(ours, EVFILT_READ, EV_ADD)});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NE(found[0].flags & EV_ERROR, 0);
  EXPECT_EQ(found[0].filter, EVFILT_WRITE);
  EXPECT_EQ(found[0].data, ENOENT);
  EXPECT_EQ(found[0].udata, &owner);
  EXPECT_EQ(events().size(), 1U);
  EXPECT_EQ(change({event(-1, EVFILT_READ, EV_ADD)}), EBADF);
}

TEST_F(Kqueue, AReceiptIsAnEventWithoutAnError) {
  const Pair pair = connected_pair();
  const auto found = events(8, {event(pair.ours.descriptor(), EVFILT_WRITE, EV_ADD | EV_RECEIPT)});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NE(found[0].flags & EV_ERROR, 0);
  EXPECT_EQ(found[0].data, 0);
}

TEST_F(Kqueue, ChangesAndEventsMayShareAnArray) {
  const Pair pair = connected_pair();
  const int ours = pair.ours.descriptor();
  std::array both{event(ours, EVFILT_WRITE, EV_ADD), event(-1, EVFILT_READ, EV_ADD),
                  event(ours, EVFILT_READ, EV_DELETE)};
  const timespec now{};
  ASSERT_EQ(::kevent(queue_.descriptor(), both.data(), 3, both.data(), 3, &now), 2);
  EXPECT_EQ(both[0].data, EBADF);
  EXPECT_EQ(both[1].data, ENOENT);
  ASSERT_EQ(::kevent(queue_.descriptor(), nullptr, 0, both.data(), 3, &now), 1);
  EXPECT_EQ(both[0].filter, EVFILT_WRITE);
}

TEST_F(Kqueue, ClosingADescriptorRemovesItsEvents) {
  Pair pair = connected_pair();
  const int number = pair.ours.descriptor();
  const Socket held(::dup(number));  // like a forked child's
  ASSERT_EQ(change({event(number, EVFILT_READ, EV_ADD)}), 0);
  write(pair.peer, "x");
  pair.ours.close();
  EXPECT_TRUE(events().empty());
  EXPECT_EQ(change({event(number, EVFILT_READ, EV_ENABLE)}), EBADF);
  // The number's next socket has no event.
  const Pair other = connected_pair();
  ASSERT_EQ(::dup2(other.ours.descriptor(), number), number);
  const Socket again(number);
  write(other.peer, "y");
  EXPECT_TRUE(events().empty());
  EXPECT_EQ(change({event(number, EVFILT_READ, EV_ENABLE)}), ENOENT);
}

TEST_F(Kqueue, EachReadyDescriptorHasItsTurn) {
  constexpr std::size_t count = 6;
  std::vector<Pair> pairs;
  for (std::size_t i = 0; i < count; ++i) {
    const Pair& pair = pairs.emplace_back(connected_pair());
    ASSERT_EQ(change({event(pair.ours.descriptor(), EVFILT_WRITE, EV_ADD)}), 0);
  }
  std::vector<std::uintptr_t> seen;
  for (int round = 0; round < 3; ++round) {
    const auto found = events(2);
    ASSERT_EQ(found.size(), 2U);
    for (const Event& each : found) seen.push_back(each.ident);
  }
  std::sort(seen.begin(), seen.end());
  EXPECT_EQ(std::unique(seen.begin(), seen.end()) - seen.begin(), std::ptrdiff_t{count});
}

TEST_F(Kqueue, AUserEventIsReportedOncePerTrigger) {
  ASSERT_EQ(change({event(7, EVFILT_USER, EV_ADD | EV_CLEAR)}), 0);
  EXPECT_TRUE(events().empty());
  ASSERT_EQ(change({event(7, EVFILT_USER, 0, NOTE_TRIGGER)}), 0);
  ASSERT_EQ(change({event(7, EVFILT_USER, 0, NOTE_TRIGGER)}), 0);
  const auto found = events();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].filter, EVFILT_USER);
  EXPECT_EQ(found[0].ident, 7U);
  EXPECT_TRUE(events().empty());
  EXPECT_EQ(change({event(8, EVFILT_USER, 0, NOTE_TRIGGER)}), ENOENT);
}

TEST_F(Kqueue, AnotherThreadEndsAWait) {
  ASSERT_EQ(change({event(0, EVFILT_USER, EV_ADD | EV_CLEAR)}), 0);
  std::thread other([this] { EXPECT_EQ(change({event(0, EVFILT_USER, 0, NOTE_TRIGGER)}), 0); });
  Event found{};
  EXPECT_EQ(::kevent(queue_.descriptor(), nullptr, 0, &found, 1, nullptr), 1);
  EXPECT_EQ(found.filter, EVFILT_USER);
  other.join();
}

TEST_F(Kqueue, ChangesOfAnotherThreadCountDuringAWait) {
  const Pair pair = connected_pair();
  std::thread other(
      [&] { EXPECT_EQ(change({event(pair.ours.descriptor(), EVFILT_WRITE, EV_ADD)}), 0); });
  Event found{};
  EXPECT_EQ(::kevent(queue_.descriptor(), nullptr, 0, &found, 1, nullptr), 1);
  EXPECT_EQ(found.filter, EVFILT_WRITE);
  other.join();
}

TEST_F(Kqueue, AWaitEndsAtItsTimeoutAndNotBefore) {
  const timespec wanted{.tv_sec = 0, .tv_nsec = 3'000'000};
  const auto begin = std::chrono::steady_clock::now();
  Event found{};
  EXPECT_EQ(::kevent(queue_.descriptor(), nullptr, 0, &found, 1, &wanted), 0);
  EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(3));
}

}  // namespace
}  // namespace skua::testing

#endif
