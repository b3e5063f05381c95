// SPDX-License-Identifier: MIT
// Runs every case file against a whole server, over a memory stream and over TCP on every back end.
// Each case is sent in one piece, byte by byte, and in two pieces cut at every offset (at most 400
// offsets for long cases).
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "http/uri/target_path.hpp"
#include "skua.hpp"
#include "support/case_file.hpp"
#include "support/memory_stream.hpp"
#include "support/paths.hpp"
#include "support/test_worker.hpp"

namespace skua {
namespace {

using testing::Case;
using testing::Expected;

constexpr std::size_t max_cuts = 400;
constexpr std::size_t max_cuts_for_coroutines = 40;  // they use the same parsers

Router recorder() {
  Router router;
  const auto record = [](const Request& request) {
    std::string out(request.method_name());
    return out.append(" ").append(request.target()).append("\n").append(request.body());
  };
  router.any("/", record);
  router.any("/{rest...}",
             [record](const Request& request, std::string_view) { return record(request); });
  return router;
}

// Like recorder(), but with coroutines that read the content as it arrives.
Router waiting_recorder() {
  Router router;
  const auto record = [](Request& request) -> Task<std::string> {
    std::string out(request.method_name());
    out.append(" ").append(request.target()).append("\n");
    const std::string body = co_await request.text();
    co_return out.append(body);
  };
  router.any("/", record);
  router.any("/{rest...}", [record](Request& request, std::string_view) -> Task<std::string> {
    std::string text = co_await record(request);
    co_return text;
  });
  router.use([](Request& request, Next next) -> Task<Response> {
    co_await yield();
    Response response = co_await next(request);
    co_return response;
  });
  return router;
}

ServerOptions options_for(const Case& test) {
  ServerOptions options;
  Limits& limits = options.limits;
  limits.target_bytes = test.limit("target_bytes", limits.target_bytes);
  limits.field_line_bytes = test.limit("field_line_bytes", limits.field_line_bytes);
  limits.head_bytes = test.limit("head_bytes", limits.head_bytes);
  limits.fields = static_cast<std::uint16_t>(test.limit("fields", limits.fields));
  limits.body_bytes = test.limit("body_bytes", limits.body_bytes);
  limits.streamed_body_bytes = limits.body_bytes;
  limits.chunk_extension_bytes = test.limit("extension_bytes", limits.chunk_extension_bytes);
  limits.trailer_bytes = test.limit("trailer_bytes", limits.trailer_bytes);
  limits.trailer_fields =
      static_cast<std::uint16_t>(test.limit("trailer_fields", limits.trailer_fields));
  return options;
}

// The response that one expected event calls for.
struct Wanted {
  int status = 200;
  std::string body{};
  bool to_head = false;
  bool closes = false;
};

Wanted wanted_of(const Expected& event) {
  if (event.kind == Expected::Kind::Failure) return {.status = event.status, .closes = true};
  Wanted wanted{.to_head = event.method == "HEAD", .closes = event.close};
  if (event.method == "CONNECT") return {.status = 501, .closes = true};
  if (event.target == "*") return {.status = 204, .closes = wanted.closes};
  std::string_view path = event.target;
  if (const std::size_t scheme = path.find("://"); !path.starts_with("/") && scheme != path.npos) {
    const std::size_t slash = path.find_first_of("/?", scheme + 3);
    path = slash == path.npos || path[slash] == '?' ? "/" : path.substr(slash);
  }
  std::array<char, 65536> scratch;
  if (!http::canonical_path(http::split_target(path).path, scratch))
    return {.status = 400, .closes = true};
  wanted.body = event.method + " " + event.target + "\n" + event.body;
  return wanted;
}

// Compares what the server sent with what the case expects.
void check(const Case& test, std::string output, const std::string& how) {
  SCOPED_TRACE(test.where() + ", " + how);
  for (const Expected& event : test.expected) {
    if (event.kind == Expected::Kind::More) break;
    const Wanted wanted = wanted_of(event);
    auto answer = testing::take_answer(output, wanted.to_head);
    while (answer && answer->status == 100) answer = testing::take_answer(output, wanted.to_head);
    ASSERT_TRUE(answer.has_value());
    EXPECT_EQ(answer->status, wanted.status);
    if (wanted.status == 200 && !wanted.to_head) {
      EXPECT_EQ(answer->body, wanted.body);
    }
    EXPECT_EQ(answer->field("Connection") == "close", wanted.closes);
    if (wanted.closes) break;
  }
  // Each run ends with the client's FIN, which truncates an unfinished body.
  std::string unread = output;
  if (const auto last = testing::take_answer(unread);
      last && test.expected.back().kind == Expected::Kind::More) {
    EXPECT_EQ(last->status, 400);
    return;
  }
  EXPECT_EQ(output, "") << "more answers than requests";
}

// Returns the runs of a case, each as the list of pieces to send.
std::vector<std::vector<std::string_view>> cuts(std::string_view bytes,
                                                std::size_t most = max_cuts) {
  std::vector<std::vector<std::string_view>> runs{{bytes}};
  runs.emplace_back();
  for (std::size_t i = 0; i < bytes.size(); ++i) runs.back().push_back(bytes.substr(i, 1));
  const std::size_t step = bytes.size() / most + 1;
  for (std::size_t i = 1; i < bytes.size(); i += step)
    runs.push_back({bytes.substr(0, i), bytes.substr(i)});
  return runs;
}

std::string how(const std::vector<std::string_view>& pieces) {
  if (pieces.size() == 2) return "cut after " + std::to_string(pieces[0].size());
  return "in " + std::to_string(pieces.size()) + " pieces";
}

std::vector<Case> request_cases() {
  std::vector<Case> cases = testing::read_case_files(testing::source_path("tests/cases"));
  std::erase_if(cases, [](const Case& test) { return test.is_response; });
  EXPECT_GT(cases.size(), 100U);
  return cases;
}

TEST(Cases, OverAMemoryStream) {
  if (testing::transport() != testing::Transport::Tcp) GTEST_SKIP() << "has a stream of its own";
  const Router router = recorder();
  for (const Case& test : request_cases()) {
    testing::TestWorker worker(router, BackendChoice::Poll, options_for(test));
    for (const auto& pieces : cuts(test.bytes)) {
      auto owned = std::make_unique<net::MemoryStream>();
      net::MemoryStream& stream = *owned;
      bool is_destroyed = false;
      stream.tell_destruction(is_destroyed);
      (*worker).serve(std::move(owned));
      std::string output;
      const auto pump = [&] {
        do output += stream.take_output();
        while (stream.pump_once() && !is_destroyed);
      };
      for (const std::string_view piece : pieces) {
        if (is_destroyed) break;
        stream.feed(piece);
        pump();
      }
      if (!is_destroyed) {
        stream.finish();
        pump();
      }
      check(test, output, how(pieces));
      EXPECT_TRUE(is_destroyed) << test.title;
      if (::testing::Test::HasFailure()) return;
    }
  }
}

class CasesOverTcp : public ::testing::TestWithParam<BackendChoice> {
 protected:
  void SetUp() override {
    if (testing::transport() != testing::Transport::Tcp) GTEST_SKIP() << "has streams of its own";
  }
};

// Returns both ends of a loopback connection: the non-blocking server end, then the client end.
std::pair<Socket, Socket> connect_pair(const Socket& listener) {
  const Address address = net::local_address(listener.descriptor());
  TcpSocket client = TcpSocket::connect_to(address).value();
  net::set_no_delay(client.descriptor());
  EXPECT_TRUE(listener.wait_readable(10s));
  Socket server(bsd::accept_one(listener.descriptor()));
  EXPECT_TRUE(server);
  return {std::move(server), std::move(client)};
}

// Decision 0033: bytes that a client sends after it has said `close` may arrive at a closed socket.
bool may_say_close(const Case& test) {
  return test.bytes.find("close") != test.bytes.npos ||
         test.bytes.find("HTTP/1.0") != test.bytes.npos;
}

void run_over_tcp(const Router& router, BackendChoice backend, std::size_t most) {
  const Socket listener = net::create_listener(Address::parse("127.0.0.1", 0).value()).value();
  for (const Case& test : request_cases()) {
    testing::TestWorker worker(router, backend, options_for(test));
    for (const auto& pieces : cuts(test.bytes, most)) {
      auto [server_end, client_end] = connect_pair(listener);
      testing::Client client(std::move(client_end));
      (*worker).serve(
          std::make_unique<net::TcpStream>((*worker).loop().backend(), std::move(server_end)));
      for (const std::string_view piece : pieces) {
        const std::uint64_t wanted = worker.counters().bytes_received + piece.size();
        client.send(piece);
        worker.turn_until([&] {
          return worker.counters().bytes_received >= wanted ||
                 worker.counters().connections_open == 0;
        });
      }
      client.end();
      worker.turn_until_closed();
      check(test, client.rest(), how(pieces));
      EXPECT_TRUE(!client.was_reset() || (pieces.size() > 1 && may_say_close(test)));
      if (::testing::Test::HasFailure()) return;
    }
  }
}

TEST_P(CasesOverTcp, AtEveryCut) { run_over_tcp(recorder(), GetParam(), max_cuts); }

TEST_P(CasesOverTcp, WithHandlersThatWait) {
  run_over_tcp(waiting_recorder(), GetParam(), max_cuts_for_coroutines);
}

INSTANTIATE_TEST_SUITE_P(Backends, CasesOverTcp, ::testing::ValuesIn(testing::backends()),
                         testing::backend_name);

}  // namespace
}  // namespace skua
