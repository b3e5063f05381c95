// SPDX-License-Identifier: MIT

#include <gtest/gtest.h>
#include <string>

#include "http/cookie/cookie_jar.hpp"
#include "skua/cookie_jar.hpp"

namespace skua {
namespace {

using std::chrono::sys_seconds;

constexpr sys_seconds now{1'800'000'000s};

Url url(std::string_view text) { return Url::parse(text).value(); }

/// A jar at the time `now`, unless a test passes another.
class CookieJarTest : public testing::Test {
 protected:
  /// Returns why a cookie was refused; empty if it was stored.
  std::string store(std::string_view from, std::string_view field, sys_seconds time = now) {
    const Result<void> stored = jar_.store(url(from), field, time);
    return stored ? "" : std::string(stored.error().context());
  }
  std::string sent(std::string_view to, sys_seconds time = now) {
    return jar_.field_for(url(to), time);
  }

  CookieJar jar_;
};

TEST_F(CookieJarTest, IsEmptyAtFirst) {
  EXPECT_EQ(sent("https://example.com/"), "");
  EXPECT_EQ(jar_.size(), 0);
  EXPECT_TRUE(jar_.cookies(now).empty());
}

TEST_F(CookieJarTest, ShowsWhatItKeeps) {
  EXPECT_EQ(store("https://www.Example.com/x/y?z",
                  "id=7; Domain=.EXAMPLE.com; Max-Age=60; Secure; HttpOnly; SameSite=Strict"),
            "");
  EXPECT_EQ(store("http://example.com", "a=b"), "");
  const std::vector<KeptCookie> kept = jar_.cookies(now);
  ASSERT_EQ(kept.size(), 2);
  EXPECT_EQ(kept[0], (KeptCookie{.name = "id",
                                 .value = "7",
                                 .domain = "example.com",
                                 .path = "/x",
                                 .expires = now + 60s,
                                 .same_site = SameSite::Strict,
                                 .host_only = false,
                                 .secure = true,
                                 .http_only = true}));
  EXPECT_EQ(kept[1], (KeptCookie{.name = "a", .value = "b", .domain = "example.com"}));
}

TEST_F(CookieJarTest, ACookieWithoutDomainIsForItsHostAlone) {
  store("http://example.com/", "a=b");
  EXPECT_EQ(sent("http://example.com/"), "a=b");
  EXPECT_EQ(sent("http://EXAMPLE.com/"), "a=b");
  EXPECT_EQ(sent("http://ex%61mple.com/"), "a=b");
  EXPECT_EQ(sent("http://example.com:8080/"), "a=b");  // ports do not separate cookies
  EXPECT_EQ(sent("ws://example.com/"), "a=b");
  EXPECT_EQ(sent("http://www.example.com/"), "");
  EXPECT_EQ(sent("http://com/"), "");
  EXPECT_EQ(sent("http://example.com./"), "");
  EXPECT_EQ(sent("ftp://example.com/"), "");
  EXPECT_EQ(sent("/relative"), "");
}

TEST_F(CookieJarTest, ACookieWithADomainIsForAllBelowIt) {
  EXPECT_EQ(store("http://a.example.com/", "a=b; Domain=example.com"), "");
  EXPECT_EQ(sent("http://example.com/"), "a=b");
  EXPECT_EQ(sent("http://x.y.example.com/"), "a=b");
  EXPECT_EQ(sent("http://badexample.com/"), "");
  EXPECT_EQ(sent("http://example.com.evil.org/"), "");
}

TEST_F(CookieJarTest, AHostSetsCookiesForItsOwnDomainsOnly) {
  for (const char* const domain : {"example.org", "b.example.com", "a.b.example.com", "ple.com",
                                   "example.com.", "\xc3\xbc.com", "ex%61mple.com", "..com"}) {
    EXPECT_EQ(store("https://a.example.com/", std::string("a=b; Domain=") + domain),
              "cookie: Domain does not match the host")
        << domain;
  }
  EXPECT_EQ(jar_.size(), 0);
  EXPECT_EQ(store("https://a.example.com/", "a=b; Domain=a.example.com"), "");
  EXPECT_EQ(sent("https://b.a.example.com/"), "a=b");
}

TEST_F(CookieJarTest, NoCookieIsForAWholeTopLevelDomain) {
  constexpr const char* is_public = "cookie: Domain is a public suffix";
  EXPECT_EQ(store("http://example.com/", "a=b; Domain=com"), is_public);
  EXPECT_EQ(store("http://example.com./", "a=b; Domain=com."), is_public);
  EXPECT_EQ(store("http://example.com./", "a=b; Domain=."), "");  // an empty Domain is ignored
  EXPECT_EQ(store("http://localhost/", "a=b; Domain=localhost"), "");
  EXPECT_EQ(sent("http://localhost/"), "a=b");
  EXPECT_EQ(sent("http://x.localhost/"), "");
}

TEST_F(CookieJarTest, TheUserKnowsMorePublicSuffixes) {
  std::vector<std::string> asked;
  jar_ = CookieJar({.is_public_suffix = [&asked](std::string_view domain) {
    asked.emplace_back(domain);
    return domain == "co.uk";
  }});
  EXPECT_EQ(store("http://a.co.uk/", "a=b; Domain=co.uk"), "cookie: Domain is a public suffix");
  EXPECT_EQ(store("http://a.co.uk/", "a=b; Domain=uk"), "cookie: Domain is a public suffix");
  EXPECT_EQ(store("http://x.a.co.uk/", "c=d; Domain=A.co.uk"), "");
  EXPECT_EQ(sent("http://y.a.co.uk/"), "c=d");
  // RFC 6265bis §5.7: the suffix itself may have host-only cookies.
  EXPECT_EQ(store("http://co.uk/", "e=f; Domain=co.uk"), "");
  EXPECT_EQ(sent("http://co.uk/"), "e=f");
  EXPECT_EQ(sent("http://b.co.uk/"), "");
  EXPECT_EQ(asked, (std::vector<std::string>{"co.uk", "a.co.uk", "co.uk"}));
}

TEST_F(CookieJarTest, AnAddressHasNoDomain) {
  EXPECT_EQ(store("http://127.0.0.1/", "a=b; Domain=0.0.1"),
            "cookie: Domain does not match the host");
  EXPECT_EQ(store("http://127.0.0.1/", "a=b; Domain=127.0.0.1"), "");
  EXPECT_EQ(store("http://[::0:1]:81/", "c=d"), "");
  EXPECT_EQ(sent("http://127.0.0.1/"), "a=b");
  EXPECT_EQ(sent("http://127.0.0.2/"), "");
  EXPECT_EQ(sent("http://[::1]/"), "c=d");
  EXPECT_TRUE(jar_.cookies(now)[0].host_only);
  EXPECT_EQ(jar_.cookies(now)[1].domain, "[::1]");
}

TEST_F(CookieJarTest, APathIsForTheFoldersBelowIt) {
  store("http://h.example/a/b/c", "default=1");
  store("http://h.example/a/b/c", "said=2; Path=/a");
  store("http://h.example/a/b/c", "foreign=3; Path=/z");
  EXPECT_EQ(sent("http://h.example/a/b/"), "default=1; said=2");
  EXPECT_EQ(sent("http://h.example/a/b"), "default=1; said=2");
  EXPECT_EQ(sent("http://h.example/a/bc"), "said=2");
  EXPECT_EQ(sent("http://h.example/a?x=/a/b"), "said=2");
  EXPECT_EQ(sent("http://h.example/z/"), "foreign=3");
  EXPECT_EQ(sent("http://h.example"), "");
}

TEST_F(CookieJarTest, ASecureCookieStaysWithTls) {
  EXPECT_EQ(store("http://example.com/", "a=b; Secure"),
            "cookie: Secure over an insecure connection");
  EXPECT_EQ(store("wss://example.com/", "a=b; Secure"), "");
  EXPECT_EQ(sent("https://example.com/"), "a=b");
  EXPECT_EQ(sent("wss://example.com/"), "a=b");
  EXPECT_EQ(sent("http://example.com/"), "");
  EXPECT_EQ(sent("ws://example.com/"), "");
}

TEST_F(CookieJarTest, SecureCookiesAreLeftAlone) {
  store("https://www.example.com/", "a=secret; Secure; Domain=example.com; Path=/x; Max-Age=60");
  constexpr const char* is_left = "cookie: would hide a Secure cookie";
  for (const char* const field :
       {"a=evil; Domain=example.com; Path=/x", "a=evil; Domain=example.com; Path=/x/y",
        "a=; Domain=example.com; Path=/x; Max-Age=0", "a=evil; Path=/x/"}) {
    EXPECT_EQ(store("http://www.example.com/", field), is_left) << field;
    EXPECT_EQ(store("http://example.com/", field), is_left) << field;
  }
  EXPECT_EQ(sent("https://www.example.com/x/y"), "a=secret");
  // It would not be sent before the Secure one.
  EXPECT_EQ(store("http://www.example.com/", "a=evil; Path=/"), "");
  EXPECT_EQ(store("http://www.example.com/", "b=c; Path=/x"), "");
  EXPECT_EQ(store("http://example.org/", "a=c; Path=/x"), "");
  EXPECT_EQ(sent("https://www.example.com/x"), "a=secret; b=c; a=evil");
  EXPECT_EQ(store("https://example.com/", "a=new; Domain=example.com; Path=/x"), "");
  EXPECT_EQ(sent("http://example.com/x"), "a=new");
}

TEST_F(CookieJarTest, ASecureCookieBelowADomainIsLeftAlone) {
  store("https://www.example.com/", "a=secret; Secure");
  EXPECT_EQ(store("http://example.com/", "a=evil; Domain=example.com"),
            "cookie: would hide a Secure cookie");
  EXPECT_EQ(store("http://example.com/", "a=x"), "cookie: would hide a Secure cookie");
  EXPECT_EQ(store("http://b.example.com/", "a=x"), "");
}

TEST_F(CookieJarTest, AnExpiredSecureCookieIsNotInTheWay) {
  store("https://example.com/", "a=secret; Secure; Max-Age=1");
  EXPECT_EQ(store("http://example.com/", "a=b", now + 1s), "");
  EXPECT_EQ(sent("http://example.com/", now + 1s), "a=b");
}

TEST_F(CookieJarTest, PrefixesKeepTheirPromises) {
  for (const char* const field :
       {"__Host-a=b; Path=/", "__host-a=b; Secure", "__HOST-a=b; Secure; Path=/x",
        "__Host-a=b; Secure; Path=/; Domain=example.com", "__Secure-a=b", "__sEcure-a=b",
        "__Host-a"}) {
    EXPECT_EQ(jar_.store(url("https://example.com/"), field, now).error().code(),
              Errc::MalformedCookie)
        << field;
  }
  EXPECT_EQ(store("http://example.com/", "__Secure-a=b; Secure"),
            "cookie: Secure over an insecure connection");
  EXPECT_EQ(store("https://example.com/", "__Host-a=b; Secure; Path=/"), "");
  EXPECT_EQ(store("https://example.com/", "__Secure-a=b; Secure"), "");
  EXPECT_EQ(sent("https://example.com/"), "__Host-a=b; __Secure-a=b");
}

TEST_F(CookieJarTest, MaxAgeGoesBeforeExpires) {
  store("http://example.com/", "a=b; Max-Age=10; Expires=Thu, 01 Jan 1970 00:00:01 GMT");
  store("http://example.com/", "c=d; Expires=Fri, 15 Jan 2027 08:00:05 GMT");
  store("http://example.com/", "e=f");
  EXPECT_EQ(sent("http://example.com/", now + 4s), "a=b; c=d; e=f");
  EXPECT_EQ(sent("http://example.com/", now + 5s), "a=b; e=f");
  EXPECT_EQ(sent("http://example.com/", now + 10s), "e=f");
  EXPECT_EQ(jar_.size(), 1);
  store("http://example.com/", "long=1; Max-Age=99999999999");
  EXPECT_EQ(jar_.cookies(now)[1].expires, now + std::chrono::days(400));
}

TEST_F(CookieJarTest, AnExpiredCookieDeletesItsLikeOnly) {
  store("http://example.com/", "a=1");
  store("http://example.com/", "a=2; Path=/x");
  store("http://example.com/", "a=3; Domain=example.com");
  store("http://example.com/", "A=4");
  EXPECT_EQ(store("http://example.com/", "a=; Max-Age=0"), "");
  EXPECT_EQ(sent("http://example.com/x"), "a=2; a=3; A=4");
  store("http://example.com/", "a=; Path=/x; Expires=Thu, 01 Jan 1970 00:00:00 GMT");
  EXPECT_EQ(sent("http://example.com/x"), "a=3; A=4");
  store("http://example.com/", "a=; Domain=example.com; Max-Age=-1");
  EXPECT_EQ(sent("http://example.com/x"), "A=4");
  EXPECT_EQ(store("http://example.org/", "none=; Max-Age=0"), "");
  EXPECT_EQ(jar_.size(), 1);
}

TEST_F(CookieJarTest, TheEndOfTheSessionTakesWhatHasNoOther) {
  store("http://example.com/", "a=b");
  store("http://example.com/", "c=d; Max-Age=1");
  store("http://example.org/", "e=f");
  jar_.end_session();
  EXPECT_EQ(sent("http://example.com/"), "c=d");
  EXPECT_EQ(jar_.size(), 1);
}

TEST_F(CookieJarTest, LongerPathsAndOlderCookiesGoFirst) {
  store("http://example.com/", "a=1");
  store("http://example.com/", "b=2; Path=/x/y");
  store("http://example.com/", "c=3; Domain=example.com");
  store("http://example.com/", "d=4; Path=/x");
  EXPECT_EQ(sent("http://example.com/x/y/z"), "b=2; d=4; a=1; c=3");
}

TEST_F(CookieJarTest, AReplacedCookieKeepsItsAge) {
  store("http://example.com/", "a=1");
  store("http://example.com/", "b=2");
  store("http://example.com/", "a=3");
  EXPECT_EQ(sent("http://example.com/"), "a=3; b=2");
  store("http://example.com/", "a=; Max-Age=0");
  store("http://example.com/", "a=4");
  EXPECT_EQ(sent("http://example.com/"), "b=2; a=4");
  EXPECT_EQ(jar_.size(), 2);
}

TEST_F(CookieJarTest, ValuesAreSentAsTheyCame) {
  store("http://example.com/", "a=\"x y\"; Path=/");
  store("http://example.com/", "nameless");
  store("http://example.com/", "c=\xff=1,");
  EXPECT_EQ(sent("http://example.com/"), "a=\"x y\"; nameless; c=\xff=1,");
}

TEST_F(CookieJarTest, WhatIsNoCookieIsRefused) {
  for (const char* const field : {"", "=", "a=\x01", "a=b; SameSite=None"}) {
    EXPECT_EQ(jar_.store(url("http://example.com/"), field, now).error().code(),
              Errc::MalformedCookie)
        << field;
  }
  EXPECT_EQ(store("http://example.com/", "a=x\ty"), "cookie: contains a tab");
  EXPECT_EQ(store("http://example.com/", "a=b; Path=/x\ty"), "cookie: contains a tab");
  EXPECT_EQ(store("ftp://example.com/", "a=b"), "cookie: the URL cannot have cookies");
  EXPECT_EQ(store("http://.example.com/", "a=b"), "cookie: the URL cannot have cookies");
  EXPECT_EQ(store("/path", "a=b"), "cookie: the URL cannot have cookies");
  EXPECT_EQ(jar_.size(), 0);
}

TEST_F(CookieJarTest, ClearingADomainClearsWhatIsBelowIt) {
  for (const char* const host : {"example.com", "www.example.com", "badexample.com"}) {
    store(std::string("http://") + host, "a=b");
  }
  store("http://www.example.com", "c=d; Domain=example.com");
  jar_.clear("WWW.example.com");
  EXPECT_EQ(sent("http://www.example.com/"), "c=d");
  jar_.clear("example.com");
  EXPECT_EQ(sent("http://example.com/"), "");
  EXPECT_EQ(sent("http://badexample.com/"), "a=b");
  jar_.clear("");
  EXPECT_EQ(jar_.size(), 1);
  jar_.clear();
  EXPECT_EQ(jar_.size(), 0);
}

TEST_F(CookieJarTest, OneCookieIsErased) {
  store("http://example.com/", "a=b");
  store("http://example.com/", "c=d");
  jar_.erase(jar_.cookies(now)[0]);
  jar_.erase({.name = "c", .domain = "example.com", .path = "/x"});
  jar_.erase({.name = "c", .domain = "example.org"});
  EXPECT_EQ(sent("http://example.com/"), "c=d");
}

TEST_F(CookieJarTest, ACookieIsAddedByHand) {
  EXPECT_TRUE(jar_.add({.name = "a", .value = "b", .domain = "Example.COM", .secure = true}, now));
  EXPECT_TRUE(jar_.add({.name = "a", .value = "c", .domain = "com", .host_only = false}, now));
  EXPECT_TRUE(jar_.add({.name = "a", .value = "d", .domain = "[::0]", .host_only = false}, now));
  EXPECT_TRUE(jar_.add({.name = "e", .domain = "x.org", .expires = sys_seconds::max()}, now));
  EXPECT_EQ(sent("https://example.com/"), "a=b");
  EXPECT_EQ(sent("https://com/"), "a=c");
  EXPECT_EQ(sent("https://[::]/"), "a=d");
  EXPECT_EQ(jar_.cookies(now)[3].expires, now + std::chrono::days(400));
}

TEST_F(CookieJarTest, WhatNoFieldCouldSayIsNotAdded) {
  const KeptCookie good{.name = "a", .value = "b", .domain = "example.com"};
  const auto add = [this, &good](auto change) {
    KeptCookie cookie = good;
    change(cookie);
    const Result<void> added = jar_.add(cookie, now);
    EXPECT_EQ(jar_.size(), 0) << cookie.name << cookie.value << cookie.domain << cookie.path;
    return added.error().code();
  };
  for (const char* const name : {"a=b", "a;b", " a", "a ", "a\n", "__Host-a", "__Secure-a"}) {
    EXPECT_EQ(add([name](KeptCookie& cookie) { cookie.name = name; }), Errc::MalformedCookie);
  }
  for (const char* const value : {"a;b", " a", "a\r", "a\t"}) {
    EXPECT_NE(add([value](KeptCookie& cookie) { cookie.value = value; }), Errc::None);
  }
  for (const char* const domain :
       {"", "a b", "a/b", "a:80", "u@a", "a?", "a#", ".a.com", "127.1", "[::1", "::1", "a\t"}) {
    EXPECT_EQ(add([domain](KeptCookie& cookie) { cookie.domain = domain; }), Errc::MalformedCookie);
  }
  for (const char* const path : {"", "x", "/\t", "/\n"}) {
    EXPECT_NE(add([path](KeptCookie& cookie) { cookie.path = path; }), Errc::None);
  }
  EXPECT_EQ(add([](KeptCookie& cookie) {
              cookie.name = "__Host-a";
              cookie.secure = true;
              cookie.path = "/x";
            }),
            Errc::MalformedCookie);
  EXPECT_EQ(add([](KeptCookie& cookie) {
              cookie.name = "__Host-a";
              cookie.secure = true;
              cookie.host_only = false;
            }),
            Errc::MalformedCookie);
  EXPECT_EQ(add([](KeptCookie& cookie) { cookie.same_site = SameSite::None; }),
            Errc::MalformedCookie);
}

TEST_F(CookieJarTest, CopiesAreIndependent) {
  store("http://example.com/", "a=b");
  CookieJar copy = jar_;
  copy.clear();
  EXPECT_EQ(sent("http://example.com/"), "a=b");
  EXPECT_EQ(copy.field_for(url("http://example.com/"), now), "");
}

}  // namespace
}  // namespace skua

namespace skua::http {
namespace {

TEST(CookieMatch, AHostIsInItsDomainsAndInNoOther) {
  EXPECT_TRUE(domain_matches("example.com", "example.com"));
  EXPECT_TRUE(domain_matches("a.b.example.com", "example.com"));
  EXPECT_TRUE(domain_matches("a.b.example.com", "b.example.com"));
  EXPECT_FALSE(domain_matches("example.com", "a.example.com"));
  EXPECT_FALSE(domain_matches("badexample.com", "example.com"));
  EXPECT_FALSE(domain_matches("example.com.", "example.com"));
  EXPECT_FALSE(domain_matches("example.com", ".com"));
  EXPECT_FALSE(domain_matches("example.com", ""));
  EXPECT_FALSE(domain_matches("", "example.com"));
}

TEST(CookieMatch, APathIsForItselfAndTheFoldersBelowIt) {
  EXPECT_TRUE(path_matches("/", "/"));
  EXPECT_TRUE(path_matches("/a", "/"));
  EXPECT_TRUE(path_matches("/a", "/a"));
  EXPECT_TRUE(path_matches("/a/", "/a"));
  EXPECT_TRUE(path_matches("/a/b", "/a"));
  EXPECT_TRUE(path_matches("/a/b", "/a/"));
  EXPECT_FALSE(path_matches("/ab", "/a"));
  EXPECT_FALSE(path_matches("/a", "/a/"));
  EXPECT_FALSE(path_matches("/A", "/a"));
  EXPECT_FALSE(path_matches("/%61", "/a"));
  EXPECT_FALSE(path_matches("/", "/a"));
}

TEST(CookieMatch, TheDefaultPathIsTheFolderOfTheRequest) {
  EXPECT_EQ(default_cookie_path("/a/b"), "/a");
  EXPECT_EQ(default_cookie_path("/a/b/"), "/a/b");
  EXPECT_EQ(default_cookie_path("/a//"), "/a/");
  EXPECT_EQ(default_cookie_path("/a"), "/");
  EXPECT_EQ(default_cookie_path("/"), "/");
  EXPECT_EQ(default_cookie_path(""), "/");
  EXPECT_EQ(default_cookie_path("*"), "/");
}

TEST(CookieMatch, ATopLevelDomainHasNoOwner) {
  EXPECT_TRUE(has_inner_dot("example.com"));
  EXPECT_TRUE(has_inner_dot("a.b.example.com"));
  for (const char* const domain : {"com", "com.", ".com", "example.com.", "a..com", ".", ""}) {
    EXPECT_FALSE(has_inner_dot(domain)) << domain;
  }
}

}  // namespace
}  // namespace skua::http
