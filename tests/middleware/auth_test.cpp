// SPDX-License-Identifier: MIT
// Guards that ask for a password, seen by a client over a real socket, on every back end.
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "crypto/digest.hpp"
#include "skua.hpp"
#include "support/memory_texts.hpp"
#include "support/test_server.hpp"

namespace skua {
namespace {

using testing::Answer;
using testing::Client;
using testing::get;
using testing::TestServer;

Router sample() {
  Router basic;
  basic.use(auth::basic("basic", [](std::string_view user, std::string_view password) {
    return user == "ada" && password == "secret";
  }));
  basic.get("/", [](const Request& request) { return auth::user(request)->name; });
  Router router;
  router.mount("/basic", std::move(basic));
  Router waiting;
  waiting.use(
      auth::basic("waiting", [](std::string_view user, std::string_view password) -> Task<bool> {
        const std::string right = "secret";
        const auto compare = [&] { return user == "ada" && password == right; };
        const bool is_right = co_await offload(compare);
        co_return is_right;
      }));
  waiting.post("/", [](const Request& request) {
    return auth::user(request)->name + " sent " + std::string(request.body());
  });
  router.mount("/waiting", std::move(waiting));
  if (crypto::is_available()) {
    Router digest;
    auth::DigestOptions options;
    options.integrity = true;
    options.lookup = [](std::string_view user) -> std::optional<auth::DigestSecret> {
      if (user != "ada") return std::nullopt;
      return auth::DigestSecret{.password = "secret"};
    };
    digest.use(auth::digest(options));
    digest.any("/", [](const Request& request) { return auth::user(request)->name; });
    digest.post("/stream", [](Request& request) -> Task<std::string> {
      std::string text = co_await request.text();
      co_return text;
    });
    router.mount("/digest", std::move(digest));
    Router shared;
    shared.use(auth::shared_digest(options, std::string(32, 'k'),
                                   std::make_shared<testing::MemoryTexts>()));
    shared.any("/", [](const Request& request) { return auth::user(request)->name; });
    shared.post("/stream", [](Request& request) -> Task<std::string> {
      std::string text;
      while (auto piece = co_await request.read()) text.append(skua::text(*piece));
      co_return text;
    });
    router.mount("/shared", std::move(shared));
  }
  return router;
}

class Auth : public ::testing::TestWithParam<BackendChoice> {
 protected:
  Answer ask(const std::string& bytes) {
    client_.send(bytes);
    return client_.answer().value_or(Answer{});
  }
  Answer ask(std::string_view path, std::string_view authorization) {
    return ask(get(path, "Authorization: " + std::string(authorization) + "\r\n"));
  }

  Router router_ = sample();
  TestServer server_{router_, GetParam()};
  Client client_ = server_.connect();
};

TEST_P(Auth, BasicAsksAndLetsIn) {
  const Answer refused = ask(get("/basic"));
  EXPECT_EQ(refused.status, 401);
  EXPECT_EQ(refused.field("WWW-Authenticate"), R"(Basic realm="basic", charset="UTF-8")");
  const std::string right = BasicCredentials{"ada", "secret"}.field().value();
  EXPECT_EQ(ask("/basic", right).body, "ada");
  EXPECT_EQ(ask(get("/basic")).status, 401) << "a connection is not a session";
  EXPECT_EQ(
      ask(get("/basic", "Authorization: " + right + "\r\nAuthorization: " + right + "\r\n")).status,
      401);
}

// The content is asked for once the check has passed.
TEST_P(Auth, AWaitingCheckComesBeforeTheContent) {
  const auto head = [](const std::string& password) {
    return "POST /waiting/ HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nExpect: 100-continue\r\n"
           "Authorization: " +
           BasicCredentials{"ada", password}.field().value() + "\r\n\r\n";
  };
  Client refused = server_.connect();
  refused.send(head("wrong"));
  EXPECT_EQ(refused.answer()->status, 401);
  client_.send(head("secret"));
  EXPECT_EQ(client_.answer()->status, 100);
  client_.send("body");
  EXPECT_EQ(client_.answer()->body, "ada sent body");
}

TEST_P(Auth, DigestLetsInRequestAfterRequest) {
  if (!crypto::is_available()) GTEST_SKIP() << "built without OpenSSL";
  const Answer refused = ask(get("/digest/?a=b"));
  EXPECT_EQ(refused.status, 401);
  const std::string challenge = refused.field("WWW-Authenticate").value_or("");
  DigestSession session("ada", "secret");
  const std::string_view fields[] = {challenge};
  session.accept(fields).value();
  for (int i = 0; i < 3; ++i) {
    const std::string field = session.authorize("GET", "/digest/?a=b").value();
    EXPECT_EQ(ask("/digest/?a=b", field).body, "ada");
    EXPECT_NE(ask("/digest/?a=b", field).head.find("stale=true"), std::string::npos);
  }
}

TEST_P(Auth, DigestProtectsTheContent) {
  if (!crypto::is_available()) GTEST_SKIP() << "built without OpenSSL";
  std::string challenge = ask(get("/digest/")).field("WWW-Authenticate").value_or("");
  // The client insists on auth-int.
  challenge.replace(challenge.find("auth, auth-int"), 14, "auth-int");
  DigestSession session("ada", "secret");
  const std::string_view fields[] = {challenge};
  session.accept(fields).value();
  const auto post = [&](const std::string& body) {
    return ask("POST /digest/ HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nAuthorization: " +
               session.authorize("POST", "/digest/", "body").value() + "\r\n\r\n" + body);
  };
  EXPECT_EQ(post("body").body, "ada");
  EXPECT_EQ(post("Body").status, 401);
  // The guard waits for content that arrives after the head, and then runs again.
  const auto post_later = [&](const std::string& body) {
    Client client = server_.connect();
    client.send(
        "POST /digest/ HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nExpect: 100-continue\r\n"
        "Authorization: " +
        session.authorize("POST", "/digest/", "body").value() + "\r\n\r\n");
    EXPECT_EQ(client.answer()->status, 100);
    client.send(body);
    return client.answer().value_or(Answer{});
  };
  EXPECT_EQ(post_later("body").body, "ada");
  EXPECT_EQ(post_later("Body").status, 401);
}

TEST_P(Auth, DigestProvesNoContentThatAHandlerStreams) {
  if (!crypto::is_available()) GTEST_SKIP() << "built without OpenSSL";
  std::string challenge = ask(get("/digest/")).field("WWW-Authenticate").value_or("");
  challenge.replace(challenge.find("auth, auth-int"), 14, "auth-int");
  DigestSession session("ada", "secret");
  const std::string_view fields[] = {challenge};
  session.accept(fields).value();
  const auto post = [&](std::string_view framing, std::string_view content) {
    return ask("POST /digest/stream HTTP/1.1\r\nHost: a\r\nAuthorization: " +
               session.authorize("POST", "/digest/stream", "").value() + "\r\n" +
               std::string(framing) + "\r\n\r\n" + std::string(content));
  };
  EXPECT_EQ(post("Content-Length: 0", "").status, 200);
  EXPECT_EQ(post("Content-Length: 8", "smuggled").status, 401);
  EXPECT_EQ(post("Transfer-Encoding: chunked", "8\r\nsmuggled\r\n0\r\n\r\n").status, 401);
}

TEST_P(Auth, SharedDigestLetsInRequestAfterRequest) {
  if (!crypto::is_available()) GTEST_SKIP() << "built without OpenSSL";
  const Answer refused = ask(get("/shared/?a=b"));
  EXPECT_EQ(refused.status, 401);
  const std::string challenge = refused.field("WWW-Authenticate").value_or("");
  DigestSession session("ada", "secret");
  const std::string_view fields[] = {challenge};
  session.accept(fields).value();
  for (int i = 0; i < 3; ++i) {
    const std::string field = session.authorize("GET", "/shared/?a=b").value();
    EXPECT_EQ(ask("/shared/?a=b", field).body, "ada");
    EXPECT_NE(ask("/shared/?a=b", field).head.find("stale=true"), std::string::npos);
  }
}

TEST_P(Auth, SharedDigestProtectsContentThatAHandlerStreams) {
  if (!crypto::is_available()) GTEST_SKIP() << "built without OpenSSL";
  std::string challenge = ask(get("/shared/")).field("WWW-Authenticate").value_or("");
  challenge.replace(challenge.find("auth, auth-int"), 14, "auth-int");
  DigestSession session("ada", "secret");
  const std::string_view fields[] = {challenge};
  session.accept(fields).value();
  const auto post = [&](std::string_view framing, std::string_view content) {
    return ask("POST /shared/stream HTTP/1.1\r\nHost: a\r\nAuthorization: " +
               session.authorize("POST", "/shared/stream", "body").value() + "\r\n" +
               std::string(framing) + "\r\n\r\n" + std::string(content));
  };
  EXPECT_EQ(post("Content-Length: 4", "body").body, "body");
  EXPECT_EQ(post("Transfer-Encoding: chunked", "2\r\nbo\r\n2\r\ndy\r\n0\r\n\r\n").body, "body");
  EXPECT_EQ(post("Content-Length: 4", "Body").status, 401);
  EXPECT_EQ(post("Transfer-Encoding: chunked", "8\r\nsmuggled\r\n0\r\n\r\n").status, 401);
}

INSTANTIATE_TEST_SUITE_P(Backends, Auth, ::testing::ValuesIn(testing::backends()),
                         testing::backend_name);

}  // namespace
}  // namespace skua
