// SPDX-License-Identifier: MIT
// Servers behind proxies: PROXY headers, and the fields that proxies add. On every back end, over
// every transport.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "loop/sockets.hpp"
#include "skua.hpp"
#include "support/test_server.hpp"
#include "support/websocket_client.hpp"

namespace skua {
namespace {

using testing::Client;
using testing::get;
using testing::TestServer;
using testing::Transport;

constexpr std::string_view tcp4 = "PROXY TCP4 192.0.2.1 198.51.100.2 50123 443\r\n";

/// Version 2, with a TLV that says that the client uses TLS.
std::string binary_header() {
  std::string header("\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x14", 16);
  header += std::string("\xc0\0\2\1\xc6\x33\x64\2\xc3\xcb\1\xbb", 12);
  header += std::string("\x20\0\5\1\0\0\0\0", 8);
  return header;
}

class BehindProxies : public ::testing::TestWithParam<BackendChoice> {
 protected:
  BehindProxies() {
    router_.get("/who", [](Request& request) {
      return request.client_address().to_string() + " " + std::string(request.scheme()) + " " +
             std::string(request.requested_host()) + " " + std::string(request.host());
    });
    router_.get("/ends", [](Request& request) {
      EXPECT_EQ(request.connection().peer_address().to_string(), request.peer());
      return request.peer() + " " + request.connection().local_address().to_string();
    });
    options_.hooks.on_connection_open = [this](std::string_view peer) {
      const std::lock_guard lock(mutex_);
      opened_.emplace_back(peer);
    };
    options_.hooks.on_connection_close = [this] { ++closed_; };
    options_.hooks.on_connection_refused = [this](std::string_view, ConnectionRefusal why) {
      EXPECT_EQ(why, ConnectionRefusal::UntrustedProxy);
      ++refused_;
    };
    options_.hooks.log = [this](LogLevel level, std::string_view text) {
      if (level != LogLevel::Warning) return;
      const std::lock_guard lock(mutex_);
      log_.emplace_back(text);
    };
  }
  void trust(const char* networks, ForwardedFields fields, bool proxy_protocol = false) {
    options_.trusted_proxies =
        std::make_shared<TrustedProxies>(ProxyRules{.networks = parse_networks(networks).value(),
                                                    .forwarded = fields,
                                                    .proxy_protocol = proxy_protocol});
  }
  void expect_headers() { trust("127.0.0.0/8", ForwardedFields::None, true); }

  static TcpSocket connect(const TestServer& server) {
    TcpSocket socket =
        TcpSocket::connect_to(Address::loopback(Address::Family::Ipv4, server.port()), 20s).value();
    EXPECT_TRUE(socket.set_no_delay(true));
    return socket;
  }
  /// Sends a header, and returns a client of this run's transport.
  static Client behind(const TestServer& server, std::string_view header) {
    TcpSocket socket = connect(server);
    EXPECT_TRUE(socket.send_all(header));
    return Client(std::move(socket), testing::transport());
  }
  /// Waits, and reports whether the server has closed the connection without a byte.
  static bool is_closed(TcpSocket& socket) {
    std::array<char, 1> room{};
    const auto received = socket.receive(room, 20s);
    return !received &&
           (received.error().code() == Errc::Closed || received.error().code() == Errc::Reset);
  }
  static std::string ask(Client& client, std::string_view path, std::string_view fields = {}) {
    client.send(get(path, fields));
    const auto answer = client.answer();
    return answer ? answer->body : "no answer";
  }
  static std::string scheme() { return testing::is_secure() ? "https" : "http"; }
  std::vector<std::string> opened() {
    const std::lock_guard lock(mutex_);
    return opened_;
  }
  std::vector<std::string> log() {
    const std::lock_guard lock(mutex_);
    return log_;
  }

  Router router_;
  ServerOptions options_;
  std::mutex mutex_;
  std::vector<std::string> opened_;
  std::vector<std::string> log_;
  std::atomic<std::size_t> closed_{0};
  std::atomic<std::size_t> refused_{0};
};

// PROXY headers -----------------------------------------------------------------------------------

TEST_P(BehindProxies, AHeaderNamesBothEnds) {
  expect_headers();
  TestServer server(router_, GetParam(), options_);
  {
    Client client = behind(server, tcp4);
    EXPECT_EQ(ask(client, "/who"), "192.0.2.1:50123 " + scheme() + " test test");
    EXPECT_EQ(ask(client, "/ends"), "192.0.2.1:50123 198.51.100.2:443");
    Client six = behind(server, "PROXY TCP6 2001:db8::1 2001:db8::2 50123 443\r\n");
    EXPECT_EQ(ask(six, "/ends"), "[2001:db8::1]:50123 [2001:db8::2]:443");
    Client binary = behind(server, binary_header());
    EXPECT_EQ(ask(binary, "/who"), "192.0.2.1:50123 https test test");
    EXPECT_EQ(ask(binary, "/ends"), "192.0.2.1:50123 198.51.100.2:443");
  }
  server->shutdown();
  EXPECT_EQ(opened(), (std::vector<std::string>{"192.0.2.1:50123", "[2001:db8::1]:50123",
                                                "192.0.2.1:50123"}));
  EXPECT_EQ(closed_.load(), 3U);
  EXPECT_EQ(server->counters().connections_accepted, 3U);
  EXPECT_EQ(server->counters().refused_proxy_headers, 0U);
}

TEST_P(BehindProxies, AHeaderMayArriveInPieces) {
  expect_headers();
  TestServer server(router_, GetParam(), options_);
  for (const std::string& header : {std::string(tcp4), binary_header()}) {
    TcpSocket socket = connect(server);
    for (const char c : header) {
      EXPECT_TRUE(socket.send_all(std::string_view(&c, 1)));
      std::this_thread::yield();
    }
    Client client(std::move(socket), testing::transport());
    EXPECT_EQ(ask(client, "/ends"), "192.0.2.1:50123 198.51.100.2:443");
  }
}

#if defined(MSG_MORE)
TEST_P(BehindProxies, AHeaderMayArriveTogetherWithWhatFollows) {
  expect_headers();
  TestServer server(router_, GetParam(), options_);
  for (const std::string& header : {std::string(tcp4), binary_header()}) {
    TcpSocket socket = connect(server);
    const auto sent = bsd::send(socket.descriptor(), header.data(), header.size(), MSG_MORE);
    ASSERT_EQ(sent, static_cast<ssize_t>(header.size()));
    Client client(std::move(socket), testing::transport());
    EXPECT_EQ(ask(client, "/ends"), "192.0.2.1:50123 198.51.100.2:443");
    EXPECT_EQ(ask(client, "/ends"), "192.0.2.1:50123 198.51.100.2:443");
  }
}
#endif

TEST_P(BehindProxies, ConnectionsOfTheProxyItselfKeepTheirAddresses) {
  expect_headers();
  TestServer server(router_, GetParam(), options_);
  const std::string local("\r\n\r\n\0\r\nQUIT\n\x20\0\0\0", 16);
  for (const std::string& header : {std::string("PROXY UNKNOWN\r\n"), local}) {
    Client client = behind(server, header);
    const std::string ends = ask(client, "/ends");
    EXPECT_TRUE(ends.starts_with("127.0.0.1:")) << ends;
    EXPECT_TRUE(ends.ends_with(" 127.0.0.1:" + std::to_string(server.port()))) << ends;
  }
  EXPECT_TRUE(opened().front().starts_with("127.0.0.1:"));
}

TEST_P(BehindProxies, OnlyOneHeaderIsTaken) {
  if (testing::transport() != Transport::Tcp) GTEST_SKIP() << "clear text only: it is no HTTP";
  expect_headers();
  TestServer server(router_, GetParam(), options_);
  Client client = behind(server, std::string(tcp4) + std::string(tcp4));
  EXPECT_TRUE(client.is_closed() || client.answer()->status == 400);
}

TEST_P(BehindProxies, OthersMayNotConnect) {
  trust("192.0.2.0/24", ForwardedFields::None, true);
  TestServer server(router_, GetParam(), options_);
  for (int i = 0; i < 2; ++i) {
    auto socket = TcpSocket::connect_to(Address::loopback(Address::Family::Ipv4, server.port()));
    if (!socket) {
      EXPECT_EQ(socket.error().code(), Errc::Reset);
      continue;
    }
    std::array<char, 1> room{};
    EXPECT_EQ(socket->receive(room, 20s).error().code(), Errc::Reset);
  }
  server->shutdown();
  EXPECT_EQ(refused_.load(), 2U);
  EXPECT_EQ(server->counters().refused_untrusted_proxies, 2U);
  EXPECT_EQ(server->counters().connections_accepted, 0U);
  EXPECT_TRUE(opened().empty());
}

TEST_P(BehindProxies, WithoutAHeaderConnectionsAreClosed) {
  expect_headers();
  TestServer server(router_, GetParam(), options_);
  for (const std::string_view start :
       {"GET / HTTP/1.1\r\nHost: a\r\n\r\n", "\x16\x03\x01", "PROXY TCP4 a b c d\r\n"}) {
    TcpSocket socket = connect(server);
    EXPECT_TRUE(socket.send_all(start));
    EXPECT_TRUE(is_closed(socket)) << start;
  }
  {
    TcpSocket socket = connect(server);  // which ends in the middle of it
    EXPECT_TRUE(socket.send_all(tcp4.substr(0, 20)));
    EXPECT_TRUE(socket.shutdown_write());
    EXPECT_TRUE(is_closed(socket));
  }
  connect(server).close();  // a health check
  Client client = behind(server, tcp4);
  EXPECT_EQ(ask(client, "/ends"), "192.0.2.1:50123 198.51.100.2:443");
  while (server->counters().connections_open > 1) std::this_thread::yield();
  EXPECT_EQ(server->counters().refused_proxy_headers, 4U);
  EXPECT_EQ(opened().size(), 1U) << "nobody is known whom the others came from";
  EXPECT_EQ(closed_.load(), 0U);
  ASSERT_EQ(log().size(), 1U) << "at most one in a second";
  EXPECT_TRUE(log()[0].starts_with("closed a connection from 127.0.0.1:")) << log()[0];
  EXPECT_TRUE(log()[0].ends_with(": the PROXY header is malformed (the beginning)")) << log()[0];
}

TEST_P(BehindProxies, ASilentProxyIsNotWaitedForForLong) {
  expect_headers();
  options_.timeouts.handshake = 50ms;
  TestServer server(router_, GetParam(), options_);
  TcpSocket silent = connect(server);
  TcpSocket slow = connect(server);
  EXPECT_TRUE(slow.send_all(tcp4.substr(0, 20)));
  EXPECT_TRUE(is_closed(silent) && is_closed(slow));
  while (server->counters().connections_open != 0) std::this_thread::yield();
  EXPECT_EQ(server->counters().refused_slow, 2U);
}

TEST_P(BehindProxies, ADrainDoesNotWaitForHeaders) {
  expect_headers();
  TestServer server(router_, GetParam(), options_);
  const TcpSocket silent = connect(server);
  while (server->counters().connections_open != 1) std::this_thread::yield();
  server->shutdown();
  EXPECT_EQ(server->counters().connections_open, 0U);
}

TEST_P(BehindProxies, FiltersSeeTheConnection) {
  expect_headers();
  options_.ip_filter =
      std::make_shared<IpFilter>(IpRules{.deny = {Network::parse("192.0.2.0/24").value()}});
  options_.accepts = [](const Address& peer) { return peer.is_loopback(); };
  TestServer server(router_, GetParam(), options_);
  Client client = behind(server, tcp4);
  EXPECT_EQ(ask(client, "/ends"), "192.0.2.1:50123 198.51.100.2:443");
}

TEST_P(BehindProxies, UnixSocketsMayBeTrusted) {
  const Address path = Address::unix_path("/tmp/x").value();
  EXPECT_FALSE(TrustedProxies({}).trusts(path));
  EXPECT_TRUE(TrustedProxies({.unix_sockets = true}).trusts(path));
  const TrustedProxies proxies({.networks = {Network::parse("10.0.0.0/8").value()}});
  EXPECT_TRUE(proxies.trusts(Address::parse("10.1.2.3:80").value()));
  EXPECT_TRUE(proxies.trusts(Address::parse("[::ffff:10.1.2.3]:80").value()));
  EXPECT_FALSE(proxies.trusts(Address::parse("11.1.2.3:80").value()));
  EXPECT_FALSE(proxies.trusts(path) || proxies.trusts(Address()));
}

// Fields ------------------------------------------------------------------------------------------

constexpr std::string_view x_forwarded =
    "X-Forwarded-For: 6.6.6.6, 192.0.2.1\r\nX-Forwarded-Proto: https\r\n"
    "X-Forwarded-Host: public.example\r\n";
constexpr std::string_view forwarded =
    "Forwarded: for=6.6.6.6, for=\"[2001:db8::1]:7\";proto=https;host=public.example\r\n";

TEST_P(BehindProxies, OnlyFieldsOfTrustedProxiesAreBelieved) {
  trust("192.0.2.0/24", ForwardedFields::XForwarded);
  TestServer server(router_, GetParam(), options_);
  Client client = server.connect();
  const std::string said = ask(client, "/who", x_forwarded);
  EXPECT_TRUE(said.starts_with("127.0.0.1:")) << said;
  EXPECT_TRUE(said.ends_with(" " + scheme() + " test test")) << said;
}

TEST_P(BehindProxies, OnlyOneKindOfFieldsIsBelieved) {
  const std::string both = std::string(x_forwarded) + std::string(forwarded);
  for (const ForwardedFields kind :
       {ForwardedFields::None, ForwardedFields::XForwarded, ForwardedFields::Forwarded}) {
    trust("127.0.0.1", kind);
    TestServer server(router_, GetParam(), options_);
    Client client = server.connect();
    const std::string said = ask(client, "/who", both);
    switch (kind) {
      case ForwardedFields::None: EXPECT_TRUE(said.starts_with("127.0.0.1:")) << said; break;
      case ForwardedFields::XForwarded:
        EXPECT_EQ(said, "192.0.2.1:0 https public.example test");
        break;
      case ForwardedFields::Forwarded:
        EXPECT_EQ(said, "[2001:db8::1]:7 https public.example test");
        break;
    }
    // Each request of the connection has a client of its own.
    if (kind == ForwardedFields::XForwarded) {
      EXPECT_EQ(ask(client, "/who", "X-Forwarded-For: 192.0.2.9\r\n"),
                "192.0.2.9:0 " + scheme() + " test test");
    }
  }
}

TEST_P(BehindProxies, FieldsAreBelievedOfTheProxyThatAHeaderNames) {
  trust("127.0.0.1\n192.0.2.0/24", ForwardedFields::XForwarded, true);
  TestServer server(router_, GetParam(), options_);
  Client known = behind(server, tcp4);
  EXPECT_EQ(ask(known, "/who", "X-Forwarded-For: 203.0.113.5\r\n"),
            "203.0.113.5:0 " + scheme() + " test test");
  Client stranger = behind(server, "PROXY TCP4 198.51.100.9 198.51.100.2 50123 443\r\n");
  EXPECT_EQ(ask(stranger, "/who", "X-Forwarded-For: 203.0.113.5\r\n"),
            "198.51.100.9:50123 " + scheme() + " test test");
}

TEST_P(BehindProxies, RecordsNameTheClient) {
  trust("127.0.0.1", ForwardedFields::XForwarded);
  std::vector<std::string> clients;
  options_.hooks.on_response = [&](const RequestRecord& record) {
    EXPECT_TRUE(record.peer.starts_with("127.0.0.1:"));
    const std::lock_guard lock(mutex_);
    clients.emplace_back(record.client);
  };
  TestServer server(router_, GetParam(), options_);
  {
    Client client = server.connect();
    ask(client, "/who", x_forwarded);
    ask(client, "/missing", "X-Forwarded-For: 2001:db8::9\r\n");
    ask(client, "/who");
  }
  server->shutdown();
  EXPECT_EQ(clients, (std::vector<std::string>{"192.0.2.1", "2001:db8::9", "127.0.0.1"}));
}

TEST_P(BehindProxies, RecordsNameThePeerWithoutThem) {
  options_.trusted_proxies = nullptr;
  std::vector<std::string> clients;
  options_.hooks.on_response = [&](const RequestRecord& record) {
    const std::lock_guard lock(mutex_);
    clients.emplace_back(record.client);
  };
  TestServer server(router_, GetParam(), options_);
  {
    Client client = server.connect();
    ask(client, "/who", x_forwarded);
  }
  server->shutdown();
  EXPECT_EQ(clients, std::vector<std::string>{"127.0.0.1"});
}

TEST_P(BehindProxies, ClientsOfAProxyHaveRatesOfTheirOwn) {
  router_.use(rate_limit({.requests = 1, .per = 1h}));
  trust("127.0.0.1", ForwardedFields::XForwarded);
  TestServer server(router_, GetParam(), options_);
  Client client = server.connect();
  const auto status = [&client](std::string_view from) {
    client.send(get("/who", "X-Forwarded-For: " + std::string(from) + "\r\n"));
    return client.answer()->status;
  };
  EXPECT_EQ(status("192.0.2.1"), 200);
  EXPECT_EQ(status("192.0.2.2"), 200);
  EXPECT_EQ(status("6.6.6.6, 192.0.2.1"), 429);
  EXPECT_EQ(status("2001:db8::1"), 200);
  EXPECT_EQ(status("[2001:db8::2]:80"), 429) << "the same network";
}

TEST_P(BehindProxies, OriginsAreComparedWithWhatTheClientAskedFor) {
  router_.websocket("/socket", [](Request& request, WebSocket& socket) -> Task<> {
    socket.send(request.client_address().to_string() + " " + std::string(request.requested_host()));
    while (auto message = co_await socket.receive()) continue;
  });
  trust("127.0.0.1", ForwardedFields::XForwarded);
  TestServer server(router_, GetParam(), options_);
  const auto open = [&](std::string_view fields) {
    testing::WebSocketClient socket(server.connect());
    return socket.open(testing::handshake("/socket", fields));
  };
  const std::string origin = "Origin: https://public.example\r\n";
  const std::string refused = open(origin);
  EXPECT_NE(refused.find(" 403"), refused.npos) << refused;
  testing::WebSocketClient socket(server.connect());
  const std::string head =
      socket.open(testing::handshake("/socket", origin + std::string(x_forwarded)));
  EXPECT_NE(head.find(testing::opened()), head.npos) << head;
  EXPECT_EQ(socket.text(), "192.0.2.1:0 public.example");
}

TEST_P(BehindProxies, PlainHttpIsRedirectedOnce) {
  router_.use(https_only({.hosts = {"public.example"}}));
  router_.use(security_headers());
  trust("127.0.0.1", ForwardedFields::XForwarded);
  TestServer server(router_, GetParam(), options_);
  Client client = server.connect();
  client.send(get("/who", "X-Forwarded-Proto: http\r\nX-Forwarded-Host: public.example\r\n"));
  const auto redirect = client.answer();
  EXPECT_EQ(redirect->status, 308);
  EXPECT_EQ(redirect->field("Location"), "https://public.example/who");
  EXPECT_EQ(redirect->field("Strict-Transport-Security"), std::nullopt);
  client.send(get("/who", x_forwarded));
  const auto answer = client.answer();
  EXPECT_EQ(answer->status, 200);
  EXPECT_TRUE(answer->field("Strict-Transport-Security"));
}

INSTANTIATE_TEST_SUITE_P(Backends, BehindProxies, ::testing::ValuesIn(testing::backends()),
                         testing::backend_name);

}  // namespace
}  // namespace skua
