// SPDX-License-Identifier: MIT
// Things a client does on its own: it follows redirects, answers challenges, keeps cookies, decodes
// content, and retries after a broken connection.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "client_fixture.hpp"
#include "coding/coding.hpp"
#include "skua/auth.hpp"
#include "skua/credentials.hpp"

namespace skua {
namespace {

class ClientFollows : public testing::ClientTest {
 protected:
  Task<std::string> text_of(ClientRequest request) {
    Result<std::string, Problem> text = co_await std::move(request).text();
    co_return text ? *text : "problem: " + text.error().text;
  }
  static Response moved(Status status, std::string to) {
    Response response(status);
    response.header("Location", to);
    return response;
  }
};

TEST_P(ClientFollows, RedirectsLeadToTheAnswer) {
  router_.get("/a", [] { return moved(Status::Found, "/b?x=1"); });
  router_.get("/b", [] { return moved(Status::PermanentRedirect, "c"); });
  router_.get("/c", [] { return "here"; });
  run([&](Client& client) -> Task<> {
    auto response = co_await client.get(url("/a"));
    EXPECT_TRUE(response) << response.error().text;
    if (!response) co_return;
    EXPECT_EQ(response->url().to_string(), url("/c"));
    EXPECT_EQ(response->redirects(), 2U);
    auto text = co_await response->text();
    EXPECT_EQ(text.value_or(""), "here");
    auto stopped = co_await client.get(url("/a")).redirects(0);
    EXPECT_TRUE(stopped);
    if (stopped) {
      EXPECT_EQ(stopped->status(), Status::Found);
    }
  });
  EXPECT_EQ(server()->counters().connections_accepted, 1U);
}

TEST_P(ClientFollows, TheHeadsOfAllRequestsAndResponsesAreTold) {
  router_.get("/a", [] { return moved(Status::Found, "/b"); });
  router_.get("/b", [] {
    return Response::stream("text/plain", [](BodyWriter& out) -> Task<> {
      out.trailer("X-One", "1");
      out.trailer("X-Two", "2");
      co_await out.write("here");
    });
  });
  std::vector<std::pair<HeadOf, std::string>> told;
  run([&](Client& client) -> Task<> {
    ClientRequest request = client.get(url("/a")).header("X-Name", "Ada");
    request.on_head([&told](HeadOf of, std::string_view lines) { told.emplace_back(of, lines); });
    auto response = co_await std::move(request);
    EXPECT_TRUE(response) << response.error().text;
    if (!response) co_return;
    EXPECT_FALSE(response->trailer_line(0));
    auto text = co_await response->text();
    EXPECT_EQ(text.value_or(""), "here");
    EXPECT_EQ(response->trailer_line(0)->second, "1");
    EXPECT_EQ(response->trailer_line(1)->second, "2");
    EXPECT_FALSE(response->trailer_line(2));
  });
  ASSERT_EQ(told.size(), 4U);
  const bool is_http2 = wire() == testing::Wire::Http2 || wire() == testing::Wire::Http2Tls;
  const std::string version = is_http2 ? "HTTP/2" : "HTTP/1.1";
  const std::string host = is_http2 ? "\r\nhost: 127.0.0.1:" : "\r\nHost: 127.0.0.1:";
  for (const std::size_t nth : {std::size_t{0}, std::size_t{2}}) {
    const auto& [of, lines] = told[nth];
    EXPECT_EQ(of, HeadOf::Request);
    EXPECT_TRUE(lines.starts_with((nth == 0 ? "GET /a " : "GET /b ") + version + host)) << lines;
    EXPECT_TRUE(lines.ends_with(is_http2 ? "\r\nx-name: Ada\r\n" : "\r\nX-Name: Ada\r\n")) << lines;
  }
  EXPECT_EQ(told[1].first, HeadOf::Response);
  EXPECT_TRUE(told[1].second.starts_with(version + " 302 ")) << told[1].second;
  EXPECT_NE(told[1].second.find(is_http2 ? "\r\nlocation: /b\r\n" : "\r\nLocation: /b\r\n"),
            std::string::npos);
  EXPECT_TRUE(told[3].second.starts_with(version + " 200 ")) << told[3].second;
}

TEST_P(ClientFollows, ContentOnTheWayIsNobodysProgressAndHoldsUpNobody) {
  router_.get("/a", [](Request&) -> Task<Response> {
    const auto drip = [](BodyWriter& out) -> Task<> {
      while (true) {
        co_await out.write("x");
        co_await sleep(50ms);
      }
    };
    Response response = Response::stream("text/plain", drip);
    response.status(Status::Found);
    response.header("Location", "/b");
    co_return response;
  });
  router_.get("/b", [] { return "here"; });
  run([&](Client& client) -> Task<> {
    std::uint64_t most = 0;
    const auto note = [&most](Progress progress) { most = std::max(most, progress.done_bytes); };
    auto text = co_await client.get(url("/a")).on_progress(note).text();
    EXPECT_EQ(text.value_or(""), "here");
    EXPECT_EQ(most, 4U);
  });
}

TEST_P(ClientFollows, TheMethodAndTheContentFollowTheStatus) {
  const auto seen = [](Request& request) -> Task<std::string> {
    std::string said(name(request.method()));
    said.append("|").append(request.header("content-type").value_or("-")).append("|");
    while (auto piece = co_await request.read()) said.append(text(*piece));
    co_return said;
  };
  router_.post("/303", [] { return moved(Status::SeeOther, "/seen"); });
  router_.post("/307", [] { return moved(Status::TemporaryRedirect, "/seen"); });
  router_.get("/seen", seen);
  router_.post("/seen", seen);
  run([&](Client& client) -> Task<> {
    auto other = co_await text_of(client.post(url("/303")).json("{}"));
    EXPECT_EQ(other, "GET|-|");
    auto same = co_await text_of(client.post(url("/307")).json("{}"));
    EXPECT_EQ(same, "POST|application/json|{}");
  });
}

TEST_P(ClientFollows, RedirectsEnd) {
  router_.get("/loop", [] { return moved(Status::Found, "/loop"); });
  router_.get("/ftp", [] { return moved(Status::Found, "ftp://example.com/"); });
  run([&](Client& client) -> Task<> {
    auto looped = co_await client.get(url("/loop"));
    EXPECT_FALSE(looped);
    if (!looped) {
      EXPECT_EQ(looped.error().code(), Errc::TooManyRedirects) << looped.error().text;
    }
    auto elsewhere = co_await client.get(url("/ftp"));
    EXPECT_FALSE(elsewhere);
    if (!elsewhere) {
      EXPECT_EQ(elsewhere.error().code(), Errc::RedirectRefused);
    }
  });
}

TEST_P(ClientFollows, CredentialsStayWithTheirOrigin) {
  const auto authorization = [](const Request& request) {
    return std::string(request.header("authorization").value_or("none"));
  };
  Router other;
  other.get("/", authorization);
  testing::TestServer elsewhere(other, BackendChoice::Auto, {}, testing::Transport::Tcp);
  const std::string to = "http://127.0.0.1:" + std::to_string(elsewhere.port()) + "/";
  router_.get("/away", [to] { return moved(Status::Found, to); });
  router_.get("/near", [] { return moved(Status::Found, "/seen"); });
  router_.get("/seen", authorization);
  options_.redirects.allow_https_to_http = true;
  if (wire() == testing::Wire::Http2) options_.versions = HttpVersions::Any;
  run([&](Client& client) -> Task<> {
    auto here = co_await text_of(client.get(url("/near")).bearer("secret"));
    EXPECT_EQ(here, "Bearer secret");
    auto away = co_await text_of(client.get(url("/away")).bearer("secret"));
    EXPECT_EQ(away, "none");
  });
}

TEST_P(ClientFollows, FromTlsToClearTextOnlyWhereThatIsAllowed) {
  if (!is_secure(wire())) GTEST_SKIP() << "TLS only";
  router_.get("/", [] { return moved(Status::Found, "http://127.0.0.1/"); });
  run([&](Client& client) -> Task<> {
    auto response = co_await client.get(url("/"));
    EXPECT_FALSE(response);
    if (!response) {
      EXPECT_EQ(response.error().code(), Errc::RedirectRefused);
    }
  });
}

TEST_P(ClientFollows, ABasicChallengeIsAnsweredAndRemembered) {
  std::atomic<int> asked = 0;
  router_.get("/", [&asked](const Request& request) {
    const auto field = request.header("authorization");
    if (field == "Basic dTpw") return Response("welcome");
    ++asked;
    Response response(Status::Unauthorized);
    response.header("WWW-Authenticate", "Basic realm=\"r\"");
    return response;
  });
  run([&](Client& client) -> Task<> {
    for (int i = 0; i < 3; ++i) {
      auto text = co_await text_of(client.get(url("/")).auth("u", "p"));
      EXPECT_EQ(text, "welcome");
    }
    EXPECT_EQ(asked, 1);
    auto wrong = co_await client.get(url("/")).auth("u", "wrong");
    EXPECT_TRUE(wrong);
    if (wrong) {
      EXPECT_EQ(wrong->status(), Status::Unauthorized);
    }
    EXPECT_EQ(asked, 3);
    std::string to = url("/");
    to.insert(to.find("//") + 2, "u:p@");
    auto in_url = co_await text_of(client.get(to));
    EXPECT_EQ(in_url, "welcome");
  });
}

TEST_P(ClientFollows, ADigestChallengeIsAnsweredAndCounted) {
  if (!digest_secret(DigestAlgorithm::Sha256, "u", "r", "p")) GTEST_SKIP() << "no OpenSSL";
  std::mutex guard;
  std::vector<std::uint32_t> counts;
  router_.post("/", [&](Request& request) -> Task<Response> {
    std::string content;
    while (auto piece = co_await request.read()) content.append(text(*piece));
    const auto field = request.header("authorization");
    if (!field) {
      DigestChallenge challenge;
      challenge.realm = "r";
      challenge.nonce = "abc";
      challenge.algorithm = DigestAlgorithm::Sha256;
      Response response(Status::Unauthorized);
      response.header("WWW-Authenticate", "Basic realm=\"r\"");
      response.header("WWW-Authenticate", challenge.field());
      co_return response;
    }
    const auto credentials = DigestCredentials::from(parse_credentials(*field).value()).value();
    const auto secret = digest_secret(DigestAlgorithm::Sha256, "u", "r", "p").value();
    const std::lock_guard lock(guard);
    counts.push_back(credentials.nonce_count);
    EXPECT_EQ(credentials.compute(secret, "POST").value(), credentials.response);
    co_return Response(content);
  });
  run([&](Client& client) -> Task<> {
    for (int i = 0; i < 3; ++i) {
      auto text = co_await text_of(client.post(url("/")).auth("u", "p").body("content"));
      EXPECT_EQ(text, "content");
    }
  });
  const std::lock_guard lock(guard);
  EXPECT_EQ(counts, (std::vector<std::uint32_t>{1, 2, 3}));
}

TEST_P(ClientFollows, CookiesAreKeptWhereThatIsWanted) {
  router_.get("/set", [] {
    Response response = moved(Status::Found, "/seen");
    response.header("Set-Cookie", "id=7; Path=/");
    return response;
  });
  router_.get("/seen", [](const Request& request) {
    return std::string(request.header("cookie").value_or("none"));
  });
  run([&](Client& client) -> Task<> {
    auto without = co_await text_of(client.get(url("/set")));
    EXPECT_EQ(without, "none");
    ClientOptions options = options_;
    options.cookies = true;
    Client keeping(options);
    auto kept = co_await text_of(keeping.get(url("/set")));
    EXPECT_EQ(kept, "id=7");
    EXPECT_EQ(keeping.cookie_jar().size(), 1U);
  });
}

TEST_P(ClientFollows, ContentIsDecodedUnlessThatIsNotWanted) {
  auto encoder =
      coding::Encoder::create(coding::Coding::Gzip, coding::levels(coding::Coding::Gzip).usual);
  if (!encoder) GTEST_SKIP() << "no zlib";
  const std::string page(100000, 'x');
  std::string packed;
  ASSERT_TRUE(encoder->finish(page, packed));
  router_.get("/", [packed](const Request& request) {
    if (!request.header("accept-encoding")) return Response("plain");
    Response response(packed);
    response.header("Content-Encoding", "gzip");
    return response;
  });
  run([&](Client& client) -> Task<> {
    auto response = co_await client.get(url("/"));
    EXPECT_TRUE(response);
    if (!response) co_return;
    EXPECT_TRUE(response->is_decoded());
    auto text = co_await response->text();
    EXPECT_EQ(text.value_or(""), page);
    auto plain = co_await text_of(client.get(url("/")).decompress(false));
    EXPECT_EQ(plain, "plain");
    auto raw = co_await text_of(client.get(url("/")).header("Accept-Encoding", "gzip"));
    EXPECT_EQ(raw, packed);
  });
}

TEST_P(ClientFollows, ContentWaitsForTheServerWhereThatIsWanted) {
  router_.post("/wants", [](Request& request) -> Task<std::string> {
    std::string content;
    while (auto piece = co_await request.read()) content.append(text(*piece));
    co_return content;
  });
  router_.post("/refuses",
               [](Request&) -> Task<Response> { co_return Response(Status::ContentTooLarge); });
  run([&](Client& client) -> Task<> {
    auto wanted = co_await text_of(client.post(url("/wants")).body("content").expect_continue());
    EXPECT_EQ(wanted, "content");
    std::uint64_t sent = 0;
    const auto count = [&sent](Progress progress) { sent = progress.done_bytes; };
    auto refused = co_await client.post(url("/refuses"))
                       .body(std::string(1000000, 'x'))
                       .expect_continue()
                       .on_upload(count);
    EXPECT_TRUE(refused) << refused.error().text;
    if (refused) {
      EXPECT_EQ(refused->status(), Status::ContentTooLarge);
    }
    EXPECT_EQ(sent, 0U);
  });
}

// RFC 9110 §10.1.1
TEST_P(ClientFollows, AServerThatKnowsNoExpectationsIsAskedWithoutOne) {
  router_.post("/plain", [](Request& request) -> Task<Response> {
    if (request.header("Expect")) co_return Response(Status::ExpectationFailed);
    std::string content = co_await request.text();
    co_return Response(std::move(content));
  });
  std::atomic<unsigned> refused = 0;
  router_.post("/never", [&refused](Request&) -> Task<Response> {
    ++refused;
    co_return Response(Status::ExpectationFailed);
  });
  const auto produce = [](BodyWriter& out) -> Task<> { co_await out.write("once"); };
  run([&](Client& client) -> Task<> {
    auto text = co_await text_of(client.post(url("/plain")).body("content").expect_continue());
    EXPECT_EQ(text, "content");
    auto once = co_await text_of(
        client.post(url("/plain")).stream("text/plain", produce).expect_continue());
    EXPECT_EQ(once, "once");
    auto never = co_await client.post(url("/never")).body("content").expect_continue();
    EXPECT_TRUE(never);
    if (never) {
      EXPECT_EQ(never->status(), Status::ExpectationFailed);
    }
  });
  EXPECT_EQ(refused, 2U);
}

INSTANTIATE_TEST_SUITE_P(All, ClientFollows, testing::client_test_values_of_both_versions(),
                         testing::client_test_name);

}  // namespace
}  // namespace skua
