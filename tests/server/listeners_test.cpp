// SPDX-License-Identifier: MIT
// Servers on sockets that they have not opened, or that share a port. On every back end, over every
// transport.
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "skua.hpp"
#include "support/test_server.hpp"
#include "support/test_worker.hpp"

namespace skua {
namespace {

using testing::Client;
using testing::get;

ListeningSocket listening_on(const Address& address) {
  if (!address.is_ip()) {
    return {std::make_shared<Socket>(UnixSocket::listen_on(address).value()), ""};
  }
  return {std::make_shared<Socket>(TcpSocket::listen_on(address).value()), ""};
}

ListeningSocket on_any_port() { return listening_on(Address::loopback(Address::Family::Ipv4, 0)); }

std::string body_of(Client client) {
  client.send(get("/"));
  const auto answer = client.answer();
  return answer ? answer->body : "no answer";
}

std::string ask(const Address& address) {
  if (address.is_ip()) return body_of(Client(address.port()));
  Socket socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  EXPECT_EQ(::connect(socket.descriptor(), address.data(), address.size_bytes()), 0);
  return body_of(Client(std::move(socket), testing::transport()));
}

class Listeners : public ::testing::TestWithParam<BackendChoice> {
 protected:
  Listeners() {
    router_.get("/", [] { return "hello"; });
    other_.get("/", [] { return "other"; });
  }
  ServerOptions options(unsigned threads = 1) const {
    ServerOptions made{.host = "127.0.0.1", .port = 0, .threads = threads, .backend = GetParam()};
    made.tls.self_signed = testing::is_secure();
    return made;
  }
  ServerOptions on(std::vector<ListeningSocket> listeners, unsigned threads = 1) const {
    ServerOptions made = options(threads);
    made.listeners = std::move(listeners);
    return made;
  }
  std::string name(const char* what) const {
    return std::string("skua-") + what + "-" + std::to_string(::getpid()) + "-" +
           std::to_string(static_cast<int>(GetParam()));
  }

  Router router_;
  Router other_;
};

TEST_P(Listeners, MayBeSocketsOfTheProgram) {
  for (const unsigned threads : {1U, 3U}) {
    const ListeningSocket listener = on_any_port();
    const Address address = listener.socket->local_address();
    Server server(router_, on({listener}, threads));
    for (int run = 0; run < 2; ++run) {  // the program's socket stays open for another run
      ASSERT_TRUE(server.start());
      EXPECT_EQ(server.port(), address.port());
      for (int i = 0; i < 5; ++i) EXPECT_EQ(ask(address), "hello");
      server.shutdown();
    }
    EXPECT_TRUE(TcpSocket::connect_to(address)) << "the socket still listens";
  }
}

TEST_P(Listeners, MayBeSeveralOfAllKinds) {
  const Address path = Address::unix_path(::testing::TempDir() + name("path")).value();
  const std::vector<ListeningSocket> listeners{
      on_any_port(), listening_on(path),
      listening_on(Address::unix_abstract(name("abstract")).value()), on_any_port()};
  for (const unsigned threads : {1U, 2U}) {
    Server server(router_, on(listeners, threads));
    ASSERT_TRUE(server.start());
    const std::string scheme = testing::is_secure() ? "https://" : "http://";
    const std::vector<std::string> urls = server.urls();
    ASSERT_EQ(urls.size(), listeners.size());
    EXPECT_EQ(server.url(), urls.front());
    for (std::size_t i = 0; i < listeners.size(); ++i) {
      const Address address = listeners[i].socket->local_address();
      EXPECT_EQ(urls[i], (address.is_ip() ? scheme : "") + address.to_string());
      EXPECT_EQ(ask(address), "hello") << urls[i];
    }
  }
  EXPECT_EQ(::access(std::string(path.path()).c_str(), F_OK), 0) << "not the server's to remove";
  ::unlink(std::string(path.path()).c_str());
}

TEST_P(Listeners, ThatDoNotListenAreRefused) {
  const auto start = [&](Socket socket) {
    Server server(router_, on({{std::make_shared<Socket>(std::move(socket)), "web"}}));
    return server.start().error();
  };
  const Problem idle = start(TcpSocket::open(Address::Family::Ipv4).value());
  EXPECT_EQ(idle.code(), Errc::InvalidAddress);
  EXPECT_EQ(idle.text, "the socket \"web\" does not listen: call listen() on it first");
  EXPECT_EQ(start(UdpSocket::open(Address::Family::Ipv4).value()).code(), Errc::Unsupported);
  EXPECT_EQ(start(Socket()).code(), Errc::Closed);
}

// A restart: the old server drains while the new one already accepts.
TEST_P(Listeners, AreHandedOverWithoutARefusedConnection) {
  const ListeningSocket listener = on_any_port();
  const Address address = listener.socket->local_address();
  ServerOptions patient = on({listener}, 2);
  patient.timeouts.drain_grace = 20s;  // the clients may be slow to send
  std::atomic<bool> is_over{false};
  std::atomic<std::size_t> answers{0};
  std::atomic<std::size_t> failures{0};
  auto current = std::make_unique<Server>(router_, patient);
  ASSERT_TRUE(current->start());
  std::vector<std::thread> clients;
  for (int i = 0; i < 2; ++i) {
    clients.emplace_back([&] {
      while (!is_over) ++(ask(address) == "hello" ? answers : failures);
    });
  }
  for (int i = 0; i < 4; ++i) {
    auto next = std::make_unique<Server>(router_, patient);
    ASSERT_TRUE(next->start());
    current->shutdown();
    current = std::move(next);
    const std::size_t before = answers;
    while (answers < before + 10 && failures == 0) std::this_thread::yield();
  }
  is_over = true;
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(failures.load(), 0U);
}

TEST_P(Listeners, ShareAPortIfAllAskForIt) {
  ServerOptions shared = options();
  shared.reuse_port = true;
  Server first(router_, shared);
  ASSERT_TRUE(first.start());
  shared.port = first.port();
  for (const unsigned threads : {1U, 2U}) {
    shared.threads = threads;
    Server second(other_, shared);
    ASSERT_TRUE(second.start());
    EXPECT_EQ(second.port(), first.port());
    const Address address = Address::loopback(Address::Family::Ipv4, first.port());
    bool has_first = false;
    bool has_second = false;
    while (!has_first || !has_second) {  // the system chooses by a hash of the addresses
      const std::string body = ask(address);
      has_first |= body == "hello";
      has_second |= body == "other";
      ASSERT_TRUE(body == "hello" || body == "other") << body;
    }
  }
  shared.reuse_port = false;
  EXPECT_EQ(Server(other_, shared).start().error().code(), Errc::AddressInUse);
}

TEST_P(Listeners, OfUnixPathsCannotShareThem) {
  ServerOptions shared = options();
  shared.host = "unix:" + ::testing::TempDir() + name("shared");
  shared.reuse_port = true;
  const auto started = Server(router_, shared).start();
  EXPECT_EQ(started.error().code(), Errc::Unsupported);
  EXPECT_EQ(started.error().text, "reuse_port: Unix sockets have no ports");
}

TEST_P(Listeners, MayHaveAnAbstractName) {
  ServerOptions abstract = options(2);
  abstract.host = "unix:@" + name("host");
  Server server(router_, abstract);
  ASSERT_TRUE(server.start());
  EXPECT_EQ(server.url(), abstract.host);
  EXPECT_NE(::access(("@" + name("host")).c_str(), F_OK), 0) << "not a path";
  EXPECT_EQ(ask(Address::unix_abstract(name("host")).value()), "hello");
}

// Workers end one by one, so the one that accepts may pass a connection to one that has ended.
TEST_P(Listeners, KeepAConnectionThatAnEndedWorkerDoesNotTake) {
  testing::TestWorker worker(router_, GetParam(), {}, testing::Transport::Tcp);
  auto taken = UnixSocket::pair().value();
  auto late = UnixSocket::pair().value();
  EXPECT_TRUE((*worker).acceptor().adopt(taken.first));
  (*worker).begin_drain();  // after the connection, which is on its way
  worker.settle();
  EXPECT_FALSE((*worker).is_done());
  EXPECT_EQ(worker.counters().connections_open, 1U);
  taken.second.close();
  worker.settle();
  EXPECT_TRUE((*worker).is_done());
  EXPECT_FALSE((*worker).acceptor().adopt(late.first));
}

INSTANTIATE_TEST_SUITE_P(Backends, Listeners, ::testing::ValuesIn(testing::backends()),
                         testing::backend_name);

}  // namespace
}  // namespace skua
