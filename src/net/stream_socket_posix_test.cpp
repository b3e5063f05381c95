// SPDX-License-Identifier: MIT
// Unix sockets, and stream sockets in a process that has signals and limits.
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "skua/socket.hpp"
#include "support/privilege.hpp"
#include "support/temporary_directory.hpp"

namespace skua {
namespace {

using support::TemporaryDirectory;

using enum Address::Family;

const Address any_port = Address::loopback(Ipv4, 0);

TEST(TcpSocket, SaysThatAPortIsPrivileged) {
  if (!support::has_privileged_ports()) GTEST_SKIP() << "this machine has no privileged ports";
  support::without_privilege([] {
    const auto listener = TcpSocket::listen_on(Address::loopback(Ipv4, 1));
    ASSERT_FALSE(listener);
    EXPECT_EQ(listener.error().code(), Errc::PermissionDenied);
  });
}

TEST(TcpSocket, APeerStaysInTheBacklogWhenDescriptorsRunOut) {
  auto listener = TcpSocket::listen_on(any_port).value();
  const auto client = TcpSocket::connect_to(listener.local_address()).value();
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  // The next descriptor would be the lowest free one.
  const int next = ::dup(listener.descriptor());
  ::close(next);
  rlimit none_left = before;
  none_left.rlim_cur = static_cast<rlim_t>(next);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none_left), 0);
  const auto refused = listener.accept();
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Errc::TooManyOpenFiles);
  EXPECT_TRUE(listener.accept());
}

TEST(TcpSocket, SignalsDoNotEndAWait) {
  struct sigaction before{};
  struct sigaction ignore{};
  ignore.sa_handler = [](int) {};  // without SA_RESTART
  ASSERT_EQ(::sigaction(SIGUSR1, &ignore, &before), 0);
  auto listener = TcpSocket::listen_on(any_port).value();
  auto client = TcpSocket::connect_to(listener.local_address()).value();
  auto server = listener.accept().value();
  std::atomic<bool> is_done{false};
  std::thread receiver([&server, &is_done] {
    std::array<char, 4> room{};
    const auto received = server.receive_all(room, Duration(60s));
    EXPECT_TRUE(received);
    is_done = true;
  });
  for (int i = 0; i < 100; ++i) {
    ::pthread_kill(receiver.native_handle(), SIGUSR1);
    std::this_thread::yield();
  }
  EXPECT_FALSE(is_done);
  ASSERT_TRUE(client.send_all("done"));
  receiver.join();
  ::sigaction(SIGUSR1, &before, nullptr);
}

TEST(UnixSocket, ConnectsByPathAndByAbstractName) {
  const TemporaryDirectory folder;
  for (const Address& address :
       {*Address::unix_path(folder.string() + "/s"), *Address::unix_abstract(folder.string())}) {
    auto listener = UnixSocket::listen_on(address).value();
    EXPECT_EQ(listener.local_address(), address);
    auto client = UnixSocket::connect_to(address).value();
    auto server = listener.accept().value();
    EXPECT_EQ(client.peer_address(), address);
    ASSERT_TRUE(client.send_all("x"));
    std::array<char, 1> room{};
    EXPECT_TRUE(server.receive_all(room));
  }
}

TEST(UnixSocket, ReplacesAFileAtWhichNobodyListens) {
  const TemporaryDirectory folder;
  const Address address = *Address::unix_path(folder.string() + "/s");
  ASSERT_TRUE(UnixSocket::listen_on(address));  // and closes: the file stays
  EXPECT_EQ(UnixSocket::connect_to(address).error().code(), Errc::Refused);
  const auto listener = UnixSocket::listen_on(address);
  ASSERT_TRUE(listener) << listener.error().text;
  EXPECT_EQ(UnixSocket::listen_on(address).error().code(), Errc::AddressInUse);
  EXPECT_TRUE(UnixSocket::connect_to(address));
}

TEST(UnixSocket, NeverRemovesAnythingButSockets) {
  const TemporaryDirectory folder;
  const std::string path = folder.string() + "/notes";
  std::ofstream(path) << "precious";
  EXPECT_EQ(UnixSocket::listen_on(*Address::unix_path(path)).error().code(), Errc::AddressInUse);
  EXPECT_EQ(::access(path.c_str(), F_OK), 0);
}

TEST(UnixSocket, SaysThatAPathLeadsNowhere) {
  const auto socket = UnixSocket::connect_to(*Address::unix_path("/nowhere/at/all"));
  EXPECT_EQ(socket.error().code(), Errc::NotFound);
  EXPECT_TRUE(socket.error().text.starts_with("could not connect to unix:/nowhere/at/all: "));
}

TEST(UnixSocket, GivesUpConnectingWhenTheBacklogStaysFull) {
  const TemporaryDirectory folder;
  const Address address = *Address::unix_path(folder.string() + "/s");
  auto listener = UnixSocket::listen_on(address, 1).value();
  std::vector<UnixSocket> waiting;
  auto socket = UnixSocket::open().value();
  while (socket.try_connect(address)) {
    waiting.push_back(std::move(socket));
    socket = UnixSocket::open().value();
  }
  EXPECT_EQ(socket.connect(address, 10ms).error().code(), Errc::TimedOut);
  EXPECT_NE(::fcntl(socket.descriptor(), F_GETFL) & O_NONBLOCK, 0);
  std::thread server([&listener] { EXPECT_TRUE(listener.accept()); });
  EXPECT_TRUE(socket.connect(address, Duration(60s)));
  server.join();
}

}  // namespace
}  // namespace skua
