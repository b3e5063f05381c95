// SPDX-License-Identifier: MIT
// A problem names what the program gave: an address, a folder, a file; and what to do about it.
#include <exception>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "skua.hpp"
#include "support/closed_port.hpp"

namespace skua {
namespace {

struct Case {
  const char* name;
  std::function<std::string()> text;
  std::vector<std::string> parts;  // of the text
};

struct Ignoring {
  static void on_readable(TcpConnection& client) { client.consume_all(); }
};

template <class T>
std::string problem_of(const Result<T, Problem>& result) {
  return result ? "no problem" : result.error().text;
}

std::string thrown_by(const std::function<void()>& call) {
  try {
    call();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "nothing";
}

TcpSocket not_listening() {
  TcpSocket socket = TcpSocket::open(Address::Family::Ipv4).value();
  socket.bind(Address::loopback(Address::Family::Ipv4, 0)).value();
  return socket;
}

std::string start_of(ServerOptions options) {
  const Router router;
  Server server(router, std::move(options));
  return problem_of(server.start());
}

std::string listen_of(TcpServerOptions options) {
  TcpServer<Ignoring> server(std::move(options));
  return problem_of(server.listen());
}

Task<std::string> ask(std::function<ClientRequest(Client&)> make) {
  Client client;
  Task<Result<std::string, Problem>> asked = make(client).text();
  const Result<std::string, Problem> got = co_await asked;
  co_return problem_of(got);
}

void expect_parts(const std::vector<Case>& cases) {
  for (const Case& one : cases) {
    const std::string text = one.text();
    for (const std::string& part : one.parts) {
      EXPECT_NE(text.find(part), std::string::npos)
          << one.name << ": " << text << "\nlacks " << part;
    }
  }
}

TEST(Problems, OfListeningNameTheAddressAndTheCure) {
  TcpSocket taken = TcpSocket::listen_on(Address::loopback(Address::Family::Ipv4, 0)).value();
  const std::uint16_t port = taken.local_address().port();
  const std::string place = "listen on 127.0.0.1:" + std::to_string(port);
  const std::vector<std::string> in_use{place, "in use", "choose another"};
  const std::vector<std::string> in_use_here{place, "in use"};
  const std::vector<std::string> elsewhere{"listen on 192.0.2.1:"};
  const std::vector<std::string> nowhere{"listen on 192.0.2.1:", "no interface of this machine"};
  expect_parts({
      {"Server", [&] { return start_of({.host = "127.0.0.1", .port = port, .threads = 1}); },
       in_use_here},
      {"Server, threads",
       [&] { return start_of({.host = "127.0.0.1", .port = port, .threads = 2}); }, in_use_here},
      {"Server, address", [] { return start_of({.host = "192.0.2.1", .port = 0}); }, elsewhere},
      {"Server, host", [] { return start_of({.host = "no address"}); }, {"listen on no address"}},
      {"TcpServer", [&] { return listen_of({.host = "127.0.0.1", .port = port}); }, in_use},
      {"TcpServer, threads",
       [&] { return listen_of({.host = "127.0.0.1", .port = port, .threads = 2}); }, in_use},
      {"TcpServer, address", [] { return listen_of({.host = "192.0.2.1"}); }, nowhere},
      {"TcpServer, host",
       [] { return listen_of({.host = "no address"}); },
       {"listen on no address"}},
      {"TcpSocket", [&] { return problem_of(TcpSocket::listen_on(taken.local_address())); },
       in_use},
      {"TcpServer, socket",
       [] {
         TcpServer<Ignoring> server;
         return problem_of(server.listen(not_listening()));
       },
       {"does not listen: call listen()"}},
      {"Listener, socket",
       [] {
         const auto loop = Loop::create().value();
         return thrown_by([] { const Listener listener(not_listening()); });
       },
       {"does not listen: call listen()"}},
  });
}

TEST(Problems, OfRequestsNameTheUrlAndTheFile) {
  const testing::ClosedPort closed;
  const std::string url = "http://127.0.0.1:" + std::to_string(closed.number()) + "/form";
  Router router;
  router.post("/form", [] { return "taken"; });
  Server server(router, {.host = "127.0.0.1", .threads = 1});
  ASSERT_TRUE(server.start());
  const std::string form = server.url() + "/form";
  expect_parts({
      {"connection",
       [&] { return run(ask([&](Client& client) { return client.get(url); })); },
       {"127.0.0.1:" + std::to_string(closed.number()), "refused"}},
      {"missing file",
       [&] {
         return run(
             ask([&](Client& client) { return client.post(form).file("photo", "no/sea.png"); }));
       },
       {form, "no/sea.png", "not found"}},
  });
}

TEST(Problems, OfThreadsWithoutALoopSayWhereToGetOne) {
  expect_parts({{"Timer",
                 [] { return thrown_by([] { Timer timer([] {}); }); },
                 {"skua::run()", "Loop::create()"}}});
}

}  // namespace
}  // namespace skua
