// SPDX-License-Identifier: MIT
#include "http/message/forwarded.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "skua/testing.hpp"

namespace skua::http {
namespace {

using Fields = std::vector<std::pair<std::string_view, std::string_view>>;

/// Returns `CLIENT SCHEME HOST` of a request from 10.0.0.1, a trusted proxy; `-` stands for the
/// proxy itself, and for a host that is not told.
std::string told(const Fields& fields, ForwardedFields kind, bool is_secure = false) {
  const TrustedProxies proxies(
      {.networks = parse_networks("10.0.0.0/8\n2001:db8::/32\n").value(), .forwarded = kind});
  testing::FakeRequest fake("GET /a");
  for (const auto& [name, value] : fields) fake.header(name, value);
  Origin known{.client = Address::parse("10.0.0.1", 4711).value(), .is_secure = is_secure};
  const Address peer = known.client;
  believe(*RequestAccess::parts(fake.request()).head, proxies, known);
  EXPECT_EQ(known.believed, kind);
  std::string text = known.client == peer ? "-" : known.client.to_string();
  text.append(known.is_secure ? " https " : " http ");
  return text.append(known.host.empty() ? "-" : known.host);
}

std::string x_forwarded(const Fields& fields, bool is_secure = false) {
  return told(fields, ForwardedFields::XForwarded, is_secure);
}
std::string x_forwarded_for(std::string_view list) {
  const std::string text = x_forwarded({{"X-Forwarded-For", list}});
  EXPECT_TRUE(text.ends_with(" http -")) << text;
  return text.substr(0, text.size() - 7);
}
std::string forwarded(const Fields& fields, bool is_secure = false) {
  return told(fields, ForwardedFields::Forwarded, is_secure);
}
std::string forwarded(std::string_view list) { return forwarded({{"Forwarded", list}}); }

TEST(XForwardedFor, EndsAtTheNearestHopThatIsNotTrusted) {
  EXPECT_EQ(x_forwarded_for("192.0.2.1"), "192.0.2.1:0");
  EXPECT_EQ(x_forwarded_for("6.6.6.6, 192.0.2.1"), "192.0.2.1:0");
  EXPECT_EQ(x_forwarded_for("6.6.6.6, 192.0.2.1, 10.0.0.3"), "192.0.2.1:0");
  EXPECT_EQ(x_forwarded_for("6.6.6.6,192.0.2.1 ,\t10.0.0.3,10.0.0.2"), "192.0.2.1:0");
  EXPECT_EQ(x_forwarded_for("192.0.2.1, 2001:db8::7, 10.9.9.9"), "192.0.2.1:0");
  EXPECT_EQ(x_forwarded_for("10.0.0.4, 10.0.0.3"), "10.0.0.4:0") << "a client of the own network";
  EXPECT_EQ(x_forwarded_for("::ffff:192.0.2.1"), "[::ffff:192.0.2.1]:0");
  EXPECT_EQ(x_forwarded_for("6.6.6.6, ::ffff:10.0.0.2"), "6.6.6.6:0");
}

TEST(XForwardedFor, MayHavePorts) {
  EXPECT_EQ(x_forwarded_for("192.0.2.1:50123"), "192.0.2.1:50123");
  EXPECT_EQ(x_forwarded_for("2001:db9::1"), "[2001:db9::1]:0");
  EXPECT_EQ(x_forwarded_for("[2001:db9::1]"), "[2001:db9::1]:0");
  EXPECT_EQ(x_forwarded_for("[2001:db9::1]:50123"), "[2001:db9::1]:50123");
  EXPECT_EQ(x_forwarded_for("6.6.6.6, 10.0.0.2:80"), "6.6.6.6:0");
}

TEST(XForwardedFor, EndsAtTheLastHopBeforeAMalformedOne) {
  for (const std::string_view bad : {"unknown",
                                     "_hidden",
                                     "example.com",
                                     "\"192.0.2.1\"",
                                     "192.0.2",
                                     "192.0.2.1.5",
                                     "192.0.2.256",
                                     "192.0.2.1:",
                                     "192.0.2.1:x",
                                     "192.0.2.1:65536",
                                     "192.0.2.1:-1",
                                     "[192.0.2.1]",
                                     "[2001:db9::1",
                                     "2001:db9::1]",
                                     "[2001:db9::1]x",
                                     "[2001:db9::1]:",
                                     "[]",
                                     "[",
                                     ":",
                                     "fe80::1%lo",
                                     "unix:",
                                     "for=192.0.2.1",
                                     "192.0.2.1 6.6.6.6",
                                     "192.0.2.1;6.6.6.6"}) {
    EXPECT_EQ(x_forwarded_for(bad), "-") << bad;
    EXPECT_EQ(x_forwarded_for("6.6.6.6, " + std::string(bad)), "-") << bad;
    EXPECT_EQ(x_forwarded_for(std::string(bad) + ", 10.0.0.2"), "10.0.0.2:0") << bad;
    EXPECT_EQ(x_forwarded_for(std::string(bad) + ", 192.0.2.7"), "192.0.2.7:0") << bad;
  }
}

TEST(XForwardedFor, EmptyElementsDoNotCount) {
  EXPECT_EQ(x_forwarded_for(""), "-");
  EXPECT_EQ(x_forwarded_for(" , ,"), "-");
  EXPECT_EQ(x_forwarded_for("192.0.2.1,"), "192.0.2.1:0");
  EXPECT_EQ(x_forwarded_for(",192.0.2.1, ,10.0.0.2,"), "192.0.2.1:0");
}

TEST(XForwardedFor, MayHaveSeveralLines) {
  EXPECT_EQ(x_forwarded({{"X-Forwarded-For", "6.6.6.6"},
                         {"Accept", "*/*"},
                         {"x-forwarded-for", "192.0.2.1"},
                         {"X-Forwarded-For", ""},
                         {"X-FORWARDED-FOR", "10.0.0.3, 10.0.0.2"}}),
            "192.0.2.1:0 http -");
}

TEST(XForwarded, TheLastHostAndSchemeHold) {
  EXPECT_EQ(x_forwarded({{"X-Forwarded-Proto", "https"}, {"X-Forwarded-Host", "a.example:8443"}}),
            "- https a.example:8443");
  EXPECT_EQ(x_forwarded({{"X-Forwarded-Proto", "http"}}, true), "- http -");
  EXPECT_EQ(x_forwarded({{"X-Forwarded-Proto", "HTTPS"}}), "- https -");
  EXPECT_EQ(x_forwarded({{"X-Forwarded-Proto", "wss"}}), "- https -");
  EXPECT_EQ(x_forwarded({{"X-Forwarded-Proto", "ws"}}, true), "- http -");
  EXPECT_EQ(x_forwarded({{"X-Forwarded-Proto", "https, http"}}), "- http -");
  EXPECT_EQ(x_forwarded({{"X-Forwarded-Proto", "https"}, {"X-Forwarded-Proto", "http"}}),
            "- http -");
  EXPECT_EQ(x_forwarded({{"X-Forwarded-Host", "evil.example, a.example"}}), "- http a.example");
  EXPECT_EQ(x_forwarded({{"X-Forwarded-Host", "[2001:db8::1]:8080"}}), "- http [2001:db8::1]:8080");
}

TEST(XForwarded, MalformedHostsAndSchemesAreNotBelieved) {
  for (const std::string_view scheme : {"", "ftp", "https ", "https://", "\"https\"", "on"}) {
    const bool is_good = scheme == "https ";  // white space around an element does not count
    EXPECT_EQ(x_forwarded({{"X-Forwarded-Proto", scheme}}), is_good ? "- https -" : "- http -");
  }
  for (const std::string_view host :
       {"", "a b", "a/b", "user@a", "\"a\"", "a:b", "http://a", "[::1", "a\\b"}) {
    EXPECT_EQ(x_forwarded({{"X-Forwarded-Host", host}}), "- http -") << host;
  }
}

TEST(XForwarded, TheOtherKindIsNotBelieved) {
  const Fields both = {
      {"X-Forwarded-For", "192.0.2.1"},  {"X-Forwarded-Proto", "https"},
      {"X-Forwarded-Host", "x.example"}, {"X_Forwarded_For", "6.6.6.6"},
      {"X-Real-IP", "6.6.6.6"},          {"Forwarded", "for=192.0.2.2;host=f.example"}};
  EXPECT_EQ(x_forwarded(both), "192.0.2.1:0 https x.example");
  EXPECT_EQ(forwarded(both), "192.0.2.2:0 http f.example");
  EXPECT_EQ(told(both, ForwardedFields::None), "- http -");
}

TEST(Forwarded, EndsAtTheNearestHopThatIsNotTrusted) {
  EXPECT_EQ(forwarded("for=192.0.2.1"), "192.0.2.1:0 http -");
  EXPECT_EQ(forwarded("for=6.6.6.6, for=192.0.2.1"), "192.0.2.1:0 http -");
  EXPECT_EQ(forwarded("for=6.6.6.6, for=192.0.2.1, for=10.0.0.2"), "192.0.2.1:0 http -");
  EXPECT_EQ(forwarded({{"Forwarded", "for=6.6.6.6, For=\"192.0.2.1\""},
                       {"forwarded", "fOR=\"[2001:db8::7]:80\" , for=10.0.0.2;by=10.0.0.1"}}),
            "192.0.2.1:0 http -");
}

TEST(Forwarded, NamesNodesAsTheRfcDoes) {
  EXPECT_EQ(forwarded("for=\"192.0.2.1:50123\""), "192.0.2.1:50123 http -");
  EXPECT_EQ(forwarded("for=\"[2001:db9::1]\""), "[2001:db9::1]:0 http -");
  EXPECT_EQ(forwarded("For=\"[2001:db9::1]:50123\""), "[2001:db9::1]:50123 http -");
  EXPECT_EQ(forwarded("for=\"192.0.2.1:_hidden\""), "192.0.2.1:0 http -");
  EXPECT_EQ(forwarded("for=\"[2001:db9::1]:_x\""), "[2001:db9::1]:0 http -");
}

TEST(Forwarded, TellsOfTheHopOfTheClient) {
  EXPECT_EQ(forwarded("for=192.0.2.1;proto=https;host=a.example"), "192.0.2.1:0 https a.example");
  EXPECT_EQ(forwarded({{"Forwarded", "for=192.0.2.1;proto=http;host=\"a.example:80\""}}, true),
            "192.0.2.1:0 http a.example:80");
  EXPECT_EQ(forwarded("for=6.6.6.6;proto=http;host=evil.example, "
                      "for=192.0.2.1;proto=https;host=a.example, "
                      "for=10.0.0.3;proto=http;host=inner.example"),
            "192.0.2.1:0 https a.example");
  // Each is taken from the proxy that is nearest to the client, of those that tell it.
  EXPECT_EQ(forwarded("for=192.0.2.1;host=a.example, for=10.0.0.3;proto=https"),
            "192.0.2.1:0 https a.example");
  EXPECT_EQ(forwarded("proto=https;host=a.example"), "- https a.example");
  EXPECT_EQ(forwarded("for=unknown;proto=https"), "- https -");
  EXPECT_EQ(forwarded("for=_hidden;proto=https, for=10.0.0.3"), "10.0.0.3:0 https -");
}

TEST(Forwarded, QuotedStringsMayHaveAnyCharacter) {
  EXPECT_EQ(forwarded("for=192.0.2.1;secret=\"a, for=6.6.6.6\""), "192.0.2.1:0 http -");
  EXPECT_EQ(forwarded("for=192.0.2.1;secret=\"a;host=evil\";host=a.example"),
            "192.0.2.1:0 http a.example");
  EXPECT_EQ(forwarded("for=192.0.2.1;secret=\"a\\\", for=6.6.6.6\""), "192.0.2.1:0 http -");
  EXPECT_EQ(forwarded("for=192.0.2.1;secret=\"\\\\\", for=10.0.0.2"), "192.0.2.1:0 http -");
  EXPECT_EQ(forwarded("secret=\"\";for=192.0.2.1"), "192.0.2.1:0 http -");
}

// A proxy appends its element to whatever the client has sent.
TEST(Forwarded, NothingThatAClientSendsChangesWhatFollows) {
  for (const std::string_view sent :
       {"\"", "for=\"", "for=\"6.6.6.6", "a=\"\\", "a=\"\\\"", "for=6.6.6.6;a=\"", ",", ";", "\\",
        "\\\"", "\"\"\"", "a=\"b\"c\"", "for=6.6.6.6", "=", "a"}) {
    for (const std::string_view own :
         {"for=192.0.2.1", "for=\"192.0.2.1\"", "for=192.0.2.1;secret=\"a,b\""}) {
      EXPECT_EQ(forwarded(std::string(sent) + ", " + std::string(own)), "192.0.2.1:0 http -")
          << sent;
      EXPECT_EQ(forwarded({{"Forwarded", sent}, {"Forwarded", own}}), "192.0.2.1:0 http -") << sent;
    }
  }
}

TEST(Forwarded, EndsAtTheLastHopBeforeAMalformedElement) {
  for (const std::string_view bad : {"for",
                                     "for=",
                                     "=x",
                                     "for =6.6.6.6",
                                     "for= 6.6.6.6",
                                     "for=6.6.6.6 host=a",
                                     "for=6.6.6.6;host",
                                     "for=6.6.6.6:80",
                                     "for=[2001:db9::1]",
                                     "for=\"2001:db9::1\"",
                                     "for=6.6.6.6;for=6.6.6.6",
                                     "for=6.6.6.6;host=a;host=a",
                                     "for=6.6.6.6;proto=http;proto=http",
                                     "for=\"6.6.6.6",
                                     "for=6.6.6.6\"",
                                     "for=\"6.6.6\\.6\"",
                                     "for=\"\\6.6.6.6\"",
                                     "f\xc3\xb6r=6.6.6.6",
                                     "for=unknown",
                                     "for=_x",
                                     "for=\"unknown:80\"",
                                     "for=\"[2001:db9::1]x\"",
                                     "host=a.example:80",
                                     "for=\"\"",
                                     "for=\"6.6.6.6%1\""}) {
    const auto address = [](const std::string& text) { return text.substr(0, text.find(' ')); };
    EXPECT_EQ(address(forwarded(bad)), "-") << bad;
    EXPECT_EQ(address(forwarded("for=6.6.6.6, " + std::string(bad))), "-") << bad;
    EXPECT_EQ(address(forwarded(std::string(bad) + ", for=10.0.0.2")), "10.0.0.2:0") << bad;
  }
}

TEST(Forwarded, WhatIsOptionalIsTaken) {
  EXPECT_EQ(forwarded(";;for=192.0.2.1; ;host=a.example;"), "192.0.2.1:0 http a.example");
  EXPECT_EQ(forwarded("for=192.0.2.1 ; host=a.example"), "192.0.2.1:0 http a.example");
  EXPECT_EQ(forwarded(", for=192.0.2.1,,"), "192.0.2.1:0 http -");
}

TEST(Forwarded, MalformedHostsAndSchemesAreNotBelieved) {
  EXPECT_EQ(forwarded("for=192.0.2.1;host=\"a b\";proto=ftp"), "192.0.2.1:0 http -");
  EXPECT_EQ(forwarded("for=192.0.2.1;host=\"\";proto=\"\""), "192.0.2.1:0 http -");
}

}  // namespace
}  // namespace skua::http
