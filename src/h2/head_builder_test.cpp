// SPDX-License-Identifier: MIT
#include "h2/head_builder.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "h2/hpack_rules.hpp"

namespace skua::h2 {
namespace {

/// Returns a field as the HPACK decoder would.
DecodedField decoded(std::string_view name, std::string_view value) {
  const rules::Name known = rules::look_at(name);
  return {.name = name,
          .value = value,
          .known = known.known,
          .pseudo = known.pseudo,
          .is_malformed = known.is_malformed || !rules::is_value(known, value)};
}

using Fields = std::vector<std::pair<std::string, std::string>>;

struct Built {
  HeadBuilder builder;
  RequestHead request;
  HeadStatus verdict = HeadStatus::Fine;

  explicit Built(const Fields& fields, const HeadLimits& limits = {}) {
    builder.start(HeadBuilder::Kind::Request, limits);
    for (const auto& [name, value] : fields) {
      verdict = builder.add(decoded(name, value));
      if (verdict != HeadStatus::Fine) return;
    }
    http::LastAuthority hosts;
    verdict = builder.finish_request(request, hosts);
  }
  [[nodiscard]] std::string value(std::string_view name) const {
    const http::FieldLine* const line = request.head.find(name);
    return line != nullptr ? std::string(request.head.value(*line)) : "(none)";
  }
};

Fields get(const std::string& path, const Fields& more = {}) {
  Fields fields{{":method", "GET"}, {":scheme", "https"}, {":authority", "a.b"}, {":path", path}};
  fields.insert(fields.end(), more.begin(), more.end());
  return fields;
}

Errc error_of(const Fields& fields, const HeadLimits& limits = {}) {
  const Built built(fields, limits);
  EXPECT_EQ(built.verdict, HeadStatus::Fine);
  return built.request.error;
}

TEST(HeadBuilder, MakesTheHeadThatHttp1WouldHaveParsed) {
  const Built built(
      get("/a/b?c=\\d", {{"accept", "*/*"}, {"x-own", ""}, {"content-length", "12"}}));
  const RequestHead& request = built.request;
  EXPECT_EQ(built.verdict, HeadStatus::Fine);
  EXPECT_EQ(request.error, Errc::None);
  EXPECT_EQ(request.head.method, Method::Get);
  EXPECT_EQ(request.head.target(), "/a/b?c=\\d");
  EXPECT_EQ(request.path_and_query, request.head.target());
  EXPECT_EQ(request.head.major_version, 2);
  EXPECT_EQ(request.head.minor_version, 0);
  EXPECT_EQ(request.host, "a.b");
  EXPECT_TRUE(request.is_https);
  EXPECT_EQ(request.length_bytes, 12U);
  ASSERT_EQ(request.head.fields.size(), 4U);
  EXPECT_EQ(built.value("host"), "a.b");
  EXPECT_EQ(built.value("Accept"), "*/*");
  EXPECT_EQ(built.value("x-own"), "");
  EXPECT_TRUE(request.head.has(http::FieldName::Host));
  EXPECT_FALSE(request.head.has(http::FieldName::Cookie));
}

TEST(HeadBuilder, JoinsTheCrumbsOfACookieInTheirOrder) {
  const Built built(
      get("/", {{"cookie", "a=1"}, {"x", "y"}, {"cookie", "b=2"}, {"cookie", "c=3; d"}}));
  EXPECT_EQ(built.value("cookie"), "a=1; b=2; c=3; d");
  EXPECT_EQ(built.request.head.fields.size(), 3U);  // host, cookie, x
  EXPECT_EQ(built.value("x"), "y");
  EXPECT_EQ(Built(get("/", {{"cookie", "a=1"}})).value("cookie"), "a=1");
}

TEST(HeadBuilder, TakesTheAuthorityForTheHostAndTheHostWithoutOne) {
  EXPECT_EQ(Built(get("/", {{"host", "A.B:443"}})).value("host"), "a.b");
  Fields fields{{":method", "GET"}, {":scheme", "http"}, {":path", "/"}, {"host", "own:81"}};
  EXPECT_EQ(Built(fields).request.host, "own:81");
  EXPECT_FALSE(Built(fields).request.is_https);
}

TEST(HeadBuilder, AHostThatDisagreesIsMalformed) {
  for (const char* host : {"a.c", "a.b:80", "a.b:8443", "a.b, a.b", "x@a.b"}) {
    EXPECT_EQ(Built(get("/", {{"host", host}})).verdict, HeadStatus::Malformed) << host;
  }
}

TEST(HeadBuilder, RefusesWhatHttp1Refuses) {
  for (const char* path : {"/\"", "/a#b", "/\x80", "/a\\b"}) {
    EXPECT_EQ(error_of(get(path)), Errc::MalformedTarget) << path;
  }
  EXPECT_EQ(
      error_of({{":method", "GET"}, {":scheme", "http"}, {":authority", "a:b"}, {":path", "/"}}),
      Errc::InvalidHost);
  EXPECT_EQ(error_of({{":method", "GET"}, {":scheme", "ftp"}, {":authority", "a"}, {":path", "/"}}),
            Errc::MalformedTarget);
  EXPECT_EQ(
      error_of({{":method", "get"}, {":scheme", "http"}, {":authority", "a"}, {":path", "/"}}),
      Errc::UnknownMethod);
  EXPECT_EQ(error_of({{":method", std::string(33, 'A')},
                      {":scheme", "http"},
                      {":authority", "a"},
                      {":path", "/"}}),
            Errc::UnknownMethod);
  EXPECT_EQ(error_of(get("/", {{"expect", "200-maybe"}})), Errc::UnknownExpectation);
  EXPECT_TRUE(Built(get("/", {{"expect", "100-Continue"}})).request.expect_continue);
}

TEST(HeadBuilder, KeepsAMethodThatIsNotKnownWhereverItArrives) {
  const Fields method{{":method", "REPORT"}};
  Fields rest{{":path", "/a?b"}, {":scheme", "http"}, {":authority", "a"}};
  for (std::size_t at = 0; at <= rest.size(); ++at) {
    Fields fields = rest;
    fields.insert(fields.begin() + static_cast<std::ptrdiff_t>(at), method.front());
    fields.push_back({"cookie", "c"});
    const Built built(fields);
    EXPECT_EQ(built.request.error, Errc::None);
    EXPECT_EQ(built.request.head.method, Method::Other);
    EXPECT_EQ(built.request.head.method_name(), "REPORT");
    EXPECT_EQ(built.request.head.target(), "/a?b");
    EXPECT_EQ(built.request.path_and_query, "/a?b");
    EXPECT_EQ(built.request.host, "a");
  }
}

TEST(HeadBuilder, RefusesWhatIsNoRequestOfHttp2) {
  const auto is_malformed = [](const Fields& fields) {
    return Built(fields).verdict == HeadStatus::Malformed;
  };
  for (const char* path : {"", "a", "/a b", "http://a.b/", "*"}) {
    EXPECT_TRUE(is_malformed(get(path))) << path;
  }
  for (const char* left_out : {":method", ":scheme", ":path", ":authority"}) {
    Fields fields = get("/");
    std::erase_if(fields, [&](const auto& field) { return field.first == left_out; });
    EXPECT_TRUE(is_malformed(fields)) << left_out;
  }
  for (const auto& [name, value] : get("/")) EXPECT_TRUE(is_malformed(get("/", {{name, value}})));
  EXPECT_TRUE(is_malformed(get("/", {{":status", "200"}})));
  EXPECT_TRUE(is_malformed(get("/", {{":protocol", "websocket"}})));
  EXPECT_TRUE(is_malformed({{"x", "y"}, {":method", "GET"}}));
  EXPECT_TRUE(is_malformed(get("/", {{"content-length", "1"}, {"content-length", "1"}})));
  EXPECT_TRUE(is_malformed(get("/", {{"content-length", "x"}})));
  EXPECT_TRUE(is_malformed(get("/", {{"host", "a.b"}, {"host", "a.b"}})));
  EXPECT_TRUE(is_malformed({{":method", "CONNECT"}, {":authority", "a.b:1"}, {":path", "/"}}));
  EXPECT_TRUE(is_malformed({{":method", "CONNECT"}, {":protocol", "websocket"}}));
}

TEST(HeadBuilder, KnowsTheOtherFormsOfATarget) {
  const Built asterisk(
      {{":method", "OPTIONS"}, {":scheme", "http"}, {":authority", "a"}, {":path", "*"}});
  EXPECT_EQ(asterisk.request.error, Errc::None);
  EXPECT_EQ(asterisk.request.path_and_query, "*");

  const Built tunnel({{":method", "CONNECT"}, {":authority", "a.b:443"}});
  EXPECT_EQ(tunnel.request.error, Errc::None);
  EXPECT_EQ(tunnel.request.head.target(), "a.b:443");
  EXPECT_EQ(tunnel.request.path_and_query, "");
  EXPECT_EQ(error_of({{":method", "CONNECT"}, {":authority", "a.b"}}), Errc::MalformedTarget);

  const Built socket({{":method", "CONNECT"},
                      {":protocol", "websocket"},
                      {":scheme", "https"},
                      {":path", "/chat"},
                      {":authority", "a.b"}});
  EXPECT_EQ(socket.request.error, Errc::None);
  EXPECT_EQ(socket.request.protocol, "websocket");
  EXPECT_EQ(socket.request.path_and_query, "/chat");
  EXPECT_EQ(socket.request.host, "a.b");
}

TEST(HeadBuilder, HasTheLimitsOfHttp1) {
  const HeadLimits limits{
      .target_bytes = 20, .field_line_bytes = 30, .list_bytes = 1000, .fields = 4};
  EXPECT_EQ(error_of(get("/" + std::string(19, 'a')), limits), Errc::None);
  EXPECT_EQ(error_of(get("/" + std::string(20, 'a')), limits), Errc::TargetTooLong);
  EXPECT_EQ(error_of(get("/", {{"name", std::string(26, 'a')}}), limits), Errc::None);
  EXPECT_EQ(error_of(get("/", {{"name", std::string(27, 'a')}}), limits), Errc::FieldTooLong);
  EXPECT_EQ(error_of(get("/", {{"a", ""}, {"b", ""}, {"c", ""}}), limits), Errc::None);
  EXPECT_EQ(error_of(get("/", {{"a", ""}, {"b", ""}, {"c", ""}, {"d", ""}}), limits),
            Errc::TooManyFields);
  EXPECT_EQ(error_of(get("/", {{"cookie", "a;b"}, {"c", ""}}), limits), Errc::None);
  EXPECT_EQ(error_of(get("/", {{"cookie", "a;b;c;d"}}), limits), Errc::TooManyFields);
  EXPECT_EQ(error_of(get("/", {{"cookie", "a"}, {"cookie", "b"}, {"cookie", "c"}, {"cookie", "d"}}),
                     limits),
            Errc::TooManyFields);
  EXPECT_EQ(error_of(get("/", {{"cookie", std::string(20, 'a')}, {"cookie", std::string(20, 'b')}}),
                     limits),
            Errc::FieldTooLong);
}

TEST(HeadBuilder, ChargesForEachFieldInTheListLimit) {
  const std::size_t pseudo = 4 * field_charge + 7 + 3 + 7 + 5 + 10 + 3 + 5 + 1;
  const HeadLimits exact{.list_bytes = pseudo + field_charge + 2};
  EXPECT_EQ(error_of(get("/", {{"a", "b"}}), exact), Errc::None);
  const HeadLimits short_of_one{.list_bytes = pseudo + field_charge + 1};
  EXPECT_EQ(error_of(get("/", {{"a", "b"}}), short_of_one), Errc::HeadTooLong);
}

TEST(HeadBuilder, KeepsNothingPastItsLimitsAndGivesUpOnABomb) {
  HeadBuilder builder;
  const HeadLimits limits;
  builder.start(HeadBuilder::Kind::Request, limits);
  const std::string value(4000, 'x');
  std::size_t taken = 0;
  while (builder.add(decoded("x", value)) == HeadStatus::Fine) ++taken;
  EXPECT_EQ(taken, 4 * limits.list_bytes / (value.size() + 1 + field_charge));
  EXPECT_LE(builder.memory_bytes(), 3 * limits.list_bytes);
  builder.shrink();
  EXPECT_LE(builder.memory_bytes(), 16U * 1024);
}

TEST(HeadBuilder, LeavesOutTrailersThatMustNotBeMerged) {
  HeadBuilder builder;
  builder.start(HeadBuilder::Kind::Trailers, {});
  for (const char* name : {"x-sum", "content-length", "host", "authorization", "etag"}) {
    EXPECT_EQ(builder.add(decoded(name, "1")), HeadStatus::Fine);
  }
  http::Head trailers;
  EXPECT_EQ(builder.finish_trailers(trailers), HeadStatus::Fine);
  ASSERT_EQ(trailers.fields.size(), 2U);
  EXPECT_EQ(trailers.name(trailers.fields[0]), "x-sum");
  EXPECT_TRUE(trailers.has(http::FieldName::Etag));
  EXPECT_FALSE(trailers.has(http::FieldName::Host));
}

TEST(HeadBuilder, TrailersPastTheirLimitsAreTooLong) {
  HeadBuilder builder;
  http::Head trailers;
  builder.start(HeadBuilder::Kind::Trailers, {.list_bytes = 200});
  EXPECT_EQ(builder.add(decoded("a", "b")), HeadStatus::Fine);
  const std::string long_value(200, 'b');
  EXPECT_EQ(builder.add(decoded("a", long_value)), HeadStatus::Fine);
  EXPECT_EQ(builder.finish_trailers(trailers), HeadStatus::TooLong);
  builder.start(HeadBuilder::Kind::Trailers, {.list_bytes = 200});
  EXPECT_EQ(builder.add(decoded("a", std::string(1000, 'b'))), HeadStatus::TooLong);
  builder.start(HeadBuilder::Kind::Trailers, {.fields = 1});
  EXPECT_EQ(builder.add(decoded("a", "b")), HeadStatus::Fine);
  EXPECT_EQ(builder.add(decoded("a", "b")), HeadStatus::Fine);
  EXPECT_EQ(builder.finish_trailers(trailers), HeadStatus::TooLong);
}

}  // namespace
}  // namespace skua::h2
