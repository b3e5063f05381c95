// SPDX-License-Identifier: MIT
// A problem names what the program gave: an address, a folder, a file; and what to do about it.
#include <exception>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "skua.hpp"
#include "support/client.hpp"
#include "support/closed_port.hpp"
#include "support/descriptors.hpp"
#include "support/scripted_server.hpp"
#include "support/temporary_directory.hpp"

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

// names: server.start server.serve tcp_server.listen tcp_server.run tcp_server.run_until_signal
// names: tcp_server.poll socket.listen_on
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
      {"serve()", [&] { return problem_of(serve(Router(), {.host = "127.0.0.1", .port = port})); },
       in_use_here},
      {"Server, address", [] { return start_of({.host = "192.0.2.1", .port = 0}); }, elsewhere},
      {"Server, host", [] { return start_of({.host = "no address"}); }, {"listen on no address"}},
      {"TcpServer", [&] { return listen_of({.host = "127.0.0.1", .port = port}); }, in_use},
      {"TcpServer, threads",
       [&] { return listen_of({.host = "127.0.0.1", .port = port, .threads = 2}); }, in_use},
      {"TcpServer, run()",
       [&] { return problem_of(TcpServer<Ignoring>({.host = "127.0.0.1", .port = port}).run()); },
       in_use},
      {"TcpServer, run_until_signal()",
       [&] {
         return problem_of(
             TcpServer<Ignoring>({.host = "127.0.0.1", .port = port}).run_until_signal());
       },
       in_use},
      {"TcpServer, poll()",
       [&] { return problem_of(TcpServer<Ignoring>({.host = "127.0.0.1", .port = port}).poll()); },
       in_use},
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

Task<std::string> connect_to(std::string host, std::uint16_t port) {
  const auto connected = co_await TcpStream::connect(std::move(host), port);
  co_return problem_of(connected);
}

Task<std::string> resolve_all(std::string host) {
  Resolver resolver;
  const auto found = co_await resolver.resolve(std::move(host));
  co_return problem_of(found);
}

// names: socket.bind socket.connect socket.try_connect socket.connect_to socket.open
// names: socket.join socket.leave udp_stream.bind udp_stream.connect stream.connect
// names: stream.listen address.resolve resolver.resolve ip_filter.parse_networks
TEST(Problems, OfSocketsNameTheAddress) {
  const testing::ClosedPort closed;
  const std::uint16_t port = closed.number();
  const Address nobody = Address::loopback(Address::Family::Ipv4, port);
  const Address elsewhere = Address::parse("192.0.2.1", 9).value();
  const Address path = Address::unix_path("no/such/socket").value();
  UdpSocket taken = UdpSocket::open(Address::Family::Ipv4).value();
  taken.bind(Address::loopback(Address::Family::Ipv4, 0)).value();
  const Address used = taken.local_address();
  const std::vector<std::string> in_use{"bind to " + used.to_string(), "in use"};
  const std::string to_nobody = "could not connect to 127.0.0.1:" + std::to_string(port);
  const auto udp = [] { return UdpSocket::open(Address::Family::Ipv4).value(); };
  const auto tcp = [] { return TcpSocket::open(Address::Family::Ipv4).value(); };
  expect_parts({
      {"bind()", [&] { return problem_of(udp().bind(used)); }, in_use},
      {"connect()", [&] { return problem_of(tcp().connect(nobody)); }, {to_nobody, "refused"}},
      {"try_connect()", [&] { return problem_of(tcp().try_connect(path)); }, {path.to_string()}},
      {"connect_to()", [&] { return problem_of(TcpSocket::connect_to(nobody)); }, {to_nobody}},
      {"connect_to(), name",
       [] { return problem_of(TcpSocket::connect_to("no name", 9)); },
       {"resolve no name"}},
      {"UDP, no family",
       [] { return problem_of(UdpSocket::open(Address::Family::Unix)); },
       {"create a UDP socket"}},
      {"UDP, connect()", [&] { return problem_of(udp().connect(path)); }, {path.to_string()}},
      {"join()", [&] { return problem_of(udp().join(elsewhere)); }, {"join 192.0.2.1"}},
      {"leave()", [&] { return problem_of(udp().leave(elsewhere)); }, {"leave 192.0.2.1"}},
      {"resolve()", [] { return problem_of(resolve("no name", 9)); }, {"resolve no name"}},
      {"networks",
       [] { return problem_of(parse_networks("10.0.0.0/8\n10.0.0.0/33")); },
       {"line 2", "10.0.0.0/33"}},
      {"UdpStream, bind()", [&] { return problem_of(UdpStream::bind(used)); }, in_use},
      {"UdpStream, bind(), family",
       [&] { return problem_of(UdpStream::bind(path)); },
       {"bind to " + path.to_string()}},
      {"UdpStream, connect()",
       [&] { return problem_of(UdpStream::connect(path)); },
       {"connect to " + path.to_string()}},
      {"Listener",
       [&] { return problem_of(Listener::listen(elsewhere)); },
       {"listen on 192.0.2.1:9"}},
      {"TcpStream", [&] { return run(connect_to("127.0.0.1", port)); }, {to_nobody, "refused"}},
      {"TcpStream, name", [] { return run(connect_to("no name", 9)); }, {"resolve no name"}},
      {"Resolver", [] { return run(resolve_all("no name")); }, {"resolve no name"}},
  });
}

// names: socket.listen socket.pair
TEST(Problems, OfUnixSocketsNameThePath) {
  const Address path = Address::unix_path("no/such/socket").value();
  const support::TemporaryDirectory folder;
  folder.write("file", "not a socket");
  const Address file = Address::unix_path((folder / "file").string()).value();
  const auto local = [] { return UnixSocket::open().value(); };
  expect_parts({
      {"Unix, bind()", [&] { return problem_of(local().bind(path)); }, {path.to_string()}},
      {"Unix, listen()", [&] { return problem_of(local().listen()); }, {"bind() it first"}},
      {"Unix, pair()",
       [] {
         const support::OpenFilesLimit none(0);
         return problem_of(UnixSocket::pair());
       },
       {"create a pair of Unix sockets"}},
      {"Unix, listen_on()",
       [&] { return problem_of(UnixSocket::listen_on(path)); },
       {"listen on " + path.to_string(), "not found"}},
      {"Unix, listen_on(), file",
       [&] { return problem_of(UnixSocket::listen_on(file)); },
       {"listen on " + file.to_string(), "not a socket"}},
      {"Unix, connect_to()",
       [&] { return problem_of(UnixSocket::connect_to(path)); },
       {"connect to " + path.to_string(), "not found"}},
  });
}

template <class Make>
Task<std::string> ask_as(Make make) {
  Client client;
  auto asked = make(client);
  const auto got = co_await asked;
  co_return problem_of(got);
}

// Sends a request, and then reads its response, or saves it.
template <class Read>
Task<std::string> answer_as(std::string url, Read read) {
  Client client;
  auto sent = client.get(std::move(url)).send();
  Result<ClientResponse, Problem> response = co_await sent;
  if (!response) co_return "no response";
  auto reading = read(*response);
  const auto got = co_await reading;
  co_return problem_of(got);
}

// names: client_request.send client_request.text client_request.save client_request.download
// names: client.open client.run blocking.get blocking.post blocking.send
TEST(Problems, OfRequestsNameTheUrlAndTheFile) {
  const testing::ClosedPort closed;
  const std::string url = "http://127.0.0.1:" + std::to_string(closed.number()) + "/form";
  Router router;
  router.post("/form", [] { return "taken"; });
  router.get("/form", [] { return "a form"; });
  Server server(router, {.host = "127.0.0.1", .threads = 1});
  ASSERT_TRUE(server.start());
  const std::string form = server.url() + "/form";
  const std::string socket = "ws" + url.substr(4);
  const std::string gone = "no/such/folder/form.html";
  const std::vector<std::string> refused{"127.0.0.1:" + std::to_string(closed.number()), "refused"};
  expect_parts({
      {"text()", [&] { return run(ask([&](Client& client) { return client.get(url); })); },
       refused},
      {"send()",
       [&] { return run(ask_as([&](Client& client) { return client.get(url).send(); })); },
       refused},
      {"save()",
       [&] { return run(ask_as([&](Client& client) { return client.get(form).save(gone); })); },
       {gone}},
      {"download()",
       [&] {
         return run(ask_as([&](Client& client) { return client.get(form).download(gone, {}); }));
       },
       {gone}},
      {"open()",
       [&] { return run(ask_as([&](Client& client) { return client.websocket(socket).open(); })); },
       refused},
      {"run()",
       [&] {
         return run(ask_as([&](Client& client) {
           ClientWebSocketCallbacks callbacks;
           return client.websocket(socket).run(callbacks);
         }));
       },
       refused},
      {"get()", [&] { return problem_of(blocking::get(url)); }, refused},
      {"get(), URL", [] { return problem_of(blocking::get("http//a")); }, {"'http//a'", "http://"}},
      {"post()", [&] { return problem_of(blocking::post(url, "")); }, refused},
      {"blocking",
       [&] { return problem_of(blocking::send([&](Client& client) { return client.get(url); })); },
       refused},
      {"missing file",
       [&] {
         return run(
             ask([&](Client& client) { return client.post(form).file("photo", "no/sea.png"); }));
       },
       {form, "no/sea.png", "not found"}},
  });
}

Task<Result<void, Problem>> read_all(ClientResponse& response) {
  Result<void, Problem> ended;
  bool goes_on = true;
  while (goes_on) {
    const auto read = co_await response.read();
    if (!read) ended = read.error();
    goes_on = read && *read;
  }
  co_return ended;
}

// names: client_response.read client_response.text client_response.save
TEST(Problems, OfResponsesNameTheUrlAndTheFile) {
  const auto talk = [](testing::Client& peer) {
    peer.some();
    peer.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc");
  };
  testing::ScriptedServer server({talk, talk, talk, talk, talk});
  const std::string url = "http://127.0.0.1:" + std::to_string(server.port()) + "/list";
  const std::string gone = "no/such/folder/list";
  const std::vector<std::string> cut{url, "ended before its length"};
  expect_parts({
      {"read()", [&] { return run(answer_as(url, read_all)); }, cut},
      {"text()",
       [&] {
         return run(answer_as(url, [](ClientResponse& response) { return response.text(); }));
       },
       cut},
      {"text(), limit",
       [&] {
         return run(answer_as(url, [](ClientResponse& response) { return response.text(2); }));
       },
       {url}},
      {"save()",
       [&] {
         return run(
             answer_as(url, [](ClientResponse& response) { return response.save("list.txt"); }));
       },
       cut},
      {"save(), file",
       [&] {
         return run(answer_as(url, [&](ClientResponse& response) { return response.save(gone); }));
       },
       {gone}},
  });
}

TEST(Problems, OfThreadsWithoutALoopSayWhereToGetOne) {
  expect_parts({{"Timer",
                 [] { return thrown_by([] { Timer timer([] {}); }); },
                 {"skua::run()", "Loop::create()"}}});
}

}  // namespace
}  // namespace skua
