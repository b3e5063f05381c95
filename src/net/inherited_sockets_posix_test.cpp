// SPDX-License-Identifier: MIT
#include "skua/inherited_sockets.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <string>

#include "net/socket.hpp"

namespace skua {
namespace {

TcpSocket listening() {
  return TcpSocket::listen_on(Address::loopback(Address::Family::Ipv4, 0)).value();
}

void set_variables(const char* process, const char* count, const char* names = nullptr) {
  ::setenv("LISTEN_PID", process, 1);
  ::setenv("LISTEN_FDS", count, 1);
  if (names != nullptr) ::setenv("LISTEN_FDNAMES", names, 1);
}

/// Puts a new listener at a descriptor; returns its address.
Address place_at(int descriptor) {
  TcpSocket socket = listening();
  const Address address = socket.local_address();
  const Socket away(::fcntl(socket.descriptor(), F_DUPFD, 100));  // it may be at `descriptor` now
  socket.close();
  ::dup2(away.descriptor(), descriptor);
  return address;
}

// The descriptors from 3 on belong to the test program, so all of this happens in children of it.
#define EXPECT_IN_CHILD(condition) \
  EXPECT_EXIT(std::_Exit((condition) ? 0 : 1), ::testing::ExitedWithCode(0), "")

TEST(InheritedSockets, AreTakenOverWithTheirNames) {
  const auto take = [] {
    const Address first = place_at(3);
    const Address second = place_at(4);
    set_variables(std::to_string(::getpid()).c_str(), "2", "web:admin");
    const auto sockets = inherited_sockets().value();
    return sockets.size() == 2 && sockets[0].name == "web" && sockets[1].name == "admin" &&
           sockets[0].socket->descriptor() == 3 && sockets[0].socket->local_address() == first &&
           sockets[1].socket->local_address() == second &&
           (::fcntl(3, F_GETFD) & FD_CLOEXEC) != 0 && (::fcntl(4, F_GETFL) & O_NONBLOCK) != 0 &&
           std::getenv("LISTEN_PID") == nullptr && std::getenv("LISTEN_FDS") == nullptr &&
           std::getenv("LISTEN_FDNAMES") == nullptr && inherited_sockets().value().empty();
  };
  EXPECT_IN_CHILD(take());
}

TEST(InheritedSockets, NeedNoNames) {
  const auto take = [] {
    place_at(3);
    place_at(4);
    set_variables(std::to_string(::getpid()).c_str(), "2", "web");
    const auto sockets = inherited_sockets().value();
    return sockets.size() == 2 && sockets[0].name == "web" && sockets[1].name.empty();
  };
  EXPECT_IN_CHILD(take());
}

TEST(InheritedSockets, MayComeWithTheirPath) {
  const auto take = [] {
    place_at(3);
    place_at(4);
    place_at(5);
    set_variables(std::to_string(::getpid()).c_str(), "3", "skua-own:web:skua-own-admin");
    const auto sockets = inherited_sockets().value();
    return sockets.size() == 3 && sockets[0].owns_path && sockets[0].name.empty() &&
           !sockets[1].owns_path && sockets[2].owns_path && sockets[2].name == "admin";
  };
  EXPECT_IN_CHILD(take());
}

TEST(InheritedSockets, OfAnotherProcessAreLeftAlone) {
  const auto take = [] {
    place_at(3);
    set_variables(std::to_string(::getppid()).c_str(), "1");
    return inherited_sockets().value().empty() && std::getenv("LISTEN_FDS") == nullptr &&
           ::fcntl(3, F_GETFD) == 0;
  };
  EXPECT_IN_CHILD(take());
}

TEST(InheritedSockets, AreNoneWithoutTheVariables) {
  EXPECT_IN_CHILD(inherited_sockets().value().empty());
}

// names: inherited_sockets.inherited_sockets
TEST(InheritedSockets, RefuseVariablesThatAreNotNumbers) {
  const auto error = [](const char* process, const char* count) {
    set_variables(process != nullptr ? process : std::to_string(::getpid()).c_str(), count);
    const auto sockets = inherited_sockets();
    return sockets ? std::string("none") : sockets.error().text;
  };
  EXPECT_IN_CHILD(error("x", "1") == "LISTEN_PID is not a valid number: \"x\"");
  EXPECT_IN_CHILD(error("-1", "1") == "LISTEN_PID is not a valid number: \"-1\"");
  EXPECT_IN_CHILD(error(nullptr, "1x") == "LISTEN_FDS is not a valid number: \"1x\"");
  EXPECT_IN_CHILD(error(nullptr, "2147483647").starts_with("LISTEN_FDS is not"));
  EXPECT_IN_CHILD(error(nullptr, "99999999999").starts_with("LISTEN_FDS is not"));
}

TEST(InheritedSockets, RefuseADescriptorThatIsNotOpen) {
  const auto error = [] {
    ::close(3);
    set_variables(std::to_string(::getpid()).c_str(), "1");
    return inherited_sockets().error();
  };
  EXPECT_IN_CHILD(error().code() == Errc::Closed);
  EXPECT_IN_CHILD(error().text.starts_with("could not inherit descriptor 3: "));
}

ListeningSocket named(Socket socket) {
  return {std::make_shared<Socket>(std::move(socket)), "web"};
}

TEST(SharedListeners, AreDuplicates) {
  const ListeningSocket listener = named(listening());
  const Socket shared = net::share(listener).value();
  EXPECT_NE(shared.descriptor(), listener.socket->descriptor());
  EXPECT_EQ(shared.local_address(), listener.socket->local_address());
  EXPECT_NE(::fcntl(shared.descriptor(), F_GETFD) & FD_CLOEXEC, 0);
}

TEST(SharedListeners, HaveToListenForConnections) {
  struct Row {
    ListeningSocket listener;
    Errc code;
    const char* text;
  };
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const Socket write_end(ends[1]);
  for (const Row& row : {
           Row{{}, Errc::Closed, "the socket is not open"},
           Row{named(Socket()), Errc::Closed, "the socket \"web\" is not open"},
           Row{named(Socket(ends[0])), Errc::SystemFailure, "the socket \"web\" is not open"},
           Row{named(TcpSocket::open(Address::Family::Ipv4).value()), Errc::InvalidAddress,
               "the socket \"web\" does not listen: call listen() on it first"},
           Row{named(UdpSocket::open(Address::Family::Ipv4).value()), Errc::Unsupported,
               "the socket \"web\" carries datagrams, not connections"},
       }) {
    const auto shared = net::share(row.listener);
    ASSERT_FALSE(shared);
    EXPECT_EQ(shared.error().code(), row.code) << row.text;
    EXPECT_EQ(shared.error().text, row.text);
  }
}

}  // namespace
}  // namespace skua
