// SPDX-License-Identifier: MIT
// Callbacks of clients, sockets and loops, which throw: the exception ends the request, the task,
// the connection or the turn of the loop that they belong to, and nothing else.
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "operations/callbacks.hpp"
#include "skua.hpp"
#include "support/test_server.hpp"
#include "support/wait_until.hpp"

namespace skua {
namespace {

using testing::Callbacks;
using testing::TestServer;
using testing::Transport;
using testing::wait_until;

class ClientCallbacks : public Callbacks {
 protected:
  ClientCallbacks() {
    router_.post("/", [](Request& request) -> Task<std::string> {
      FieldLines hints;
      hints.add("Link", "</style.css>; rel=preload");
      request.early_hints(hints);
      std::string content = co_await request.text();
      co_return content;
    });
    router_.get("/", [] { return "hello"; });
    server_.emplace(router_, BackendChoice::Auto, ServerOptions{}, Transport::Tcp);
  }
  std::string url() const { return server_->url_; }
  /// Whether an exception leaves the loop, within a time that only a mistake takes.
  static bool leaves(Loop& loop) {
    for (int i = 0; i < 2000; ++i) {
      try {
        loop.poll(10ms);
      } catch (...) {
        return true;
      }
    }
    return false;
  }

  struct Running : TestServer {
    using TestServer::TestServer;
    std::string url_ = "http://127.0.0.1:" + std::to_string(port()) + "/";
  };
  Router router_;
  std::optional<Running> server_;
};

using Change = std::function<void(ClientRequest&)>;

/// Returns whether a request with this change ends with an exception; the client goes on.
Task<bool> throws(std::string url, const Change& change) {
  Client client;
  ClientRequest request = client.post(url);
  request.body("content");
  change(request);
  bool has_thrown = false;
  try {
    static_cast<void>(co_await std::move(request).text());
  } catch (...) {
    has_thrown = true;
  }
  const auto next = co_await client.get(url).text();
  EXPECT_TRUE(next && *next == "hello");
  co_await client.close();
  co_return has_thrown;
}

// throws: client_request.on_progress client_request.on_upload
// throws: client_request.on_interim client_request.on_head client_request.stream
// throws: multipart_writer.Progress body_writer.produce
TEST_P(ClientCallbacks, EndTheirRequestOnly) {
  const std::vector<Change> all{
      [this](ClientRequest& request) { request.on_progress([this](Progress) { fail(); }); },
      [this](ClientRequest& request) { request.on_upload([this](Progress) { fail(); }); },
      [this](ClientRequest& request) {
        request.on_interim([this](Status, std::string_view) { fail(); });
      },
      [this](ClientRequest& request) {
        request.on_head([this](HeadOf, std::string_view) { fail(); });
      },
      [this](ClientRequest& request) {
        request.stream("text/plain", [this](BodyWriter&) -> Task<> {
          fail();
          co_return;
        });
      },
      [this](ClientRequest& request) {
        MultipartWriter parts;
        parts.field("a", "b").on_progress([this](auto, auto) { fail(); });
        request.multipart(std::move(parts));
      },
  };
  int expected = 0;
  for (const Change& change : all) {
    EXPECT_TRUE(run(throws(url(), change))) << &change - all.data();
    EXPECT_GT(calls_, expected) << &change - all.data();
    expected = calls_;
  }
}

// throws: client_request.then client_options.on_exception
TEST_P(ClientCallbacks, OfThenGoToOnExceptionOrLeaveClose) {
  const auto work = [this](ClientOptions options) -> Task<bool> {
    Client client(std::move(options));
    client.get(url()).then([this](const auto&) { fail(); });
    bool has_thrown = false;
    try {
      co_await client.close();
    } catch (...) {
      has_thrown = true;
    }
    co_return has_thrown;
  };
  EXPECT_TRUE(run(work({})));
  int told = 0;
  EXPECT_FALSE(run(work({.on_exception = [&](const std::exception_ptr&) { ++told; }})));
  EXPECT_EQ(told, 1);
  EXPECT_FALSE(run(work({.on_exception = [this](const std::exception_ptr&) { fail(); }})));
  EXPECT_EQ(calls_, 4);
}

// throws: background_client.Done background_client.Make blocking.send
TEST_P(ClientCallbacks, OfOtherThreadsReachTheirCallers) {
  const auto make = [this](Client&) -> ClientRequest { fail(); };
  EXPECT_ANY_THROW(static_cast<void>(blocking::send(make)));
  std::atomic<int> told{0};
  BackgroundClient client({.on_exception = [&](const std::exception_ptr&) {
    ++told;
    fail();
  }});
  EXPECT_ANY_THROW(static_cast<void>(client.send(make).get()));
  client.get(url(), [this](const auto&) { fail(); });
  wait_until([&] { return told == 1; });
  EXPECT_EQ(client.get(url()).get().value().content, "hello");
}

// throws: cookie_jar.is_public_suffix ip_filter.edit multipart.Source
TEST_P(ClientCallbacks, OfValuesReachTheirCallers) {
  CookieJar jar({.is_public_suffix = [this](std::string_view) -> bool { fail(); }});
  const Url from = Url::parse("http://a.example.com/").value();
  const std::chrono::sys_seconds now(1h);
  EXPECT_ANY_THROW(static_cast<void>(jar.store(from, "a=b; Domain=example.com", now)));
  EXPECT_TRUE(jar.cookies(now).empty());
  IpFilter filter;
  EXPECT_ANY_THROW(filter.change([this](IpRules&) { fail(); }));
  const auto source = [this]() -> Task<std::optional<Bytes>> {
    fail();
    co_return std::nullopt;
  };
  Multipart parts("multipart/form-data; boundary=b", source);
  EXPECT_ANY_THROW(static_cast<void>(run(parts.next())));
  EXPECT_EQ(calls_, 3);
}

// throws: client.open client.message client.drain
TEST_P(ClientCallbacks, OfWebSocketsCloseThem) {
  std::atomic<int> code{0};
  Router router;
  router.websocket("/", [&](WebSocket& socket) -> Task<> {
    socket.send("hello");
    while (co_await socket.receive()) continue;
    code = static_cast<int>(socket.close_reason().code);
  });
  TestServer server(router, BackendChoice::Auto, {}, Transport::Tcp);
  const auto broken = [this](WebSocket&) { fail(); };
  const std::vector<ClientWebSocketCallbacks> all{
      {.open = broken},
      {.message = [this](WebSocket&, Message) { fail(); }},
      {.open =
           [](WebSocket& socket) {
             for (int i = 0; i < 3; ++i) socket.send(std::string(300'000, 'x'));
           },
       .drain = broken},
  };
  const auto work = [&](const ClientWebSocketCallbacks& callbacks) -> Task<bool> {
    Client client;
    const std::string to = "ws://127.0.0.1:" + std::to_string(server.port()) + "/";
    bool has_thrown = false;
    try {
      static_cast<void>(co_await client.websocket(to).run(callbacks));
    } catch (...) {
      has_thrown = true;
    }
    co_await client.close();
    co_return has_thrown;
  };
  for (const ClientWebSocketCallbacks& callbacks : all) {
    code = 0;
    EXPECT_TRUE(run(work(callbacks))) << &callbacks - all.data();
    wait_until([&] { return code != 0; });
    const int internal_error = static_cast<int>(CloseCode::InternalError);
    EXPECT_EQ(code, internal_error) << &callbacks - all.data();
  }
  EXPECT_EQ(calls_, 3);
}

// throws: websocket.on_control
TEST_P(ClientCallbacks, OfControlFramesCloseTheirWebSocket) {
  std::atomic<int> code{0};
  Router router;
  router.websocket("/pings", [&](WebSocket& socket) -> Task<> {
    socket.ping("x");
    while (co_await socket.receive()) continue;
    code = static_cast<int>(socket.close_reason().code);
  });
  router.websocket("/pinged", [&](WebSocket& socket) -> Task<> {
    socket.on_control([this](WebSocketControl, std::string_view) { fail(); });
    while (co_await socket.receive()) continue;
  });
  TestServer server(router, BackendChoice::Auto, {.hooks = logging()}, Transport::Tcp);
  const std::string to = "ws://127.0.0.1:" + std::to_string(server.port());
  const auto work = [&](std::string path) -> Task<CloseReason> {
    Client client;
    auto socket = co_await client.websocket(to + path);
    if (!socket) throw std::runtime_error(socket.error().text);
    if (path == "/pings") {
      socket->on_control([this](WebSocketControl, std::string_view) { fail(); });
    } else {
      socket->ping("x");
    }
    while (co_await socket->receive()) continue;
    co_return socket->close_reason();
  };
  static_cast<void>(run(work("/pings")));
  wait_until([&] { return code == static_cast<int>(CloseCode::InternalError); });
  EXPECT_EQ(run(work("/pinged")).code, CloseCode::InternalError);
  EXPECT_EQ(calls_, 2);
}

// throws: loop.post loop.Timer
// throws: udp_stream.Callback
TEST_P(ClientCallbacks, OfLoopsLeaveThem) {
  const auto loop = Loop::create().value();
  loop->post([this] { fail(); });
  EXPECT_TRUE(leaves(*loop));
  Timer timer([this] { fail(); });
  timer.start(0ms);
  EXPECT_TRUE(leaves(*loop));
  auto receiver = UdpStream::bind(Address::loopback(Address::Family::Ipv4, 0)).value();
  receiver.on_receive([this](const auto&, std::string_view) { fail(); });
  const Address here = receiver.socket().local_address();
  auto sender = UdpStream::connect(here).value();
  EXPECT_TRUE(loop->run(sender.send("x")));
  EXPECT_TRUE(leaves(*loop));
  loop->poll();
  EXPECT_EQ(calls_, 3);
}

// throws: stream.on_receive stream.on_end stream.on_sent
// throws: stream.on_accept
TEST_P(ClientCallbacks, OfStreamsLeaveTheLoop) {
  const auto loop = Loop::create().value();
  auto listener = Listener::listen(Address::loopback(Address::Family::Ipv4, 0)).value();
  std::optional<TcpStream> accepted;
  listener.on_accept([&](TcpStream stream) {
    accepted = std::move(stream);
    fail();
  });
  const Address here = listener.address();
  auto stream = TcpSocket::connect_to(here).value();
  EXPECT_TRUE(leaves(*loop));
  ASSERT_TRUE(accepted);
  accepted->on_receive([this](std::string_view) { fail(); });
  ASSERT_TRUE(stream.send_all("x"));
  EXPECT_TRUE(leaves(*loop));
  accepted->on_receive({});
  accepted->on_sent([this](Error) { fail(); });
  accepted->write(std::string(8'000'000, 'x'));
  accepted->on_end([this](Error) { fail(); });
  stream = {};
  EXPECT_TRUE(leaves(*loop));
  EXPECT_GE(calls_, 3);
}

// throws: tcp_server.accepts tcp_server.log tcp_server.on_ready
TEST_P(ClientCallbacks, OfTcpServersRefuseAndAreDropped) {
  struct Echo {
    static void on_readable(TcpConnection& client) { client.send(client.input()); }
  };
  TcpServerOptions options{.host = "127.0.0.1"};
  options.accepts = [this](const Address&) -> bool { fail(); };
  options.log = [this](LogLevel, std::string_view) { fail(); };
  TcpServer<Echo> server(options, [this](TcpConnection&) -> Echo { fail(); });
  ASSERT_TRUE(server.listen());
  EXPECT_ANY_THROW(static_cast<void>(server.run_until_signal([this] { fail(); })));
  EXPECT_EQ(calls_, 1);
  TcpServer<Echo> open({.host = "127.0.0.1", .log = options.log},
                       [this](TcpConnection&) -> Echo { fail(); });
  TcpServer<Echo> closed(options);
  for (TcpServer<Echo>* const each : {&open, &closed}) {
    ASSERT_TRUE(each->listen());
    std::thread thread([&] { EXPECT_TRUE(each->run()); });
    testing::Client client(each->address().port(), Transport::Tcp);
    client.rest();
    each->request_stop();
    thread.join();
  }
  EXPECT_EQ(calls_, 5) << "the maker of a state, a rule, and the log of each";
}

INSTANTIATE_TEST_SUITE_P(All, ClientCallbacks, testing::all_thrown, testing::name_of);

}  // namespace
}  // namespace skua
