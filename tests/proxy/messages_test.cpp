// SPDX-License-Identifier: MIT
// Messages that a reverse proxy passes on, and their fields that end there.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ascii.hpp"
#include "proxy/proxy_fixture.hpp"

namespace skua {
namespace {

using testing::Answer;
using testing::Client;
using testing::get;
using testing::ProxyTest;
using testing::read_head;
using testing::ScriptedServer;

class ProxyMessages : public ProxyTest {
 protected:
  /// Passes a request on, and returns its head as the upstream server sees it.
  std::string seen(std::string_view request) {
    std::string head;
    {
      ScriptedServer server([&head](Client& client) {
        head = read_head(client);
        client.send("HTTP/1.1 204 No Content\r\n\r\n");
      });
      Client client = connect_to(server);
      client.send(request);
      const std::optional<Answer> answer = client.answer();
      EXPECT_TRUE(answer && answer->status == 204);
    }
    return head;
  }
  // Names are in lower case if they came over HTTP/2.
  static bool mentions(const std::string& head, std::string_view text) {
    return lower(head).find(lower(text)) != head.npos;
  }
  static bool has_line(const std::string& head, const std::string& line) {
    return mentions(head, "\r\n" + line + "\r\n");
  }

 private:
  static std::string lower(std::string_view text) {
    std::string made(text);
    std::ranges::transform(made, made.begin(), ascii::to_lower);
    return made;
  }
};

TEST_P(ProxyMessages, ARequestAndItsResponseArePassedOn) {
  upstream_router_.post("/api/items", [](const Request& request) {
    Response response(Status::Created, "got " + std::string(request.body()), "text/x-thing");
    response.header("Location", "/api/items/7").header("ETag", "\"v1\"");
    response.cookie("a", "1").cookie("b", "2");
    return response;
  });
  Client client = front().connect();
  client.send("POST /api/items?x=1 HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello");
  const std::optional<Answer> answer = client.answer();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 201);
  EXPECT_EQ(answer->body, "got hello");
  EXPECT_EQ(answer->field("Content-Type"), "text/x-thing");
  EXPECT_EQ(answer->field("Location"), "/api/items/7");
  EXPECT_EQ(answer->field("ETag"), "\"v1\"");
  EXPECT_NE(answer->head.find("a=1"), std::string::npos);
  EXPECT_NE(answer->head.find("b=2"), std::string::npos);
}

TEST_P(ProxyMessages, ThePathStaysUnlessTheUrlHasOne) {
  upstream_router_.any("/{path...}", [](const Request& request, std::string_view) {
    return std::string(request.target());
  });
  Client client = front().connect();
  for (const std::string target : {"/api", "/api/", "/api/a%20b/c?d=%zz"}) {
    client.send(get(target));
    const std::optional<Answer> answer = client.answer();
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->body, target);
  }
}

TEST_P(ProxyMessages, TheUrlsPathReplacesThePrefix) {
  upstream_router_.any("/{path...}", [](const Request& request, std::string_view) {
    return std::string(request.target());
  });
  Client client = front("/v2/").connect();
  client.send(get("/api/users?x"));
  EXPECT_EQ(client.answer()->body, "/v2/users?x");
  client.send(get("/api"));
  EXPECT_EQ(client.answer()->body, "/v2");
  client.send(get("/api/./x/../y/"));
  EXPECT_EQ(client.answer()->body, "/v2/y/");
}

TEST_P(ProxyMessages, EveryMethodIsPassedOn) {
  upstream_router_.any("/api", [](const Request& request) {
    return std::string(request.method_name()) + std::string(request.body());
  });
  Client client = front().connect();
  for (const std::string method :
       {"GET", "PUT", "DELETE", "PATCH", "OPTIONS", "QUERY", "REPORT", "MKCALENDAR", "SEARCH",
        "PURGE", "LINK", "ACL", "M-SEARCH", "x_y"}) {
    client.send(method + " /api HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n!!");
    const std::optional<Answer> answer = client.answer();
    ASSERT_TRUE(answer) << method;
    EXPECT_EQ(answer->body, method + "!!");
  }
}

TEST_P(ProxyMessages, HeadHasTheLengthAndNoContent) {
  upstream_router_.get("/api", [] { return std::string(100'000, 'x'); });
  Client client = front().connect();
  for (int i = 0; i < 2; ++i) {
    client.send("HEAD /api HTTP/1.1\r\nHost: a\r\n\r\n");
    const std::optional<Answer> answer = client.answer(true);
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->status, 200);
    EXPECT_EQ(answer->field("Content-Length"), "100000");
  }
}

TEST_P(ProxyMessages, ConditionsAreForTheUpstreamServer) {
  upstream_router_.get("/api", [](const Request& request) {
    if (request.header("If-None-Match") == "\"same\"") return Response(Status::NotModified);
    return Response("fresh");
  });
  Client client = front().connect();
  client.send(get("/api", "If-None-Match: \"same\"\r\n"));
  const std::optional<Answer> unchanged = client.answer();
  ASSERT_TRUE(unchanged);
  EXPECT_EQ(unchanged->status, 304);
  EXPECT_EQ(unchanged->body, "");
  client.send(get("/api", "If-None-Match: \"other\"\r\n"));
  EXPECT_EQ(client.answer()->body, "fresh");
}

TEST_P(ProxyMessages, AResponseThatIgnoresConditionsStaysAsItIs) {
  ScriptedServer server([](Client& client) {
    read_head(client);
    client.send("HTTP/1.1 200 OK\r\nETag: \"a\"\r\nContent-Length: 2\r\n\r\nhi");
  });
  Client client = connect_to(server);
  client.send(get("/api", "If-None-Match: \"a\"\r\n"));
  const std::optional<Answer> answer = client.answer();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 200);
  EXPECT_EQ(answer->body, "hi");
}

TEST_P(ProxyMessages, FieldsOfTheConnectionEndHere) {
  ScriptedServer server([](Client& client) {
    const std::string head = read_head(client);
    for (const char* const name : {"X-Hop", "Keep-Alive", "Proxy-Authorization",
                                   "\r\nProxy:", "Proxy-Thing", "Transfer-Encoding", "\r\nTE:"}) {
      EXPECT_FALSE(mentions(head, name)) << name;
    }
    EXPECT_TRUE(has_line(head, "X-End: kept"));
    client.send(
        "HTTP/1.1 200 OK\r\nConnection: X-Hop, keep-alive\r\nX-Hop: 1\r\nKeep-Alive: timeout=5\r\n"
        "Proxy-Authenticate: Basic\r\nX-End: kept\r\nContent-Length: 0\r\n\r\n");
  });
  Client client = connect_to(server);
  std::string fields = "Proxy-Authorization: x\r\nProxy: http://evil\r\nProxy-Thing: y\r\n";
  fields.append("X-End: kept\r\n");
  if (!testing::speaks_http2()) {
    fields.append("Connection: keep-alive, x-hop, TE\r\nX-Hop: 1\r\nKeep-Alive: 5\r\nTE: gzip\r\n");
  }
  client.send(get("/api", fields));
  const std::optional<Answer> answer = client.answer();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->field("X-End"), "kept");
  for (const char* const name : {"X-Hop", "Keep-Alive", "Proxy-Authenticate"}) {
    EXPECT_EQ(answer->field(name), std::nullopt) << name;
  }
}

TEST_P(ProxyMessages, WhatAClientSaysAboutItselfIsReplaced) {
  const std::string head = seen(get("/api",
                                    "X-Forwarded-For: 6.6.6.6\r\nX-Forwarded-Proto: gopher\r\n"
                                    "X_Forwarded_For: 6.6.6.6\r\nForwarded: for=6.6.6.6\r\n"
                                    "X-Forwarded-Host: evil\r\nX-Real-IP: 6.6.6.6\r\n"));
  EXPECT_FALSE(mentions(head, "6.6.6.6"));
  EXPECT_FALSE(mentions(head, "evil"));
  EXPECT_TRUE(has_line(head, "X-Forwarded-For: 127.0.0.1"));
  EXPECT_TRUE(has_line(head, "X-Forwarded-Host: test"));
  EXPECT_TRUE(has_line(
      head, testing::is_secure() ? "X-Forwarded-Proto: https" : "X-Forwarded-Proto: http"));
  EXPECT_TRUE(has_line(head, "Host: test"));
  EXPECT_TRUE(mentions(head, "\r\nVia: "));
}

TEST_P(ProxyMessages, ATrustedClientsFieldsAreExtended) {
  proxy_options_.trusts_forwarded = true;
  const std::string head = seen(get("/api",
                                    "X-Forwarded-For: 192.0.2.1\r\nX-Forwarded-Proto: https\r\n"
                                    "X-Forwarded-Host: first\r\n"));
  EXPECT_TRUE(has_line(head, "X-Forwarded-For: 192.0.2.1, 127.0.0.1"));
  EXPECT_TRUE(has_line(head, "X-Forwarded-Proto: https"));
  EXPECT_TRUE(has_line(head, "X-Forwarded-Host: first"));
}

TEST_P(ProxyMessages, ForwardedIsTheStandardsField) {
  proxy_options_.forwarded = ForwardedFields::Forwarded;
  const std::string head = seen(get("/api"));
  const std::string proto = testing::is_secure() ? "https" : "http";
  EXPECT_TRUE(has_line(head, "Forwarded: for=127.0.0.1;host=\"test\";proto=" + proto));
  EXPECT_FALSE(mentions(head, "X-Forwarded"));
}

TEST_P(ProxyMessages, TheHostMayBeTheUpstreamServers) {
  proxy_options_.keeps_host = false;
  const std::string head = seen(get("/api"));
  EXPECT_TRUE(mentions(head, "\r\nHost: 127.0.0.1:"));
  EXPECT_TRUE(has_line(head, "X-Forwarded-Host: test"));
}

TEST_P(ProxyMessages, TheClientAddsNothingOfItsOwn) {
  const std::string head = seen(get("/api"));
  for (const char* const name : {"User-Agent", "Accept", "Connection", "Content-Length"}) {
    EXPECT_FALSE(mentions(head, name)) << head;
  }
}

TEST_P(ProxyMessages, TrailersPassInBothDirections) {
  upstream_router_.post("/api", [](Request& request) -> Task<Response> {
    const std::string text = co_await request.text();
    const std::string trailer(request.trailer("X-Sum").value_or("none"));
    co_return Response::stream("text/plain", [text, trailer](BodyWriter& out) -> Task<> {
      co_await out.write(text);
      out.trailer("X-Sum", trailer + "!");
      out.trailer("Content_Length", "1");  // as that of CGI
    });
  });
  Client client = front().connect();
  client.send(
      "POST /api HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n"
      "3\r\nabc\r\n0\r\nX-Sum: 6\r\n\r\n");
  const std::optional<Answer> answer = client.answer();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->body, "abc");
  EXPECT_EQ(answer->trailer("X-Sum"), "6!");
  EXPECT_EQ(answer->trailer("Content_Length"), std::nullopt);
}

TEST_P(ProxyMessages, ChunkedContentStaysChunkedAndALengthStays) {
  if (testing::speaks_http2()) GTEST_SKIP() << "HTTP/1 only: framing by fields";
  std::vector<std::string> heads;
  {
    ScriptedServer server([&heads](Client& client) {
      std::string rest;
      for (int i = 0; i < 2; ++i) {
        heads.push_back(read_head(client, rest));
        const std::string end = i == 0 ? "0\r\n\r\n" : "abc";
        while (rest.find(end) == rest.npos) rest.append(client.some());
        rest.clear();
        client.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
      }
    });
    Client client = connect_to(server);
    client.send(
        "POST /api HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n");
    ASSERT_TRUE(client.answer());
    client.send("POST /api HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc");
    ASSERT_TRUE(client.answer());
  }
  ASSERT_EQ(heads.size(), 2U);
  EXPECT_TRUE(has_line(heads[0], "Transfer-Encoding: chunked"));
  EXPECT_FALSE(mentions(heads[0], "Content-Length"));
  EXPECT_TRUE(has_line(heads[1], "Content-Length: 3"));
  EXPECT_FALSE(mentions(heads[1], "Transfer-Encoding"));
}

TEST_P(ProxyMessages, ARequestThatComesBackIsALoop) {
  // Learn the name of the proxy from a request that it has passed on.
  std::string via;
  ScriptedServer server([&via](Client& client) {
    const std::string head = read_head(client);
    const std::size_t at = head.find("Via: ");
    via = head.substr(at, head.find("\r\n", at) + 2 - at);
    client.send("HTTP/1.1 204 No Content\r\n\r\n");
  });
  Client client = connect_to(server);
  client.send(get("/api"));
  ASSERT_TRUE(client.answer());
  client.send(get("/api", "Via: 1.1 other\r\n" + via));
  const std::optional<Answer> answer = client.answer();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 508);
}

TEST_P(ProxyMessages, MaxForwardsIsCountedDownAndObeyed) {
  upstream_router_.options("/api", [](const Request& request) {
    return std::string(request.header("Max-Forwards").value_or("none"));
  });
  Client client = front().connect();
  client.send("OPTIONS /api HTTP/1.1\r\nHost: a\r\nMax-Forwards: 5\r\n\r\n");
  EXPECT_EQ(client.answer()->body, "4");
  client.send("OPTIONS /api HTTP/1.1\r\nHost: a\r\nMax-Forwards: 0\r\n\r\n");
  EXPECT_EQ(client.answer()->status, 204);
  client.send("TRACE /api HTTP/1.1\r\nHost: a\r\nMax-Forwards: 0\r\n\r\n");
  EXPECT_EQ(client.answer()->status, 405);
}

TEST_P(ProxyMessages, ATraceHasNoContent) {
  ScriptedServer server([](Client&) { ADD_FAILURE() << "it was passed on"; });
  Client client = connect_to(server);
  client.send("TRACE /api HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc");
  EXPECT_EQ(client.answer()->status, 400);
}

TEST_P(ProxyMessages, NamesThatStandForOthersEndHere) {
  const std::string head = seen(get("/api",
                                    "Content_Length: 5\r\nTransfer_Encoding: chunked\r\n"
                                    "X-User: good\r\nX_User: evil\r\napi_key: kept\r\n"));
  for (const char* const text : {"Content_Length", "Transfer_Encoding", "evil"}) {
    EXPECT_FALSE(mentions(head, text)) << text;
  }
  EXPECT_TRUE(has_line(head, "X-User: good"));
  EXPECT_TRUE(has_line(head, "api_key: kept"));
}

TEST_P(ProxyMessages, AnOldServersContentEndsWithItsConnection) {
  const std::string body(100'000, 'x');
  ScriptedServer server([&body](Client& client) {
    read_head(client);
    client.send("HTTP/1.0 200 OK\r\nX-End: kept\r\n\r\n" + body);
  });
  Client client = connect_to(server);
  client.send(get("/api"));
  const std::optional<Answer> answer = client.answer();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 200);
  EXPECT_EQ(answer->field("X-End"), "kept");
  EXPECT_EQ(answer->body, body);
}

TEST_P(ProxyMessages, AResponseWithoutContentStaysWithoutIt) {
  for (const char* const head : {"204 No Content\r\nContent-Length: 0", "304 Not Modified",
                                 "304 Not Modified\r\nContent-Length: 100"}) {
    ScriptedServer server([head](Client& client) {
      read_head(client);
      client.send("HTTP/1.1 " + std::string(head) + "\r\nX-End: kept\r\n\r\n");
    });
    Router router;
    reverse_proxy(router, "/api", "http://127.0.0.1:" + std::to_string(server.port()));
    const testing::TestServer front(router, GetParam());
    Client client = front.connect();
    client.send(get("/api"));
    const std::optional<Answer> answer = client.answer();
    ASSERT_TRUE(answer) << head;
    EXPECT_EQ(std::to_string(answer->status), std::string(head, 3));
    EXPECT_EQ(answer->field("X-End"), "kept");
    EXPECT_EQ(answer->body, "");
  }
}

TEST_P(ProxyMessages, RedirectsAndChallengesAreForTheClient) {
  upstream_router_.get("/api/r", [] { return Response::redirect("/api/x"); });
  upstream_router_.get("/api/c", [] {
    return Response(Status::Unauthorized).header("WWW-Authenticate", "Basic realm=\"r\"");
  });
  Client client = front().connect();
  client.send(get("/api/r"));
  EXPECT_EQ(client.answer()->status, 303);
  client.send(get("/api/c"));
  const std::optional<Answer> answer = client.answer();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 401);
  EXPECT_EQ(answer->field("WWW-Authenticate"), "Basic realm=\"r\"");
}

TEST_P(ProxyMessages, CodedContentStaysCoded) {
  ScriptedServer server([](Client& client) {
    read_head(client);
    client.send("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\n\x1f\x8b!!");
  });
  Client client = connect_to(server);
  client.send(get("/api", "Accept-Encoding: gzip\r\n"));
  const std::optional<Answer> answer = client.answer();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->field("Content-Encoding"), "gzip");
  EXPECT_EQ(answer->body, "\x1f\x8b!!");
}

TEST_P(ProxyMessages, MoreSpecificRoutesComeFirst) {
  upstream_router_.any("/{path...}", [](std::string_view) { return "upstream"; });
  router_.get("/{path...}", [](std::string_view) { return "files"; });
  router_.get("/api/own", [] { return "own"; });
  Client client = front().connect();
  const auto body = [&client](std::string_view path) {
    client.send(get(path));
    return client.answer()->body;
  };
  EXPECT_EQ(body("/other"), "files");
  EXPECT_EQ(body("/api/own"), "own");
  EXPECT_EQ(body("/api/x"), "upstream");
  EXPECT_EQ(body("/api"), "upstream");
}

INSTANTIATE_TEST_SUITE_P(EveryBackEnd, ProxyMessages, ::testing::ValuesIn(testing::backends()),
                         testing::backend_name);

TEST(ReverseProxy, RefusesWhatIsNotAnUpstreamServer) {
  for (const char* const bad :
       {"", "3000", "localhost:3000", "ftp://a", "http://", "http://a/?q", "http://a/#f",
        "http://user@a", "unix:", "unix:relative", "http://a b"}) {
    EXPECT_THROW(ReverseProxy{bad}, std::invalid_argument) << bad;
  }
  for (const char* const good : {"http://a", "http://[::1]:3000/x/", "unix:/run/app.sock"}) {
    EXPECT_NO_THROW(ReverseProxy{good}) << good;
  }
}

}  // namespace
}  // namespace skua
