// SPDX-License-Identifier: MIT
// A failed allocation in a client costs only the request that needed it; the next one succeeds.
// Fails each allocation of each kind of request in turn.
#include <gtest/gtest.h>

#include <memory>
#include <new>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "skua.hpp"
#include "support/allocations.hpp"
#include "support/echo_socket.hpp"
#include "support/run_on.hpp"
#include "support/temporary_directory.hpp"
#include "support/test_server.hpp"
#include "tls/issue.hpp"

namespace skua {
namespace {

using testing::FailingAllocations;
using testing::TestServer;
using testing::Transport;

constexpr std::uint64_t last_allocation = 500;
constexpr std::uint64_t all_that_follow = 1'000'000;
constexpr std::size_t large_bytes = 100'000;

/// A kind of request to a client. `ask` returns Errc::None if it succeeded.
struct Kind {
  const char* name;
  Task<Error> (*ask)(Client& client, const std::string& server, const std::string& folder);
};

Task<Error> expect_text(ClientRequest request, std::size_t size) {
  Task<Result<std::string, Problem>> asked = std::move(request).text();
  const Result<std::string, Problem> text = co_await asked;
  if (!text) co_return text.error().error;
  EXPECT_EQ(text->size(), size);
  co_return Errc::None;
}

Task<Error> get(Client& client, const std::string& server, const std::string&) {
  Task<Error> asked = expect_text(client.get(server + "/large"), large_bytes);
  const Error error = co_await asked;
  co_return error;
}

Task<Error> follow(Client& client, const std::string& server, const std::string&) {
  Task<Error> asked = expect_text(client.get(server + "/moved"), large_bytes);
  const Error error = co_await asked;
  co_return error;
}

Task<Error> call_back(Client& client, const std::string& server, const std::string&) {
  Error error = Errc::None;
  Event event;
  client.get(server + "/small").then([&](const Result<ClientResponse, Problem>& got) {
    if (!got) error = got.error().error;
    event.set();
  });
  co_await event.wait();
  co_return error;
}

Task<Error> upload(Client& client, const std::string& server, const std::string&) {
  ClientRequest request = client.post(server + "/echo");
  request.body(std::string(large_bytes, 'u'));
  Task<Error> asked = expect_text(std::move(request), large_bytes);
  const Error error = co_await asked;
  co_return error;
}

Task<Error> stream(Client& client, const std::string& server, const std::string&) {
  ClientRequest request = client.post(server + "/echo");
  request.stream("text/plain", [](BodyWriter& out) -> Task<> {
    for (std::size_t i = 0; i < 10; ++i) co_await out.write(std::string(large_bytes / 10, 's'));
    out.trailer("X-End", "yes");
  });
  Task<Error> asked = expect_text(std::move(request), large_bytes);
  const Error error = co_await asked;
  co_return error;
}

Task<Error> download(Client& client, const std::string& server, const std::string& folder) {
  Task<Result<std::uint64_t, Problem>> asked =
      client.get(server + "/large").save(folder + "/large");
  const Result<std::uint64_t, Problem> size = co_await asked;
  if (!size) co_return size.error().error;
  EXPECT_EQ(*size, large_bytes);
  co_return Errc::None;
}

Task<Error> converse(Client& client, const std::string& server, const std::string&) {
  auto opened = co_await client.websocket(server + "/socket");
  if (!opened) co_return opened.error().error;
  for (const std::size_t size : {std::size_t{10}, large_bytes}) {
    co_await opened->send(std::string(size, 'x'));
    const auto message = co_await opened->receive();
    if (!message) co_return Errc::Closed;
    EXPECT_EQ(message->text.size(), size);
  }
  opened->close();
  co_return Errc::None;
}

Task<Error> run_callbacks(Client& client, const std::string& server, const std::string&) {
  const ClientWebSocketCallbacks callbacks{
      .open =
          [](WebSocket& socket) { static_cast<void>(socket.send(std::string(large_bytes, 'x'))); },
      .message = [](WebSocket& socket, const Message&) { socket.close(); }};
  Task<Result<CloseReason, Problem>> run = client.websocket(server + "/socket").run(callbacks);
  const Result<CloseReason, Problem> reason = co_await run;
  co_return reason ? Error(Errc::None) : reason.error().error;
}

constexpr Kind kinds[] = {{"Get", get},
                          {"Redirect", follow},
                          {"Callback", call_back},
                          {"Upload", upload},
                          {"Stream", stream},
                          {"Download", download},
                          {"WebSocket", converse},
                          {"WebSocketCallbacks", run_callbacks}};

using Spoken = std::tuple<BackendChoice, Transport>;

class StarvedClient : public ::testing::TestWithParam<Spoken> {
 protected:
  static Transport transport() { return std::get<1>(GetParam()); }

  StarvedClient() {
    router_.get("/large", [] { return std::string(large_bytes, 'l'); });
    router_.get("/small", [] { return "small"; });
    router_.get("/moved", [] {
      return Response::redirect("/large").cookie("seen", "longer-than-what-a-string-holds-itself");
    });
    router_.post("/echo", [](const Request& request) { return std::string(request.body()); });
    router_.websocket("/socket", testing::echo);
    const bool is_h2 = testing::speaks_http2(transport());
    options_.versions = is_h2 ? HttpVersions::Http2 : HttpVersions::Http1;
    options_.timeout = 5s;  // no request may hang
    if (testing::is_secure(transport())) {
      const auto issued = tls::make_self_signed({});
      server_options_.tls.certificate = issued->certificate;
      server_options_.tls.private_key = issued->private_key;
      options_.tls.authorities = issued->certificate;
    }
    server_ =
        std::make_unique<TestServer>(router_, BackendChoice::Auto, server_options_, transport());
    url_ = (testing::is_secure(transport()) ? "https" : "http") + std::string("://127.0.0.1:") +
           std::to_string(server_->port());
  }

  /// Asks twice; the second request reuses the connection of the first.
  Task<> ask_twice(Client& client, const Kind& kind) {
    for (int i = 0; i < 2; ++i) {
      Error error = Errc::None;
      try {
        Task<Error> asked = kind.ask(client, url_, folder_);
        const Error told = co_await asked;
        error = told;
      } catch (const std::bad_alloc&) {
        error = Errc::OutOfMemory;
      }
      EXPECT_TRUE(error.code() == Errc::None || FailingAllocations::has_failed());
      EXPECT_NE(error.code(), Errc::TimedOut);
    }
  }
  /// Reports whether an allocation failed.
  Task<bool> suffers(const Kind& kind, std::uint64_t first, std::uint64_t count) {
    Client client(options_);
    bool has_failed = false;
    {
      const FailingAllocations failing(FailingAllocations::Where::ThisThread, first, count);
      try {
        co_await ask_twice(client, kind);
      } catch (const std::bad_alloc&) {
        EXPECT_TRUE(FailingAllocations::has_failed());
      }
      has_failed = FailingAllocations::has_failed();
    }
    Task<Error> next = expect_text(client.get(url_ + "/small"), 5);
    const Error error = co_await next;
    EXPECT_EQ(error.code(), Errc::None) << kind.name << " " << first << ": " << error.message();
    co_await client.close();
    co_return has_failed;
  }
  static bool differs(const Kind& kind) {
    const bool is_socket = kind.ask == converse || kind.ask == run_callbacks;
    switch (transport()) {
      case Transport::Tcp: return true;
      case Transport::Tls:  // independent of what it carries
        return kind.ask == get || kind.ask == stream || kind.ask == download ||
               kind.ask == converse;
      case Transport::H2: return !is_socket;  // clients open no WebSockets over HTTP/2
      case Transport::H2Tls: return kind.ask == get;
    }
    return true;
  }
  void expect_survival(std::uint64_t count) {
    for (const Kind& kind : kinds) {
      if (!differs(kind)) continue;
      // One for all: the kernel takes a while to free what io_uring has used.
      testing::LoopWithPool loop(std::get<0>(GetParam()));
      for (std::uint64_t first = 1; first <= last_allocation; ++first) {
        if (!loop.run(suffers(kind, first, count))) break;
        ASSERT_FALSE(HasFailure()) << kind.name << " " << first;
      }
    }
  }

  Router router_;
  ServerOptions server_options_;
  ClientOptions options_;
  const support::TemporaryDirectory directory_;
  const std::string folder_ = directory_.path().string();
  std::unique_ptr<TestServer> server_;
  std::string url_;
};

TEST_P(StarvedClient, LosesARequestAtMost) { expect_survival(1); }

TEST_P(StarvedClient, LosesWhatItIsAskedForWhileNothingCanBeAllocated) {
  expect_survival(all_that_follow);
}

std::vector<Spoken> spoken() {
  std::vector<Spoken> all;
  for (const BackendChoice backend : testing::backends()) {
    all.emplace_back(backend, Transport::Tcp);
  }
  const bool has_tls = static_cast<bool>(tls::make_self_signed({}));
  if (has_tls) all.emplace_back(BackendChoice::Auto, Transport::Tls);
  all.emplace_back(BackendChoice::Auto, Transport::H2);
  if (has_tls) all.emplace_back(BackendChoice::Auto, Transport::H2Tls);
  return all;
}

std::string name_of(const ::testing::TestParamInfo<Spoken>& info) {
  static constexpr const char* transports[] = {"Tcp", "Tls", "H2", "H2Tls"};
  return testing::backend_name({std::get<0>(info.param), info.index}) +
         transports[static_cast<std::size_t>(std::get<1>(info.param))];
}

INSTANTIATE_TEST_SUITE_P(All, StarvedClient, ::testing::ValuesIn(spoken()), name_of);

}  // namespace
}  // namespace skua
