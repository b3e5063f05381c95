// SPDX-License-Identifier: MIT
#include "client/redirect.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace skua::client {
namespace {

constexpr std::string_view base = "https://user:pw@a.test/b/c?d#e";

Result<Redirect, RedirectStop> follow(std::optional<std::string_view> location,
                                      Status status = Status::Found,
                                      const RedirectedRequest& request = {},
                                      const RedirectOptions& options = {},
                                      std::string_view url = base) {
  return next_request(request, Url::parse(url).value(), status, location, options);
}

std::optional<RedirectStop> stop(const Result<Redirect, RedirectStop>& next) {
  if (next) return std::nullopt;
  return next.error();
}

TEST(Redirect, ResolvesTheLocation) {
  static constexpr std::pair<std::string_view, std::string_view> table[] = {
      {"https://a.test/x", "https://a.test/x#e"},
      {"https://a.test/x#f", "https://a.test/x#f"},
      {"https://a.test/x#", "https://a.test/x#"},  // an empty fragment counts
      {"x", "https://a.test/b/x#e"},
      {"/x?y", "https://a.test/x?y#e"},
      {"?y", "https://a.test/b/c?y#e"},
      {"../../../x", "https://a.test/x#e"},
      {"//b.test:8443", "https://b.test:8443#e"},
      {"#f", "https://a.test/b/c?d#f"},
      {"HTTPS://A.test/", "https://A.test/#e"},
      {"/a b/\xc3\xa4?\"", "https://a.test/a%20b/%C3%A4?%22#e"},  // as browsers read it
      {"https://[::1]/", "https://[::1]/#e"},
      {"/100%", "https://a.test/100%25#e"},
      {"/a%zz?b=5%&c=%41", "https://a.test/a%25zz?b=5%25&c=%41#e"},
      {"https://b.test/%", "https://b.test/%25#e"},
      {"/x#f#g%", "https://a.test/x#f%23g%25"},
      {"#f#", "https://a.test/b/c?d#f%23"},
  };
  for (const auto& [location, wanted] : table) {
    const auto next = follow(location);
    ASSERT_TRUE(next) << location << ": " << message(next.error());
    EXPECT_EQ(next->url.to_string(), wanted) << location;
  }
  EXPECT_EQ(follow("/x", Status::Found, {}, {}, "http://a.test/")->url.to_string(),
            "http://a.test/x");
}

TEST(Redirect, RefusesLocationsThatLeadNowhereOrTooFar) {
  static constexpr std::pair<std::string_view, RedirectStop> table[] = {
      {"", RedirectStop::NoLocation},
      {"https://", RedirectStop::MalformedLocation},
      {"https:///x", RedirectStop::MalformedLocation},
      {"https:x", RedirectStop::MalformedLocation},
      {"https://a.test:99999/", RedirectStop::MalformedLocation},
      {"https://0x7f000001/", RedirectStop::MalformedLocation},
      {"//127.1/", RedirectStop::MalformedLocation},
      {"//", RedirectStop::MalformedLocation},
      {"\\\\b.test", RedirectStop::MalformedLocation},
      {"https://a%/", RedirectStop::MalformedLocation},
      {"//a%zz.test/", RedirectStop::MalformedLocation},
      {"/a\tb", RedirectStop::MalformedLocation},
      {"https://b.test\x01/", RedirectStop::MalformedLocation},
      {"ftp://a.test/", RedirectStop::UnsupportedScheme},
      {"file:///etc/passwd", RedirectStop::UnsupportedScheme},
      {"javascript:alert(1)", RedirectStop::UnsupportedScheme},
      {"data:,x", RedirectStop::UnsupportedScheme},
      {"ws://a.test/", RedirectStop::UnsupportedScheme},
      {"https://user@a.test/", RedirectStop::HasUserinfo},
      {"https://a.test@b.test/", RedirectStop::HasUserinfo},
      {"//:pw@a.test/", RedirectStop::HasUserinfo},
      {"https://@a.test/", RedirectStop::HasUserinfo},
      {"http://a.test/", RedirectStop::HttpsToHttp},
  };
  for (const auto& [location, wanted] : table) {
    EXPECT_EQ(stop(follow(location)), wanted) << location;
  }
  EXPECT_EQ(stop(follow(std::nullopt)), RedirectStop::NoLocation);
  EXPECT_TRUE(follow("http://a.test/", Status::Found, {}, {.allow_https_to_http = true}));
  EXPECT_TRUE(follow("https://a.test/", Status::Found, {}, {}, "http://a.test/"));
  const auto named =
      follow("https://name:pw@b.test/x", Status::Found, {}, {.allow_userinfo = true});
  ASSERT_TRUE(named);
  EXPECT_EQ(named->url.to_string(), "https://b.test/x#e") << "the name is not sent";
  EXPECT_FALSE(named->keeps_credentials);
}

TEST(Redirect, MethodAndBodyDependOnTheStatus) {
  struct Row {
    Status status;
    Method method;
    Method next;
    bool keeps_body;
  };
  using enum Method;
  static constexpr Row table[] = {
      {Status::MovedPermanently, Get, Get, true},
      {Status::MovedPermanently, Head, Head, true},
      {Status::MovedPermanently, Post, Get, false},
      {Status::MovedPermanently, Put, Put, true},
      {Status::Found, Post, Get, false},
      {Status::Found, Patch, Patch, true},
      {Status::Found, Delete, Delete, true},
      {Status::SeeOther, Get, Get, false},
      {Status::SeeOther, Head, Head, false},
      {Status::SeeOther, Post, Get, false},
      {Status::SeeOther, Put, Get, false},
      {Status::SeeOther, Delete, Get, false},
      {Status::TemporaryRedirect, Post, Post, true},
      {Status::TemporaryRedirect, Get, Get, true},
      {Status::PermanentRedirect, Post, Post, true},
      {Status::PermanentRedirect, Delete, Delete, true},
  };
  for (const Row& row : table) {
    const std::string what = std::to_string(code(row.status)) + " " + std::string(name(row.method));
    const RedirectedRequest whole{.method = row.method, .has_body = true, .can_resend_body = true};
    const auto next = follow("/x", row.status, whole);
    ASSERT_TRUE(next) << what;
    EXPECT_EQ(next->method, row.next) << what;
    EXPECT_EQ(next->keeps_body, row.keeps_body) << what;
    const auto gone = follow("/x", row.status, {.method = row.method, .has_body = true});
    EXPECT_EQ(stop(gone), row.keeps_body ? std::optional(RedirectStop::BodyIsGone) : std::nullopt)
        << what;
    EXPECT_FALSE(follow("/x", row.status, {.method = row.method})->keeps_body) << what;
  }
}

TEST(Redirect, OnlyFiveStatusesAre) {
  const std::set<unsigned> redirects{301, 302, 303, 307, 308};
  for (std::uint16_t status = 100; status < 600; ++status) {
    const auto next = follow("/x", Status(status));
    EXPECT_EQ(next.has_value(), redirects.contains(status)) << status;
    EXPECT_EQ(stop(next).value_or(RedirectStop::NotARedirect), RedirectStop::NotARedirect);
  }
  EXPECT_EQ(stop(follow("/x", Status::Found, {.method = Method::Connect})),
            RedirectStop::NotARedirect);
}

TEST(Redirect, AreCounted) {
  EXPECT_TRUE(follow("/x", Status::Found, {.followed_count = 9}));
  EXPECT_EQ(stop(follow("/x", Status::Found, {.followed_count = 10})), RedirectStop::TooMany);
  EXPECT_EQ(stop(follow("/x", Status::Found, {}, {.limit = 0})), RedirectStop::TooMany);
  EXPECT_EQ(stop(follow({}, Status::Found, {}, {.limit = 0})), RedirectStop::NoLocation);
}

TEST(Redirect, CredentialsStayWithTheirOrigin) {
  static constexpr std::pair<std::string_view, bool> table[] = {
      {"/x", true},
      {"https://a.test/x", true},
      {"https://A.TEST:443/x", true},
      {"https://a.test:8443/x", false},
      {"https://b.a.test/x", false},
      {"https://a.test./x", false},
      {"//b.test/x", false},
      {"http://a.test/x", false},
      {"http://a.test:443/x", false},
  };
  for (const auto& [location, keeps] : table) {
    const auto next = follow(location, Status::Found, {}, {.allow_https_to_http = true});
    ASSERT_TRUE(next) << location;
    EXPECT_EQ(next->keeps_credentials, keeps) << location;
    EXPECT_FALSE(next->url.has_userinfo()) << location;
  }
}

TEST(Redirect, FieldsThatMustNotGoAlongAreDropped) {
  FieldLines all;
  for (const std::string_view name : {"Host", "authorization", "Cookie", "Accept", "Content-Type",
                                      "Content-Encoding", "Expect", "Referer", "X-Mine"}) {
    all.add(name, "x");
  }
  FieldLines fields = all;
  drop_fields({.keeps_body = true}, fields);
  EXPECT_EQ(fields.wire(), all.wire());
  drop_fields({.keeps_body = true, .keeps_credentials = false}, fields);
  EXPECT_EQ(fields.wire(),
            "Accept: x\r\nContent-Type: x\r\nContent-Encoding: x\r\nExpect: x\r\nX-Mine: x\r\n");
  drop_fields({}, fields);
  EXPECT_EQ(fields.wire(), "Accept: x\r\nX-Mine: x\r\n");
}

TEST(Redirect, EachStopHasASentence) {
  std::set<std::string_view> seen{""};
  for (int at = 0; at <= static_cast<int>(RedirectStop::TooMany); ++at) {
    EXPECT_TRUE(seen.insert(message(static_cast<RedirectStop>(at))).second) << at;
  }
}

}  // namespace
}  // namespace skua::client
