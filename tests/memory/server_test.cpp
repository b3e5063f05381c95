// SPDX-License-Identifier: MIT
// A failed allocation in a server costs only the connection that needed it. Fails each allocation
// of each kind of request in turn.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "skua.hpp"
#include "support/allocations.hpp"
#include "support/echo_socket.hpp"
#include "support/test_server.hpp"
#include "support/websocket_client.hpp"
#include "tls/issue.hpp"

namespace skua {
namespace {

using testing::Client;
using testing::FailingAllocations;
using testing::get;
using testing::TestServer;
using testing::Transport;

constexpr std::uint64_t last_allocation = 500;
constexpr std::uint64_t all_that_follow = 1'000'000;

/// A named client script whose outcome is ignored.
struct Conversation {
  std::string name;
  std::function<void(Client&)> talk;
};

std::string post(std::string_view path, std::string_view body, std::string_view fields = {}) {
  return std::string("POST ")
      .append(path)
      .append(" HTTP/1.1\r\nHost: test\r\nContent-Length: ")
      .append(std::to_string(body.size()))
      .append("\r\n")
      .append(fields)
      .append("\r\n")
      .append(body);
}

Conversation asking(std::string name, std::string request) {
  return {std::move(name), [request = std::move(request)](Client& client) {
            client.send(request);
            client.answer();
            client.send(request);
            client.answer();
          }};
}

void converse(Client& client, std::string_view path) {
  testing::WebSocketClient socket(std::move(client));
  const std::string head = socket.open(testing::handshake(path));
  if (!head.starts_with("HTTP/1.1 101") && !head.starts_with("HTTP/1.1 200")) return;
  for (const std::size_t size : {std::size_t{10}, std::size_t{20'000}, std::size_t{200'000}}) {
    socket.send(std::string(size, 'x'));
    if (socket.text().size() != size) return;
  }
  socket.close(1000);
  socket.next();
}

std::vector<Conversation> conversations() {
  const std::string form = "a=1&b=two&c=%C3%A4";
  const std::string multipart =
      "--x\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\none\r\n--x\r\n"
      "Content-Disposition: form-data; name=\"f\"; filename=\"f.txt\"\r\n\r\n" +
      std::string(100'000, 'f') + "\r\n--x--\r\n";
  return {
      asking("Plain", get("/plain/7?q=x", "Cookie: a=b\r\nUser-Agent: test\r\n")),
      asking("NotFound", get("/nowhere")),
      asking("Waiting", get("/wait")),
      asking("Large", get("/large")),
      asking("Stream", get("/stream")),
      asking("Broken", get("/broken")),
      asking("LongHead", get("/plain/7?q=x", "X-Long: " + std::string(10'000, 'x') + "\r\n")),
      asking("Refused", get("/plain/7?q=x", "Bad\x01: x\r\n")),
      asking("Upload", post("/kept", std::string(300'000, 'u'))),
      asking("ReadUpload", post("/read", std::string(300'000, 'u'))),
      asking("Form", post("/form", form, "Content-Type: application/x-www-form-urlencoded\r\n")),
      asking("Multipart",
             post("/multipart", multipart, "Content-Type: multipart/form-data; boundary=x\r\n")),
      {"WebSocket", [](Client& client) { converse(client, "/echo"); }},
      {"WebSocketCallbacks", [](Client& client) { converse(client, "/callbacks"); }},
      {"WebSocketSender", [](Client& client) { converse(client, "/sender"); }},
      {"Pipelined",
       [](Client& client) {
         std::string all;
         for (int i = 0; i < 20; ++i) all += get(i % 3 == 0 ? "/wait" : "/large");
         client.send(all);
         for (int i = 0; i < 20; ++i) client.answer();
       }},
      {"Unfinished",
       [](Client& client) {
         client.send(post("/kept", std::string(300'000, 'u')).substr(0, 200'000));
       }},
  };
}

Task<Response> read_form(Request& request) {
  const auto form = co_await request.form();
  if (!form) co_return form.error();
  co_return Response(std::string(form->get("a").value_or("")));
}

Task<Response> read_parts(Request& request) {
  Multipart parts = request.multipart();
  std::string report;
  while (true) {
    Result<std::optional<Part>> next = co_await parts.next();
    if (!next) co_return next.error();
    if (!*next) co_return report;
    Part& part = **next;
    report.append(part.name());
    while (true) {
      const Result<std::optional<Bytes>> piece = co_await part.read();
      if (!piece) co_return piece.error();
      if (!*piece) break;
    }
  }
}

Router app() {
  Router router;
  router.get("/plain/{id}", [](const Request& request, int id) {
    return Response(Status::Ok, std::to_string(id) + std::string(*request.query("q")))
        .header("X-Seen", request.header("user-agent").value_or("none"));
  });
  router.get("/wait", []() -> Task<Response> {
    co_await sleep(Duration(0));
    co_return Response("waited");
  });
  router.get("/large", [] { return std::string(200'000, 'l'); });
  router.get("/stream", [] {
    return Response::stream("text/plain", [](BodyWriter& out) -> Task<> {
      for (int i = 0; i < 20; ++i) co_await out.write(std::string(10'000, 's'));
    });
  });
  router.get("/broken", []() -> Response { throw std::runtime_error("broken"); });
  router.post("/kept", [](const Request& request) { return std::string(request.body()); });
  router.post("/read", [](Request& request) -> Task<Response> {
    const std::string text = co_await request.text();
    co_return Response(text);
  });
  router.post("/form", read_form);
  router.post("/multipart", read_parts);
  router.websocket("/echo", testing::echo);
  router.websocket("/callbacks",
                   WebSocketCallbacks{
                       .open = [](WebSocket& socket, Request&) { socket.subscribe("all"); },
                       .message =
                           [](WebSocket& socket, const Message& message) {
                             socket.publish("all", message.text);
                             static_cast<void>(socket.send(message.text));
                           },
                   });
  // The loop runs posted calls outside of a connection's turn.
  router.websocket("/sender",
                   WebSocketCallbacks{.message = [](WebSocket& socket, const Message& message) {
                     socket.sender().send(std::string(message.text));
                   }});
  return router;
}

/// Runs a new server for each failing allocation and each kind of conversation.
class Starved : public ::testing::TestWithParam<std::tuple<BackendChoice, Transport>> {
 protected:
  static Transport transport() { return std::get<1>(GetParam()); }

  Starved() {
    if (!testing::is_secure(transport())) return;
    const auto issued = tls::make_self_signed({});  // shared by all servers
    options_.tls.certificate = issued->certificate;
    options_.tls.private_key = issued->private_key;
  }

  /// TLS is independent of what it carries, so one of each way to send and receive is enough.
  static std::vector<Conversation> told() {
    std::vector<Conversation> all = conversations();
    if (transport() == Transport::Tls) {
      std::erase_if(all, [](const Conversation& one) {
        return one.name != "Plain" && one.name != "Large" && one.name != "Stream" &&
               one.name != "Upload" && one.name != "WebSocket" && one.name != "Unfinished";
      });
    }
    return all;
  }
  /// Reports whether an allocation failed.
  bool suffers(const Conversation& conversation, std::uint64_t first, std::uint64_t count) {
    TestServer server(router_, std::get<0>(GetParam()), options_, transport());
    bool has_failed = false;
    greet(server);
    {
      const FailingAllocations failing(FailingAllocations::Where::OtherThreads, first, count);
      talk(server, conversation);
      // A client that has left may not have been accepted yet.
      turn_until([&] {
        const Counters now = server->counters();
        return now.connections_open == 0 &&
               (now.connections_accepted == 2 || now.out_of_memory != 0);
      });
      has_failed = FailingAllocations::has_failed();
    }
    {
      Client other(server.port(), transport());
      other.send(get("/plain/7?q=x"));
      const auto answer = other.answer();
      EXPECT_TRUE(answer && answer->status == 200) << conversation.name << " " << first;
    }
    turn_until([&] { return server->counters().connections_open == 0; });
    EXPECT_EQ(server->counters().connections_open, 0U) << conversation.name << " " << first;
    return has_failed;
  }

  /// Waits until the server listens and is idle.
  static void greet(TestServer& server) {
    {
      const Client greeting(server.port(), Transport::Tcp);
      turn_until([&] { return server->counters().connections_accepted == 1; });
    }
    turn_until([&] { return server->counters().connections_open == 0; });
  }
  static void talk(const TestServer& server, const Conversation& conversation) {
    Client client(server.port(), transport());
    client.continue_handshake();
    if (client.tls() == nullptr || client.tls()->is_established()) conversation.talk(client);
  }
  static void turn_until(const std::function<bool()>& holds) {
    const auto end = std::chrono::steady_clock::now() + 5s;
    while (!holds() && std::chrono::steady_clock::now() < end) std::this_thread::yield();
  }

  Router router_ = app();
  ServerOptions options_{.timeouts = {.linger = 10ms},
                         .hooks = {.on_response = [](const RequestRecord&) {}}};
};

TEST_P(Starved, CountsAndLogsWhatItLoses) {
  std::atomic<int> logged{0};
  options_.hooks.log = [&](LogLevel level, std::string_view text) {
    logged += level == LogLevel::Error && text == "a new connection was closed: memory ran out";
  };
  TestServer server(router_, std::get<0>(GetParam()), options_, transport());
  greet(server);
  {
    const FailingAllocations failing(FailingAllocations::Where::OtherThreads, 1);
    Client lost(server.port(), Transport::Tcp);
    EXPECT_TRUE(lost.is_closed());
  }
  turn_until([&] { return logged == 1; });  // logged after the close
  EXPECT_EQ(logged, 1);
  EXPECT_EQ(server->counters().out_of_memory, 1U);
}

TEST_P(Starved, LosesAConnectionAtMost) {
  for (const Conversation& conversation : told()) {
    for (std::uint64_t first = 1; first <= last_allocation; ++first) {
      if (!suffers(conversation, first, 1)) break;
      if (HasFailure()) return;
    }
  }
}

TEST_P(Starved, LosesAConnectionAtMostWhileNothingCanBeAllocated) {
  for (const Conversation& conversation : told()) {
    for (std::uint64_t first = 1; first <= last_allocation; ++first) {
      if (!suffers(conversation, first, all_that_follow)) break;
      if (HasFailure()) return;
    }
  }
}

// The loop delivers publications of other threads outside of any connection's turn.
TEST_P(Starved, LosesASubscriberAtMost) {
  const std::string text(200'000, 'p');
  bool has_failed = true;
  for (std::uint64_t first = 1; has_failed && first <= last_allocation; ++first) {
    TestServer server(router_, std::get<0>(GetParam()), options_, transport());
    testing::WebSocketClient subscriber(Client(server.port(), transport()));
    subscriber.open(testing::handshake("/callbacks"));
    turn_until([&] { return server->counters().subscriptions == 1; });
    std::string heard;
    {
      const FailingAllocations failing(FailingAllocations::Where::OtherThreads, first,
                                       all_that_follow);
      server->publish("all", text);
      heard = subscriber.text();
      has_failed = FailingAllocations::has_failed();
    }
    EXPECT_TRUE(has_failed || heard == text) << first;
    Client other(server.port(), transport());
    other.send(get("/plain/7?q=x"));
    const auto answer = other.answer();
    EXPECT_TRUE(answer && answer->status == 200) << first;
    if (HasFailure()) return;
  }
  EXPECT_FALSE(has_failed);
}

std::vector<Transport> built_transports() {
  std::vector<Transport> all;
  if (tls::make_self_signed({})) all.push_back(Transport::Tls);
  all.push_back(Transport::H2);
  return all;
}

std::string name_of(const ::testing::TestParamInfo<std::tuple<BackendChoice, Transport>>& info) {
  static constexpr const char* names[] = {"Tcp", "Tls", "H2", "H2Tls"};
  return testing::backend_name({std::get<0>(info.param), 0}) +
         names[static_cast<std::size_t>(std::get<1>(info.param))];
}

INSTANTIATE_TEST_SUITE_P(Backends, Starved,
                         ::testing::Combine(::testing::ValuesIn(testing::backends()),
                                            ::testing::Values(Transport::Tcp)),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Transports, Starved,
                         ::testing::Combine(::testing::Values(BackendChoice::Auto),
                                            ::testing::ValuesIn(built_transports())),
                         name_of);

}  // namespace
}  // namespace skua
