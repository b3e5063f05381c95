// SPDX-License-Identifier: MIT
// The client against skua's own server: requests of every form, reused connections, content in
// both directions.
#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "client_fixture.hpp"

namespace skua {
namespace {

using namespace std::chrono_literals;

class ClientRequests : public testing::ClientTest {
 protected:
  /// The text of the response, or the problem's text.
  Task<std::string> text_of(ClientRequest request) {
    Result<std::string, Problem> text = co_await std::move(request).text();
    co_return text ? *text : "problem: " + text.error().text;
  }
  std::size_t connections() { return server()->counters().connections_accepted; }
};

TEST_P(ClientRequests, APageIsFetched) {
  router_.get("/page", [] { return "hello"; });
  run([&](Client& client) -> Task<> {
    auto response = co_await client.get(url("/page"));
    EXPECT_TRUE(response) << response.error().text;
    if (!response) co_return;
    EXPECT_EQ(response->status(), Status::Ok);
    EXPECT_EQ(response->header("content-type"), "text/plain; charset=utf-8");
    EXPECT_EQ(response->length_bytes(), 5U);
    EXPECT_EQ(response->url().to_string(), url("/page"));
    auto text = co_await response->text();
    EXPECT_EQ(text.value_or(""), "hello");
    EXPECT_TRUE(response->timings().content);
    auto nothing = co_await response->read();
    EXPECT_TRUE(nothing && !*nothing);
  });
}

TEST_P(ClientRequests, WhatIsSaidOfARequestIsSent) {
  router_.put("/echo/{rest...}", [](Request& request) -> Task<std::string> {
    std::string seen(request.target());
    for (const char* const name :
         {"x-one", "content-type", "user-agent", "accept", "authorization"}) {
      seen.append("|").append(request.header(name).value_or("-"));
    }
    while (auto piece = co_await request.read()) seen.append("|").append(text(*piece));
    co_return seen;
  });
  run([&](Client& client) -> Task<> {
    auto seen = co_await text_of(client.request(Method::Put, url("/echo/a?b=1"))
                                     .query("c d", "e&f")
                                     .header("X-One", "two")
                                     .without_header("Accept")
                                     .bearer("abc")
                                     .json("{}"));
    EXPECT_EQ(seen, "/echo/a?b=1&c+d=e%26f|two|application/json|skua|-|Bearer abc|{}");
    auto plain = co_await text_of(client.put(url("/echo/")).body("x").basic_auth("u", "p"));
    EXPECT_EQ(plain, "/echo/|-|text/plain; charset=utf-8|skua|*/*|Basic dTpw|x");
  });
}

TEST_P(ClientRequests, AMethodMayBeAnyToken) {
  router_.put("/page", [] { return "put"; });
  run([&](Client& client) -> Task<> {
    std::string seen;
    const auto see = [&seen](HeadOf of, std::string_view lines) {
      if (of == HeadOf::Request) seen = lines.substr(0, lines.find("HTTP/"));
    };
    ClientRequest request = client.request("PURGE", url("/page"));
    request.on_head(see);
    auto response = co_await std::move(request);
    EXPECT_TRUE(response) << response.error().text;
    if (!response) co_return;
    EXPECT_EQ(response->status(), Status::NotImplemented) << "as the server got it";
    EXPECT_EQ(seen, "PURGE /page ");
    auto put = co_await text_of(client.request("PUT", url("/page")));
    EXPECT_EQ(put, "put");
    for (const char* const text : {"", "TWO WORDS", "A\r\nB: c"}) {
      EXPECT_THROW((void)client.request(text, url("/page")), std::invalid_argument) << text;
    }
    auto late = co_await text_of(client.request("PURGE", url("/page")).timeout(0s));
    EXPECT_TRUE(late.starts_with("problem: could not purge http")) << late;
  });
}

TEST_P(ClientRequests, AConnectionIsUsedAgain) {
  router_.get("/page", [] { return "hello"; });
  router_.post("/page", [](Request&) -> Task<std::string> { co_return std::string("posted"); });
  run([&](Client& client) -> Task<> {
    for (int i = 0; i < 5; ++i) {
      auto got = co_await text_of(client.get(url("/page")));
      EXPECT_EQ(got, "hello");
      auto posted = co_await text_of(client.post(url("/page")).body("some content"));
      EXPECT_EQ(posted, "posted");
    }
  });
  EXPECT_EQ(connections(), 1U);
}

TEST_P(ClientRequests, ManyAtOnceShareTheConnectionsThatThereMayBe) {
  router_.get("/slow", []() -> Task<std::string> {
    co_await sleep(5ms);
    co_return std::string("slow");
  });
  options_.connections_per_host = 3;
  run([&](Client& client) -> Task<> {
    std::vector<Task<std::string>> all;
    for (int i = 0; i < 20; ++i) all.push_back(text_of(client.get(url("/slow"))));
    auto texts = co_await when_all(std::move(all));
    for (const std::string& one : texts) EXPECT_EQ(one, "slow");
  });
  EXPECT_LE(connections(), 3U);
}

// The client cannot know in advance whether HTTP/2 will let the requests share a connection.
TEST_P(ClientRequests, ManyAtOnceMakeNoMoreConnectionsThanTheyNeed) {
  router_.get("/slow", []() -> Task<std::string> {
    co_await sleep(5ms);
    co_return std::string("slow");
  });
  const bool is_http2 = wire() == testing::Wire::Http2 || wire() == testing::Wire::Http2Tls;
  server_options_.http2 = is_http2;
  if (testing::is_secure(wire())) options_.versions = HttpVersions::Any;
  run([&](Client& client) -> Task<> {
    std::vector<Task<std::string>> all;
    for (int i = 0; i < 20; ++i) all.push_back(text_of(client.get(url("/slow"))));
    auto texts = co_await when_all(std::move(all));
    for (const std::string& one : texts) EXPECT_EQ(one, "slow");
  });
  EXPECT_EQ(connections(), is_http2 ? 1U : 8U);
}

TEST_P(ClientRequests, AFormIsEncoded) {
  router_.post("/form", [](Request& request) -> Task<std::string> {
    auto form = co_await request.form();
    std::string seen(request.header("content-type").value_or(""));
    for (const auto& [name, value] : form.value())
      seen.append("|").append(name).append("=").append(value);
    co_return seen;
  });
  run([&](Client& client) -> Task<> {
    auto seen = co_await text_of(client.post(url("/form")).field("a b", "c&d").field("e", ""));
    EXPECT_EQ(seen, "application/x-www-form-urlencoded|a b=c&d|e=");
  });
}

TEST_P(ClientRequests, ContentIsStreamedBothWays) {
  constexpr std::size_t pieces = 200;
  router_.post("/echo", [](Request& request) -> Task<Response> {
    std::size_t size = 0;
    while (auto piece = co_await request.read()) size += piece->size();
    co_return Response::stream("text/plain", [size](BodyWriter& out) -> Task<> {
      for (std::size_t left = size; left != 0; left -= 1000)
        co_await out.write(std::string(1000, 'x'));
    });
  });
  run([&](Client& client) -> Task<> {
    const auto produce = [](BodyWriter& out) -> Task<> {
      for (std::size_t i = 0; i < pieces; ++i) co_await out.write(std::string(10000, 'y'));
    };
    for (const bool is_length_told : {false, true}) {
      std::optional<std::uint64_t> length;
      if (is_length_told) length = pieces * 10000;
      auto response = co_await client.post(url("/echo")).stream("text/plain", produce, length);
      EXPECT_TRUE(response) << response.error().text;
      if (!response) co_return;
      std::size_t size = 0;
      while (true) {
        auto piece = co_await response->read();
        EXPECT_TRUE(piece) << piece.error().text;
        if (!piece || !*piece) break;
        size += (*piece)->size();
      }
      EXPECT_EQ(size, pieces * 10000);
    }
  });
}

TEST_P(ClientRequests, AProducerThatThrowsEndsTheRequest) {
  router_.post("/sink", [](Request& request) -> Task<std::string> {
    while (co_await request.read()) continue;
    co_return std::string();
  });
  run([&](Client& client) -> Task<> {
    const auto produce = [](BodyWriter& out) -> Task<> {
      co_await out.write("some");
      throw std::runtime_error("the source is dry");
    };
    std::string what;
    try {
      auto response = co_await client.post(url("/sink")).stream("text/plain", produce);
      EXPECT_FALSE(response);
    } catch (const std::runtime_error& error) {
      what = error.what();
    }
    EXPECT_EQ(what, "the source is dry");
  });
}

TEST_P(ClientRequests, HeadHasNoContent) {
  router_.get("/page", [] { return "hello"; });
  run([&](Client& client) -> Task<> {
    auto response = co_await client.head(url("/page"));
    EXPECT_TRUE(response);
    if (!response) co_return;
    EXPECT_EQ(response->length_bytes(), 5U);
    auto text = co_await response->text();
    EXPECT_EQ(text.value_or("?"), "");
  });
}

TEST_P(ClientRequests, DroppedAnywhereItLeavesNothingBehind) {
  router_.get("/page", [] { return std::string(300000, 'x'); });
  run([&](Client& client) -> Task<> {
    for (int turns = 0; turns < 12; ++turns) {
      Scope scope;
      const auto fetch = [](Client& from, std::string to) -> Task<> {
        auto response = co_await from.get(to);
        if (response) static_cast<void>(co_await response->text());
      };
      scope.spawn(fetch(client, url("/page")));
      for (int i = 0; i < turns; ++i) co_await yield();
    }
    auto text = co_await client.get(url("/page")).text();
    EXPECT_EQ(text.value_or("").size(), 300000U);
  });
}

TEST_P(ClientRequests, ACallbackIsCalledOnce) {
  router_.get("/page", [] { return "hello"; });
  run([&](Client& client) -> Task<> {
    Event called;
    int calls = 0;
    client.get(url("/page")).then([&](Result<ClientResponse, Problem> response) {
      ++calls;
      EXPECT_TRUE(response);
      called.set();
    });
    co_await called.wait();
    EXPECT_EQ(calls, 1);
    client.get("http://").then([&](Result<ClientResponse, Problem> response) {
      ++calls;
      EXPECT_FALSE(response);
    });
    EXPECT_EQ(calls, 1);
    co_await yield();
    co_await yield();
    EXPECT_EQ(calls, 2);
  });
}

TEST_P(ClientRequests, AClientThatIsDestroyedCallsNobody) {
  router_.get("/page", [] { return "hello"; });
  run([&](Client& client) -> Task<> {
    {
      Client other(options_);
      other.get(url("/page")).then([](Result<ClientResponse, Problem>) { ADD_FAILURE(); });
    }
    auto text = co_await client.get(url("/page")).text();
    EXPECT_TRUE(text);
  });
}

TEST_P(ClientRequests, AResponseOutlivesItsClient) {
  router_.get("/page", [] { return std::string(3000000, 'x'); });
  run([&](Client&) -> Task<> {
    auto client = std::make_unique<Client>(options_);
    auto response = co_await client->get(url("/page"));
    client.reset();
    EXPECT_TRUE(response);
    if (!response) co_return;
    auto text = co_await response->text();
    EXPECT_EQ(text.value_or("").size(), 3000000U);
  });
}

TEST_P(ClientRequests, UrlsMayBeRelativeToABase) {
  router_.get("/api/users", [] { return "users"; });
  options_.base_url = url("/api/");
  run([&](Client& client) -> Task<> {
    auto text = co_await text_of(client.get("users"));
    EXPECT_EQ(text, "users");
  });
}

// The client made the server wait, so the server did not time out.
TEST_P(ClientRequests, WhoReadsSlowlyIsNotOutOfTime) {
  constexpr std::size_t size = 4 << 20;
  router_.get("/long", [] { return std::string(size, 'x'); });
  options_.timeouts.idle = std::chrono::milliseconds(400);
  run([&](Client& client) -> Task<> {
    auto response = co_await client.get(url("/long"));
    EXPECT_TRUE(response);
    if (!response) co_return;
    std::size_t received = 0;
    for (int pieces = 0;; ++pieces) {
      auto piece = co_await response->read();
      EXPECT_TRUE(piece);
      if (!piece || !*piece) break;
      received += (*piece)->size();
      if (pieces < 2) co_await sleep(std::chrono::milliseconds(500));
    }
    EXPECT_EQ(received, size);
  });
}

TEST_P(ClientRequests, AUrlWithoutAHostIsRefusedBeforeAnybodyIsAsked) {
  run([](Client& client) -> Task<> {
    for (const char* const url : {"http:page", "https:/page", "page", "//host/"}) {
      auto text = co_await client.get(url).text();
      EXPECT_FALSE(text) << url;
      if (text) continue;
      EXPECT_EQ(text.error().code(), Errc::MalformedUrl) << text.error().text;
    }
  });
}

TEST_P(ClientRequests, APasswordIsNotRepeatedToWhoeverReadsTheProblem) {
  run([](Client& client) -> Task<> {
    for (const char* const url :
         {"ftp://u:secret@host/a@b", "http://u:secret@/", "u:secret@host:x"}) {
      auto text = co_await client.get(url).text();
      EXPECT_FALSE(text) << url;
      if (text) continue;
      EXPECT_EQ(text.error().code(), Errc::MalformedUrl) << text.error().text;
      EXPECT_EQ(text.error().text.find("secret"), std::string::npos) << text.error().text;
    }
    auto socket = co_await client.websocket("ftp://u:secret@host/");
    EXPECT_FALSE(socket);
    if (!socket) {
      EXPECT_EQ(socket.error().text.find("secret"), std::string::npos) << socket.error().text;
    }
  });
}

TEST_P(ClientRequests, WhatIsNoWholeContentIsNotDecoded) {
  const auto coded = [](Status status, const char* coding, const char* content) {
    Response response(status, content);
    response.header("Content-Encoding", coding);
    return response;
  };
  router_.get("/part", [&] { return coded(Status::PartialContent, "gzip", "middle"); });
  router_.get("/none", [&] { return coded(Status::NoContent, "odd", ""); });
  router_.get("/same", [&] { return coded(Status::NotModified, "odd", ""); });
  run([&](Client& client) -> Task<> {
    auto part = co_await client.get(url("/part")).header("Range", "bytes=1-6").text();
    EXPECT_EQ(part.value_or("none"), "middle");
    for (const char* const path : {"/none", "/same"}) {
      auto text = co_await client.get(url(path)).text();
      EXPECT_EQ(text.value_or("none"), "");
    }
  });
}

TEST_P(ClientRequests, ALongFieldIsTaken) {
  static const std::string policy(60'000, 'p');
  router_.get(
      "/", [&] { return Response(Status::Ok, "text").header("Content-Security-Policy", policy); });
  run([&](Client& client) -> Task<> {
    auto response = co_await client.get(url("/"));
    EXPECT_EQ(response.value().header("content-security-policy").value_or(""), policy);
  });
  options_.limits.field_line_bytes = 50'000;
  run([&](Client& client) -> Task<> {
    auto response = co_await client.get(url("/"));
    EXPECT_EQ(response ? Errc::None : response.error().code(), Errc::FieldTooLong);
  });
}

TEST_P(ClientRequests, ContentThatIsSaidToHaveNoCodingHasNone) {
  router_.get("/", [] { return Response(Status::Ok, "text").header("Content-Encoding", "none"); });
  run([&](Client& client) -> Task<> {
    auto text = co_await client.get(url("/")).text();
    EXPECT_EQ(text.value_or("none"), "text");
  });
}

INSTANTIATE_TEST_SUITE_P(All, ClientRequests, testing::client_test_values_of_both_versions(),
                         testing::client_test_name);

}  // namespace
}  // namespace skua
