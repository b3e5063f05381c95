// SPDX-License-Identifier: MIT
#include "skua/request.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "http/message/field.hpp"
#include "http/message/request_parts.hpp"
#include "skua/testing.hpp"

namespace skua {
namespace {

using testing::FakeRequest;

TEST(Request, ShowsTheTargetRawAndCanonical) {
  FakeRequest fake("GET /a%20b/../c?x=1&y=2");
  const Request& request = fake.request();
  EXPECT_EQ(request.method(), Method::Get);
  EXPECT_EQ(request.path(), "/c");
  EXPECT_EQ(request.target(), "/a%20b/../c?x=1&y=2");
  EXPECT_EQ(request.query_string(), "x=1&y=2");
  EXPECT_EQ(request.version(), Version::Http11);
  EXPECT_EQ(request.peer(), "");
  EXPECT_FALSE(request.is_secure());
}

TEST(Request, FindsQueryParameters) {
  FakeRequest fake("GET /?a=1&b=x+y%21&a=2&flag&%63=d&e=");
  const Request& request = fake.request();
  EXPECT_EQ(request.query("a"), "1");
  EXPECT_EQ(request.query("b"), "x y!");
  EXPECT_EQ(request.query("flag"), "");
  EXPECT_EQ(request.query("c"), "d");
  EXPECT_EQ(request.query("e"), "");
  EXPECT_EQ(request.query("none"), std::nullopt);
}

TEST(Request, ViewsAQueryValueWhereItWasReceivedUnlessItIsEncoded) {
  FakeRequest fake("GET /?a=plain&b=%41&c=%42");
  const Request& request = fake.request();
  const std::string_view query = request.query_string();
  EXPECT_EQ(request.query("a")->data(), query.data() + 2);
  const auto b = request.query("b");
  const auto c = request.query("c");
  EXPECT_EQ(b, "A");
  EXPECT_EQ(c, "B");
  EXPECT_EQ(request.query("b")->data(), b->data()) << "asking again moves nothing";
}

TEST(Request, IteratesOverARepeatedQueryParameter) {
  FakeRequest fake("GET /?t=1&x=2&t=a%20b&t=");
  std::vector<std::string> values;
  for (const std::string_view value : fake.request().queries("t")) values.emplace_back(value);
  EXPECT_EQ(values, (std::vector<std::string>{"1", "a b", ""}));
  for (const std::string_view value : fake.request().queries("none")) FAIL() << value;
}

TEST(Request, FindsFieldsWhateverTheirCase) {
  FakeRequest fake("GET /");
  fake.header("Host", "example.com:8080")
      .header("X-Own", "1")
      .header("x-own", "2")
      .header("content-type", "a/b");
  const Request& request = fake.request();
  EXPECT_EQ(request.header("host"), "example.com:8080");
  EXPECT_EQ(request.host(), "example.com:8080");
  EXPECT_EQ(request.header("X-OWN"), "1");
  EXPECT_EQ(request.content_type(), "a/b");
  EXPECT_EQ(request.header("Accept"), std::nullopt);
  std::string all;
  for (const auto& [name, value] : request.headers())
    all.append(name).append("=").append(value).append(";");
  EXPECT_EQ(all, "Host=example.com:8080;X-Own=1;x-own=2;content-type=a/b;");
  EXPECT_EQ(request.headers().size(), 4U);
}

TEST(Request, FindsCookiesOnEveryLine) {
  FakeRequest fake("GET /");
  fake.header("Cookie", "a=1; b=2").header("Cookie", "c=3; a=4");
  EXPECT_EQ(fake.request().cookie("a"), "1");
  EXPECT_EQ(fake.request().cookie("c"), "3");
  EXPECT_EQ(fake.request().cookie("d"), std::nullopt);
}

TEST(Request, ListsItsCookiesOfEveryLine) {
  FakeRequest fake("GET /");
  fake.header("Cookie", "a=1;; naked")
      .header("X", "x=y")
      .header("Cookie", " ")
      .header("cookie", "a=2");
  std::string listed;
  for (const auto [name, value] : fake.request().cookies()) {
    listed.append(name).append("->").append(value).append(";");
  }
  EXPECT_EQ(listed, "a->1;->naked;a->2;");
  FakeRequest none("GET /");
  EXPECT_TRUE(none.request().cookies().begin() == RequestCookies::end());
}

TEST(Request, ShowsItsBodyAsTextAndBytes) {
  FakeRequest fake("POST /", "content");
  EXPECT_EQ(fake.request().body(), "content");
  EXPECT_EQ(fake.request().bytes().size(), 7U);
}

TEST(Attachments, MakeAValueThatIsMissing) {
  struct Pinned {
    Pinned() = default;
    Pinned(const Pinned&) = delete;
    Pinned& operator=(const Pinned&) = delete;
    int count = 7;
  };
  Attachments attachments;
  EXPECT_EQ(attachments.find<Pinned>(), nullptr);
  Pinned& made = attachments.get<Pinned>();
  EXPECT_EQ(made.count, 7);
  EXPECT_EQ(&attachments.get<Pinned>(), &made);
  EXPECT_EQ(attachments.find<Pinned>(), &made);
  EXPECT_EQ(attachments.get<int>(), 0);
  attachments.set(5);
  EXPECT_EQ(attachments.get<int>(), 5);
}

TEST(Request, AsksTheServerForThePeerWhenItIsAsked) {
  const Address peer = Address::parse("192.0.2.1:5").value();
  http::Head head;
  head.minor_version = 0;
  http::RequestParts parts;
  parts.head = &head;
  parts.peer = [](const void* context) { return *static_cast<const Address*>(context); };
  parts.peer_context = &peer;
  parts.is_secure = true;
  const Request request(parts);
  EXPECT_EQ(request.peer(), "192.0.2.1:5");
  EXPECT_EQ(request.client_address(), peer);
  EXPECT_TRUE(request.is_secure());
  EXPECT_EQ(request.scheme(), "https");
  EXPECT_EQ(request.version(), Version::Http10);
  EXPECT_EQ(request.param("id"), std::nullopt);
  EXPECT_EQ(request.param(0), "");
}

struct KnownOrigin final : http::OriginSource {
  http::Origin origin_of(const http::Head& head, const void* connection) const override {
    EXPECT_EQ(head.method, Method::Get);
    EXPECT_EQ(connection, this);
    return origin;
  }
  http::Origin origin{};
};

TEST(Request, TakesItsOriginFromTrustedProxies) {
  FakeRequest fake("GET /");
  fake.header("Host", "backend");
  http::RequestParts parts = http::RequestAccess::parts(fake.request());
  KnownOrigin known;
  parts.origins = &known;
  parts.peer_context = &known;
  const Request request(parts);
  known.origin = {.client = Address::parse("192.0.2.1", 7).value(), .is_secure = true};
  EXPECT_EQ(request.client_address(), known.origin.client);
  EXPECT_EQ(request.scheme(), "https");
  EXPECT_FALSE(request.is_secure());
  EXPECT_EQ(request.requested_host(), "backend") << "they do not tell";
  known.origin = {.host = "a.example"};
  EXPECT_EQ(request.scheme(), "http");
  EXPECT_EQ(request.requested_host(), "a.example");
  EXPECT_EQ(request.host(), "backend");
  const std::shared_ptr<Request> kept = skua::detail::keep_request(request);
  known.origin = {};
  EXPECT_EQ(kept->requested_host(), "a.example");
  EXPECT_EQ(kept->scheme(), "http");
}

TEST(FakeRequest, ComesFromNowhere) {
  FakeRequest fake("GET /");
  EXPECT_EQ(fake.request().client_address(), Address());
  EXPECT_EQ(fake.request().scheme(), "http");
  EXPECT_EQ(fake.request().requested_host(), "localhost");
}

TEST(FakeRequest, RefusesWhatAServerWouldRefuse) {
  EXPECT_THROW(FakeRequest("/"), std::invalid_argument);
  EXPECT_THROW(FakeRequest("get /"), std::invalid_argument);
  FakeRequest climbing("GET /..");
  EXPECT_THROW((void)climbing.request(), Exception);
}

}  // namespace
}  // namespace skua
