// SPDX-License-Identifier: MIT
#include "proxy/fields.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "http/message/request_parts.hpp"
#include "skua/address.hpp"
#include "skua/connection.hpp"
#include "skua/testing.hpp"

namespace skua::proxy {
namespace {

using Fields = std::vector<std::pair<std::string_view, std::string_view>>;

struct Peer final : detail::ConnectionSource {
  explicit Peer(const char* address) : known({.peer = Address::parse(address).value()}) {}
  Connection& connection() override { return known; }
  Connection known;
};

/// The fields of a request from an address, as the upstream server gets them.
FieldLines passed_on(const Fields& fields, const ReverseProxyOptions& options = {},
                     const char* peer = "192.0.2.1:4711") {
  testing::FakeRequest fake("GET /a");
  for (const auto& [name, value] : fields) fake.header(name, value);
  http::RequestParts parts = http::RequestAccess::parts(fake.request());
  parts.host = "example.com";
  Peer source(peer);
  parts.connection = &source;
  Request request(parts);
  return upstream_fields(request, options, "skua-1");
}

TEST(UpstreamFields, NameTheClientAndTheProxy) {
  EXPECT_EQ(passed_on({}).wire(),
            "Host: example.com\r\n"
            "Via: 1.1 skua-1\r\n"
            "X-Forwarded-For: 192.0.2.1\r\n"
            "X-Forwarded-Host: example.com\r\n"
            "X-Forwarded-Proto: http\r\n");
}

TEST(UpstreamFields, AnIpv6AddressIsWrittenAsItsFieldDemands) {
  const char* const peer = "[2001:db8::1]:4711";
  EXPECT_EQ(passed_on({}, {}, peer).find("X-Forwarded-For"), "2001:db8::1");
  EXPECT_EQ(passed_on({}, {.forwarded = ForwardedFields::Forwarded}, peer).find("Forwarded"),
            "for=\"[2001:db8::1]\";host=\"example.com\";proto=http");
}

TEST(UpstreamFields, AUnixSocketHasNoAddress) {
  EXPECT_EQ(passed_on({}, {}, "unix:/run/a:b").find("X-Forwarded-For"), std::nullopt);
  EXPECT_EQ(
      passed_on({}, {.forwarded = ForwardedFields::Forwarded}, "unix:/run/a:b").find("Forwarded"),
      "for=unknown;host=\"example.com\";proto=http");
}

TEST(UpstreamFields, NothingIsSaidAboutTheClientIfNotWanted) {
  const FieldLines lines = passed_on({{"X-Forwarded-For", "192.0.2.9"}},
                                     {.keeps_host = false, .forwarded = ForwardedFields::None});
  EXPECT_EQ(lines.wire(), "Via: 1.1 skua-1\r\n");
}

TEST(UpstreamFields, TrustedListsGetOneMoreElement) {
  const FieldLines lines =
      passed_on({{"Forwarded", "for=a"}, {"forwarded", "for=b"}},
                {.forwarded = ForwardedFields::Forwarded, .trusts_forwarded = true});
  EXPECT_EQ(lines.find("Forwarded"), "for=a, for=b, for=192.0.2.1;host=\"example.com\";proto=http");
  EXPECT_EQ(lines.find("Forwarded", 1), std::nullopt);
}

/// A trusted proxy at 10.0.0.1 that tells of a client at 192.0.2.9.
struct TrustedProxy final : http::OriginSource {
  explicit TrustedProxy(ForwardedFields kind) {
    origin = {.client = Address::parse("192.0.2.9", 0).value(),
              .is_secure = true,
              .host = "public.example",
              .believed = kind};
  }
  http::Origin origin_of(const http::Head&, const void*) const override { return origin; }
  http::Origin origin{};
};

FieldLines passed_on_by_a_proxy(const Fields& fields, ForwardedFields believed,
                                ForwardedFields wanted) {
  testing::FakeRequest fake("GET /a");
  for (const auto& [name, value] : fields) fake.header(name, value);
  http::RequestParts parts = http::RequestAccess::parts(fake.request());
  parts.host = "example.com";
  Peer source("10.0.0.1:4711");
  parts.connection = &source;
  const TrustedProxy proxy(believed);
  parts.origins = &proxy;
  Request request(parts);
  return upstream_fields(request, {.forwarded = wanted}, "skua-1");
}

TEST(UpstreamFields, ABelievedListGetsThePeer) {
  const Fields fields = {{"X-Forwarded-For", "6.6.6.6, 192.0.2.9"},
                         {"X-Forwarded-Host", "evil.example, public.example"},
                         {"X-Forwarded-Proto", "https"},
                         {"X-Forwarded-Port", "6"},
                         {"X-Real-IP", "6.6.6.6"},
                         {"Forwarded", "for=6.6.6.6"}};
  const ForwardedFields kind = ForwardedFields::XForwarded;
  EXPECT_EQ(passed_on_by_a_proxy(fields, kind, kind).wire(),
            "Host: example.com\r\n"
            "Via: 1.1 skua-1\r\n"
            "X-Forwarded-For: 6.6.6.6, 192.0.2.9, 10.0.0.1\r\n"
            "X-Forwarded-Host: public.example\r\n"
            "X-Forwarded-Proto: https\r\n");
}

TEST(UpstreamFields, ABelievedForwardedGetsTheHopOfThePeer) {
  const Fields fields = {{"Forwarded", "for=192.0.2.9;host=public.example;proto=https"},
                         {"X-Forwarded-For", "6.6.6.6"}};
  const ForwardedFields kind = ForwardedFields::Forwarded;
  EXPECT_EQ(passed_on_by_a_proxy(fields, kind, kind).wire(),
            "Host: example.com\r\n"
            "Via: 1.1 skua-1\r\n"
            "Forwarded: for=192.0.2.9;host=public.example;proto=https, "
            "for=10.0.0.1;host=\"example.com\";proto=http\r\n");
}

TEST(UpstreamFields, TheOtherKindIsMadeOfWhatIsBelieved) {
  const Fields fields = {{"X-Forwarded-For", "6.6.6.6, 192.0.2.9"}, {"Forwarded", "for=6.6.6.6"}};
  EXPECT_EQ(
      passed_on_by_a_proxy(fields, ForwardedFields::XForwarded, ForwardedFields::Forwarded).wire(),
      "Host: example.com\r\n"
      "Via: 1.1 skua-1\r\n"
      "Forwarded: for=192.0.2.9;host=\"public.example\";proto=https\r\n");
  EXPECT_EQ(passed_on_by_a_proxy(fields, ForwardedFields::XForwarded, ForwardedFields::None).wire(),
            "Host: example.com\r\n"
            "Via: 1.1 skua-1\r\n");
}

TEST(UpstreamFields, AListOfAStrangerIsReplaced) {
  const FieldLines lines =
      passed_on_by_a_proxy({{"X-Forwarded-For", "6.6.6.6"}, {"X-Forwarded-Proto", "http"}},
                           ForwardedFields::None, ForwardedFields::XForwarded);
  EXPECT_EQ(lines.find("X-Forwarded-For"), "10.0.0.1");
}

TEST(UpstreamFields, ViaIsAddedToThatOfOthers) {
  const FieldLines lines = passed_on({{"Via", "1.0 fred"}});
  EXPECT_EQ(lines.find("Via"), "1.0 fred");
  EXPECT_EQ(lines.find("Via", 1), "1.1 skua-1");
}

TEST(ConnectionFields, TrailersAreAskedForIfTheClientTakesThem) {
  const auto added = [](std::string_view te) {
    testing::FakeRequest fake("GET /a");
    fake.header("TE", te);
    FieldLines lines;
    add_connection_fields(lines, *http::RequestAccess::parts(fake.request()).head);
    return std::string(lines.wire());
  };
  EXPECT_EQ(added("gzip, trailers"), "TE: trailers\r\nConnection: TE\r\n");
  EXPECT_EQ(added("Trailers"), "TE: trailers\r\nConnection: TE\r\n");
  EXPECT_EQ(added("gzip"), "");
  EXPECT_EQ(passed_on({{"TE", "trailers"}}).find("TE"), std::nullopt) << "after the hooks";
}

TEST(UpstreamFields, WhatConnectionNamesEndsHere) {
  const FieldLines lines = passed_on(
      {{"Connection", "close, a"}, {"A", "1"}, {"connection", "B"}, {"b", "2"}, {"C", "3"}});
  EXPECT_EQ(lines.find("A"), std::nullopt);
  EXPECT_EQ(lines.find("B"), std::nullopt);
  EXPECT_EQ(lines.find("C"), "3");
  EXPECT_EQ(lines.find("Connection"), std::nullopt);
}

TEST(UpstreamFields, AnUnderscoreHidesNoName) {
  const FieldLines lines = passed_on(
      {{"X_Forwarded_For", "1"}, {"x-Real_ip", "2"}, {"PROXY_Secret", "3"}, {"X_Own", "4"}});
  for (const char* const name : {"X_Forwarded_For", "X-Real_IP", "Proxy_Secret"}) {
    EXPECT_EQ(lines.find(name), std::nullopt) << name;
  }
  EXPECT_EQ(lines.find("X_Own"), "4");
}

TEST(UpstreamFields, WhatASwitchOfProtocolsNeedsEndsHere) {
  const FieldLines lines = passed_on(
      {{"Upgrade", "h2c"}, {"HTTP2-Settings", "AAMAAABk"}, {"Connection", "Upgrade"}, {"C", "3"}});
  for (const char* const name : {"Upgrade", "HTTP2-Settings", "Connection"}) {
    EXPECT_EQ(lines.find(name), std::nullopt) << name;
  }
  EXPECT_EQ(lines.find("C"), "3");
}

std::string without_ambiguous(const Fields& fields) {
  FieldLines lines;
  for (const auto& [name, value] : fields) lines.add(name, value);
  remove_ambiguous(lines);
  return std::string(lines.wire());
}

TEST(AmbiguousNames, AnUnderscoreStandsForNoNameThatIsKnown) {
  EXPECT_EQ(without_ambiguous({{"Content_Length", "5"},
                               {"transfer_encoding", "chunked"},
                               {"Host_", "a"},
                               {"If_Match", "*"},
                               {"User_agent", "b"},
                               {"Transfer-Encoding_", "c"}}),
            "Host_: a\r\nTransfer-Encoding_: c\r\n");
}

TEST(AmbiguousNames, AnUnderscoreStandsForNoNameThatIsThere) {
  EXPECT_EQ(without_ambiguous({{"X_User", "evil"}, {"X-User", "good"}, {"x_user", "evil"}}),
            "X-User: good\r\n");
  EXPECT_EQ(without_ambiguous({{"A_b-c", "1"}, {"a-b_c", "2"}, {"d", "3"}}), "d: 3\r\n");
}

TEST(AmbiguousNames, OthersStay) {
  const Fields fields = {{"api_key", "1"}, {"API_KEY", "2"}, {"X-User", "3"}, {"X-Users", "4"}};
  EXPECT_EQ(without_ambiguous(fields), "api_key: 1\r\nAPI_KEY: 2\r\nX-User: 3\r\nX-Users: 4\r\n");
}

TEST(OfTheConnection, AreTheFieldsThatFrameAMessageOrSwitchItsProtocol) {
  FieldLines lines;
  for (const char* const name : {"Connection", "content-length", "TRANSFER-ENCODING", "TE",
                                 "Expect", "Upgrade", "Keep-Alive", "Proxy-Thing"}) {
    lines.add(name, "x");
  }
  for (const FieldLines::Line line : lines) EXPECT_TRUE(is_of_connection(line)) << line.name;
  FieldLines others;
  for (const char* const name : {"Host", "Via", "Trailer", "Content-Type"}) others.add(name, "x");
  for (const FieldLines::Line line : others) EXPECT_FALSE(is_of_connection(line)) << line.name;
}

TEST(HasPassed, ComparesTheNameOfEachHop) {
  const auto has_passed_with = [](std::string_view via) {
    testing::FakeRequest fake("GET /");
    fake.header("Via", via);
    return has_passed(*http::RequestAccess::parts(fake.request()).head, "skua-1");
  };
  EXPECT_TRUE(has_passed_with("1.1 skua-1"));
  EXPECT_TRUE(has_passed_with("1.0 fred, HTTP/2  skua-1 (a comment)"));
  EXPECT_FALSE(has_passed_with("1.1 skua-12"));
  EXPECT_FALSE(has_passed_with("1.1 other (skua-1)"));
  EXPECT_FALSE(has_passed_with("skua-1"));
}

}  // namespace
}  // namespace skua::proxy
