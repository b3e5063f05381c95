// SPDX-License-Identifier: MIT
// TcpServer with real clients, on every back end and over TLS.
#include <signal.h>

#include <array>
#include <atomic>
#include <chrono>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "skua/async.hpp"
#include "skua/socket.hpp"
#include "skua/tcp_server.hpp"
#include "skua/tls_stream.hpp"
#include "support/allocations.hpp"
#include "support/temporary_directory.hpp"
#include "support/test_server.hpp"
#include "tls/issue.hpp"

namespace skua {
namespace {

struct Echo {
  static void on_readable(TcpConnection& client) {
    client.send(client.input());
    client.consume_all();
  }
};

/// A server that runs on a thread of its own until the test ends.
template <class State>
class Running {
 public:
  template <class... Make>
  explicit Running(TcpServerOptions options, Make... make)
      : server(local(std::move(options)), std::move(make)...) {
    const auto listening = server.listen();
    EXPECT_TRUE(listening) << listening.error().text;
    thread_ = std::thread([this] { EXPECT_TRUE(server.run()); });
  }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
  ~Running() { stop(); }

  void stop() {
    server.request_stop();
    if (thread_.joinable()) thread_.join();
  }
  [[nodiscard]] TcpSocket connect() const {
    return TcpSocket::connect_to(server.address(), 10s).value();
  }

  TcpServer<State> server;

 private:
  static TcpServerOptions local(TcpServerOptions options) {
    if (options.host == "0.0.0.0") options.host = "127.0.0.1";
    return options;
  }
  std::thread thread_;
};

std::string receive(StreamSocket& socket, std::size_t count) {
  std::string text(count, '\0');
  const auto received = socket.receive_all(text, 10s);
  EXPECT_TRUE(received) << received.error().message();
  return text;
}

/// Waits until the server has closed the connection, and returns what came before.
std::string receive_to_the_end(StreamSocket& socket) {
  std::string all;
  std::array<char, 65'536> room;
  while (true) {
    const auto count = socket.receive(room, 10s);
    if (!count) {
      EXPECT_NE(count.error().code(), Errc::TimedOut);
      return all;
    }
    all.append(room.data(), *count);
  }
}

/// The lines that the states of a test write, on the server's threads.
class Journal {
 public:
  void add(std::string line) {
    const std::lock_guard lock(mutex_);
    lines_.push_back(std::move(line));
    changed_.notify_all();
  }
  std::vector<std::string> wait_for(std::size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, 10s, [&] { return lines_.size() >= count; });
    return lines_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> lines_;
};

std::string text_of(Errc code) { return std::string(message(code)); }

class TcpServers : public ::testing::TestWithParam<BackendChoice> {
 protected:
  static TcpServerOptions options() { return {.backend = GetParam()}; }
};

TEST_P(TcpServers, Echo) {
  const Running<Echo> running(options());
  TcpSocket client = running.connect();
  EXPECT_TRUE(client.send_all("hello"));
  EXPECT_EQ(receive(client, 5), "hello");
  TcpSocket second = running.connect();
  EXPECT_TRUE(second.send_all("again"));
  EXPECT_EQ(receive(second, 5), "again");
  EXPECT_EQ(running.server.client_count(), 2U);
}

/// Tells all that happens to it.
class Telling {
 public:
  Telling(Journal& journal, TcpConnection& client) : journal_(&journal) {
    journal.add("made");
    client.send("welcome\n");
  }
  Telling(const Telling&) = delete;
  Telling& operator=(const Telling&) = delete;
  ~Telling() { journal_->add("destroyed"); }

  Decision on_readable(TcpConnection& client) {
    const std::size_t end = client.input().find('\n');
    if (end == std::string_view::npos) return Decision::Keep;
    const std::string line(client.input().substr(0, end));
    client.consume(end + 1);
    journal_->add("line " + line);
    if (line == "throw") throw std::runtime_error("as the test wants");
    if (line == "abort") client.abort();
    if (line == "bye") client.send("good bye\n");
    return line == "bye" ? Decision::Disconnect : Decision::Keep;
  }
  Decision on_idle(TcpConnection& client, const TcpIdle& idle) {
    journal_->add("idle " + std::to_string(idle.bytes));
    client.send("idle\n");
    return ++idle_count_ < 2 ? Decision::Keep : Decision::Disconnect;
  }
  void on_disconnect(TcpConnection& /*client*/, Error why) {
    journal_->add("disconnect " + text_of(why.code()));
  }

 private:
  Journal* journal_;
  int idle_count_ = 0;
};

auto telling(Journal& journal) {
  return [&journal](TcpConnection& client) { return Telling(journal, client); };
}

using Lines = std::vector<std::string>;

TEST_P(TcpServers, MakeAStatePerClientAndDestroyIt) {
  Journal journal;
  const Running<Telling> running(options(), telling(journal));
  {
    TcpSocket client = running.connect();
    EXPECT_EQ(receive(client, 8), "welcome\n");
    EXPECT_TRUE(client.send_all("fi"));
    EXPECT_TRUE(client.send_all("rst\nbye\nignored"));
    EXPECT_EQ(journal.wait_for(2), (Lines{"made", "line first"}));
    EXPECT_TRUE(client.send_all("\n"));  // the next line is taken when more arrives
    EXPECT_EQ(receive_to_the_end(client), "good bye\n");
  }
  EXPECT_EQ(journal.wait_for(5), (Lines{"made", "line first", "line bye",
                                        "disconnect " + text_of(Errc::None), "destroyed"}));
}

TEST_P(TcpServers, TellWhyAClientLeft) {
  Journal journal;
  const Running<Telling> running(options(), telling(journal));
  {
    TcpSocket client = running.connect();
    EXPECT_EQ(receive(client, 8), "welcome\n");
  }
  EXPECT_EQ(journal.wait_for(3), (Lines{"made", "disconnect " + text_of(Errc::None), "destroyed"}));
  {
    TcpSocket client = running.connect();
    EXPECT_EQ(receive(client, 8), "welcome\n");
    EXPECT_TRUE(client.set_linger(0s));
  }
  EXPECT_EQ(journal.wait_for(6)[4], "disconnect " + text_of(Errc::Reset));
}

TEST_P(TcpServers, DisconnectAClientWhoseCallbackThrows) {
  Journal journal;
  Journal log;
  TcpServerOptions logged = options();
  logged.log = [&](LogLevel, std::string_view line) { log.add(std::string(line)); };
  const Running<Telling> running(logged, telling(journal));
  TcpSocket client = running.connect();
  EXPECT_TRUE(client.send_all("throw\n"));
  receive_to_the_end(client);
  EXPECT_EQ(journal.wait_for(4),
            (Lines{"made", "line throw", "disconnect " + text_of(Errc::Cancelled), "destroyed"}));
  EXPECT_EQ(log.wait_for(1), Lines{"a callback of a client threw: as the test wants"});
  TcpSocket next = running.connect();
  EXPECT_EQ(receive(next, 8), "welcome\n");
}

TEST_P(TcpServers, AbortClosesAtOnce) {
  Journal journal;
  const Running<Telling> running(options(), telling(journal));
  TcpSocket client = running.connect();
  EXPECT_TRUE(client.send_all("abort\n"));
  receive_to_the_end(client);
  EXPECT_EQ(journal.wait_for(4)[2], "disconnect " + text_of(Errc::None));
}

TEST_P(TcpServers, IdleClientsAreToldAndDisconnected) {
  Journal journal;
  TcpServerOptions impatient = options();
  impatient.idle = 20ms;
  const Running<Telling> running(impatient, telling(journal));
  TcpSocket client = running.connect();
  EXPECT_EQ(receive_to_the_end(client), "welcome\nidle\nidle\n");
  client.close();
  const Lines lines = journal.wait_for(5);
  EXPECT_EQ(lines[3], "disconnect " + text_of(Errc::TimedOut));
}

struct Silent {
  static void on_readable(TcpConnection& client) { client.consume_all(); }
};

// One byte now and then is not enough.
TEST_P(TcpServers, SlowClientsAreIdle) {
  TcpServerOptions impatient = options();
  impatient.idle = 50ms;
  impatient.idle_bytes = 1'000'000;
  const Running<Silent> running(impatient);
  TcpSocket client = running.connect();
  const auto begin = std::chrono::steady_clock::now();
  while (client.send_all("x") && std::chrono::steady_clock::now() - begin < 10s) {
    if (const auto end = client.wait_readable(1ms)) break;
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 10s);
}

TEST_P(TcpServers, HoldTheLimitOfClients) {
  Journal journal;
  TcpServerOptions two = options();
  two.clients = 2;
  const Running<Telling> running(two, telling(journal));
  std::optional<TcpSocket> first(running.connect());
  TcpSocket second = running.connect();
  TcpSocket third = running.connect();  // waits in the backlog
  EXPECT_EQ(receive(*first, 8), "welcome\n");
  EXPECT_EQ(receive(second, 8), "welcome\n");
  EXPECT_EQ(third.wait_readable(50ms).error().code(), Errc::TimedOut);
  EXPECT_EQ(running.server.client_count(), 2U);
  first.reset();
  EXPECT_EQ(receive(third, 8), "welcome\n");
}

// One thread accepts for all, and counts the clients that the others have not begun to serve.
TEST_P(TcpServers, HoldTheLimitOfClientsOfAllThreads) {
  const support::TemporaryDirectory folder;
  Journal journal;
  TcpServerOptions three = options();
  three.host = "unix:" + (folder.path() / "socket").string();
  three.threads = 3;
  three.clients = 3;
  const Running<Telling> running(three, telling(journal));
  std::vector<UnixSocket> clients;
  for (int i = 0; i < 12; ++i) {
    clients.push_back(UnixSocket::connect_to(running.server.address()).value());
  }
  for (UnixSocket& client : clients) {  // each that leaves makes room for one that waits
    EXPECT_EQ(receive(client, 8), "welcome\n");
    EXPECT_LE(running.server.client_count(), 3U);
    client.close();
  }
}

TEST_P(TcpServers, AskTheFilter) {
  std::atomic<bool> is_open = false;
  TcpServerOptions filtered = options();
  filtered.accepts = [&](const Address& peer) {
    EXPECT_TRUE(peer.is_loopback());
    return is_open.load();
  };
  const Running<Echo> running(filtered);
  TcpSocket refused = running.connect();
  EXPECT_EQ(receive_to_the_end(refused), "");
  is_open = true;
  TcpSocket accepted = running.connect();
  EXPECT_TRUE(accepted.send_all("x"));
  EXPECT_EQ(receive(accepted, 1), "x");
}

TEST_P(TcpServers, ObeyAnIpFilterThatChanges) {
  const auto filter = std::make_shared<IpFilter>();
  filter->replace({.deny = {Network::parse("127.0.0.0/8").value()}});
  TcpServerOptions filtered = options();
  filtered.ip_filter = filter;
  const Running<Echo> running(filtered);
  TcpSocket refused = running.connect();
  EXPECT_EQ(receive_to_the_end(refused), "");
  filter->replace({});
  TcpSocket accepted = running.connect();
  EXPECT_TRUE(accepted.send_all("x"));
  EXPECT_EQ(receive(accepted, 1), "x");
}

struct Hoard {
  static void on_readable(TcpConnection& /*client*/) {}
};

TEST_P(TcpServers, BoundTheInputThatIsNotConsumed) {
  TcpServerOptions small = options();
  small.input_bytes = 10'000;
  const Running<Hoard> running(small);
  TcpSocket client = running.connect();
  EXPECT_TRUE(client.send_all(std::string(9'000, 'x')));
  EXPECT_FALSE(client.wait_readable(20ms));
  static_cast<void>(client.send_all(std::string(9'000, 'x')));
  EXPECT_EQ(receive_to_the_end(client), "");
}

// A reader that takes nothing stops the reading, and what the server keeps stays bounded.
TEST_P(TcpServers, PushBackOnASlowReader) {
  TcpServerOptions small = options();
  small.output_bytes = 100'000;
  const Running<Echo> running(small);
  TcpSocket client = running.connect();
  std::uint64_t sent = 0;
  const std::string piece(100'000, 'x');
  while (true) {  // until both systems' buffers are full and the server reads no more
    const auto count = client.send(piece, 200ms);
    if (!count) break;
    sent += *count;
    ASSERT_LT(sent, 100'000'000U);
  }
  std::uint64_t received = 0;
  std::array<char, 65'536> room;
  while (received < sent) {
    const auto count = client.receive(room, 10s);
    ASSERT_TRUE(count) << count.error().message();
    received += *count;
  }
  EXPECT_EQ(received, sent);
}

/// Sends without end, as fast as the client takes it.
struct Source {
  static constexpr std::size_t piece_bytes = 256 * 1024;
  explicit Source(TcpConnection& client) { client.send(std::string(piece_bytes, 'x')); }
  static void on_readable(TcpConnection& client) { client.consume_all(); }
  static void on_writable(TcpConnection& client) {
    EXPECT_EQ(client.unsent_bytes(), 0U);
    client.send(std::string(piece_bytes, 'x'));
  }
};

TEST_P(TcpServers, OnWritableFeedsAReader) {
  TcpServerOptions roomy = options();
  const Running<Source> running(roomy);
  TcpSocket client = running.connect();
  const std::string all = receive(client, 20 * Source::piece_bytes);
  EXPECT_EQ(all.find_first_not_of('x'), std::string::npos);
}

struct Flood {
  explicit Flood(TcpConnection& client) { client.send(std::string(1'000'000, 'x')); }
  static void on_readable(TcpConnection& client) {
    client.consume_all();
    for (int i = 0; i < 20; ++i) client.send(std::string(1'000'000, 'x'));
  }
};

TEST_P(TcpServers, DisconnectWhoMakesThemKeepTooMuch) {
  TcpServerOptions small = options();
  small.max_output_bytes = 10'000'000;
  const Running<Flood> running(small);
  TcpSocket client = running.connect();
  EXPECT_TRUE(client.send_all("x"));
  EXPECT_LT(receive_to_the_end(client).size(), 21'000'000U);
}

struct Gush {
  static void on_readable(TcpConnection& client) {
    client.consume_all();
    for (int i = 0; i < 100; ++i) client.send(std::string(1'000'000, 'x'));
    EXPECT_LE(client.unsent_bytes(), 11'000'000U);
  }
};

TEST_P(TcpServers, BoundTheOutputOfASingleCallback) {
  TcpServerOptions small = options();
  small.max_output_bytes = 10'000'000;
  const Running<Gush> running(small);
  TcpSocket client = running.connect();
  EXPECT_TRUE(client.send_all("x"));
  EXPECT_LT(receive_to_the_end(client).size(), 11'000'001U);
}

TEST_P(TcpServers, StopSendsWhatIsQueued) {
  Running<Source> running(options());
  TcpSocket client = running.connect();
  EXPECT_EQ(receive(client, 1), "x");
  std::thread stopping([&] { running.stop(); });
  const std::string rest = receive_to_the_end(client);
  client.close();
  stopping.join();
  EXPECT_EQ((rest.size() + 1) % Source::piece_bytes, 0U);
}

TEST_P(TcpServers, StopDoesNotWaitForClientsThatAreIdle) {
  Running<Echo> running({.backend = GetParam(), .linger = 1h, .shutdown = 1h});
  TcpSocket client = running.connect();
  EXPECT_TRUE(client.send_all("hello") && receive(client, 5) == "hello");
  running.stop();
}

TEST_P(TcpServers, SeveralThreads) {
  TcpServerOptions several = options();
  several.threads = 3;
  const Running<Echo> running(several);
  std::vector<TcpSocket> clients;
  for (int i = 0; i < 20; ++i) {
    clients.push_back(running.connect());
    EXPECT_TRUE(clients.back().send_all("x"));
  }
  for (TcpSocket& client : clients) EXPECT_EQ(receive(client, 1), "x");
}

TEST_P(TcpServers, UnixSockets) {
  const support::TemporaryDirectory folder;
  TcpServerOptions local = options();
  local.host = "unix:" + (folder.path() / "socket").string();
  local.threads = 2;  // one listener, whose clients are handed over
  {
    const Running<Echo> running(local);
    for (int i = 0; i < 4; ++i) {
      UnixSocket client = UnixSocket::connect_to(running.server.address()).value();
      EXPECT_TRUE(client.send_all("x"));
      EXPECT_EQ(receive(client, 1), "x");
    }
  }
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "socket"));
}

TEST_P(TcpServers, ASocketThatListensAlready) {
  auto listener = TcpSocket::listen_on(Address::loopback(Address::Family::Ipv4, 0)).value();
  const Address address = listener.local_address();
  TcpServer<Echo> server(options());
  EXPECT_TRUE(server.listen(std::move(listener)));
  EXPECT_EQ(server.address(), address);
  TcpSocket client = TcpSocket::connect_to(address).value();
  EXPECT_TRUE(client.send_all("x"));
  while (!client.wait_readable(Duration(0))) EXPECT_TRUE(server.poll(10ms).value());
  EXPECT_EQ(receive(client, 1), "x");
}

TEST_P(TcpServers, PollServesOneTurnUntilItIsStopped) {
  TcpServerOptions local = options();
  local.host = "localhost";
  TcpServer<Echo> server(local);
  EXPECT_TRUE(server.poll().value());
  TcpSocket client = TcpSocket::connect_to(server.address()).value();
  EXPECT_TRUE(client.send_all("x"));
  while (!client.wait_readable(Duration(0))) EXPECT_TRUE(server.poll(10ms).value());
  client.close();
  server.request_stop();
  const auto begin = std::chrono::steady_clock::now();
  while (server.poll(10ms).value()) ASSERT_LT(std::chrono::steady_clock::now() - begin, 10s);
  EXPECT_EQ(server.client_count(), 0U);
}

TEST_P(TcpServers, OverTls) {
  TcpServerOptions secure = options();
  secure.tls.self_signed = true;
  secure.protocols = {"echo"};
  if (!TlsAcceptor::create(secure.tls)) GTEST_SKIP() << "built without TLS";
  const Running<Echo> running(secure);
  const auto talk = [](std::uint16_t port) -> Task<std::string> {
    const auto connector = TlsConnector::create({.insecure = true}, {"echo"}).value();
    auto stream = co_await TlsStream::connect(connector, "127.0.0.1", port);
    const Result<void> sent = co_await stream->send("secret");
    EXPECT_TRUE(sent);
    std::string room(6, '\0');
    const Result<void> received = co_await stream->receive_all(room);
    EXPECT_TRUE(received);
    co_return room;
  };
  EXPECT_EQ(run(talk(running.server.address().port())), "secret");
}

TEST_P(TcpServers, ReloadCertificatesThatChange) {
  const support::TemporaryDirectory folder;
  const auto issued = tls::issue({.common_name = "first"});
  if (!issued) GTEST_SKIP() << "built without TLS";
  folder.write("own.pem", issued->certificate + issued->private_key);
  Journal journal;
  TcpServerOptions secure = options();
  secure.tls.certificate = (folder / "own.pem").string();
  secure.tls.reload_interval = 1ms;
  secure.log = [&](LogLevel, std::string_view line) {
    journal.add(std::string(line));
    throw std::runtime_error("what a log throws is dropped");
  };
  const Running<Echo> running(secure);
  const auto renewed = tls::issue({.common_name = "second"}).value();
  folder.write("new.pem", renewed.certificate + renewed.private_key);
  std::filesystem::rename(folder / "new.pem", folder / "own.pem");
  EXPECT_EQ(journal.wait_for(1).front(), "TLS: certificates reloaded");
}

// No signal is lost between the announcement of the address and the first turn.
TEST_P(TcpServers, ASignalStopsThemOnceTheyAreReady) {
  TcpServerOptions local = options();
  local.host = "127.0.0.1";
  TcpServer<Echo> server(local);
  std::uint16_t port = 0;
  EXPECT_TRUE(server.run_until_signal([&] {
    port = server.address().port();
    ::raise(SIGTERM);
  }));
  EXPECT_NE(port, 0);
}

TEST_P(TcpServers, StopBeforeTheyHaveBegun) {
  TcpServer<Echo> server(options());
  std::thread stopping([&] { server.request_stop(); });
  EXPECT_TRUE(server.run());
  stopping.join();
}

TEST(TcpServerSetup, MistakesAreProblems) {
  TcpServer<Echo> nowhere({.host = "not an address"});
  EXPECT_EQ(nowhere.run().error().code(), Errc::InvalidAddress);
  TcpServer<Echo> first({.host = "127.0.0.1"});
  ASSERT_TRUE(first.listen());
  EXPECT_EQ(first.listen().error().code(), Errc::AlreadyStarted);
  TcpServer<Echo> second({.host = "127.0.0.1", .port = first.address().port()});
  EXPECT_EQ(second.listen().error().code(), Errc::AddressInUse);
  TcpServer<Echo> third({.host = "127.0.0.1", .port = first.address().port(), .threads = 2});
  EXPECT_EQ(third.listen().error().code(), Errc::AddressInUse);
  TcpServer<Echo> several({.host = "127.0.0.1", .threads = 2});
  EXPECT_EQ(several.poll().error().code(), Errc::Unsupported);
  TcpServer<Echo> deaf({.host = "127.0.0.1"});
  TcpSocket bound = TcpSocket::open(Address::Family::Ipv4).value();
  ASSERT_TRUE(bound.bind(Address::loopback(Address::Family::Ipv4, 0)));
  EXPECT_EQ(deaf.listen(std::move(bound)).error().code(), Errc::InvalidAddress);
  TcpServer<Echo> empty({.host = "127.0.0.1", .clients = 0});
  EXPECT_EQ(empty.listen().error().code(), Errc::Unsupported);
  TcpServer<Echo> hasty({.host = "127.0.0.1", .idle = 0s});
  EXPECT_NE(hasty.listen().error().text.find("Duration::max()"), std::string::npos);
  first.request_stop();
  EXPECT_TRUE(first.run());
  EXPECT_EQ(first.run().error().code(), Errc::AlreadyStarted);
}

// The server's thread allocates nothing for a message once it has seen the first ones.
TEST_P(TcpServers, AnEchoAllocatesNothing) {
  TcpServerOptions local = options();
  local.host = "127.0.0.1";
  TcpServer<Echo> server(local);
  ASSERT_TRUE(server.listen());
  TcpSocket client = TcpSocket::connect_to(server.address()).value();
  const auto rounds = [&](int count) {
    std::array<char, 64> room;
    for (int i = 0; i < count; ++i) {
      ASSERT_TRUE(client.send_all("thirteen byte"));
      std::size_t received = 0;
      while (received < 13) {
        ASSERT_TRUE(server.poll(10ms));
        if (const auto some = client.try_receive(room)) received += *some;
      }
    }
  };
  rounds(100);
  const std::uint64_t before = testing::allocations().count;
  rounds(10'000);
  EXPECT_EQ(testing::allocations().count - before, 0U);
}

INSTANTIATE_TEST_SUITE_P(Backends, TcpServers, ::testing::ValuesIn(testing::backends()),
                         testing::backend_name);

}  // namespace
}  // namespace skua
