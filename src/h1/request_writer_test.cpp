// SPDX-License-Identifier: MIT
#include "h1/request_writer.hpp"

#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "h1/head_parser.hpp"

namespace skua::h1 {
namespace {

struct Request {
  RequestHead head{};
  std::string_view url = "http://example.com/";
  std::vector<std::pair<std::string_view, std::string_view>> fields{};
};

Result<std::string> write(const Request& request) {
  FieldLines fields;
  for (const auto& [name, value] : request.fields) fields.add(name, value);
  std::string out;
  const Result<void> written =
      append_request_head(request.head, Url::parse(request.url).value(), fields, out);
  if (!written) {
    EXPECT_EQ(out, "");
    return written.error();
  }
  return out;
}

std::string text(const Request& request) { return write(request).value(); }
Errc error(const Request& request) {
  const auto written = write(request);
  return written ? Errc::None : written.error().code();
}

TEST(RequestWriter, WritesTargetAndHost) {
  EXPECT_EQ(text({}), "GET / HTTP/1.1\r\nHost: example.com\r\n\r\n");
  EXPECT_EQ(text({.url = "http://user:pw@example.com:8080?a=b#top"}),
            "GET /?a=b HTTP/1.1\r\nHost: example.com:8080\r\n\r\n");
  EXPECT_EQ(text({.url = "https://example.com:443/a%20b/../c"}),
            "GET /a%20b/../c HTTP/1.1\r\nHost: example.com\r\n\r\n");
  EXPECT_EQ(text({.url = "http://[fe80::1%25eth0]:81/"}),
            "GET / HTTP/1.1\r\nHost: [fe80::1]:81\r\n\r\n");
  EXPECT_EQ(text({.url = "wss://example.com/chat"}),
            "GET /chat HTTP/1.1\r\nHost: example.com\r\n\r\n");
}

TEST(RequestWriter, WritesMethodsThatSkuaDoesNotKnow) {
  EXPECT_EQ(text({.head = {.other_method = "PURGE"}}),
            "PURGE / HTTP/1.1\r\nHost: example.com\r\n\r\n");
}

TEST(RequestWriter, WritesTheOtherForms) {
  EXPECT_EQ(text({.head = {.form = TargetForm::Absolute}, .url = "http://u:p@a.test:80?x#y"}),
            "GET http://a.test/?x HTTP/1.1\r\nHost: a.test\r\n\r\n");
  EXPECT_EQ(text({.head = {.form = TargetForm::Absolute}, .url = "https://a.test/b"}),
            "GET https://a.test/b HTTP/1.1\r\nHost: a.test\r\n\r\n");
  const RequestHead connect{.method = Method::Connect, .form = TargetForm::Authority};
  EXPECT_EQ(text({.head = connect, .url = "https://a.test/b"}),
            "CONNECT a.test:443 HTTP/1.1\r\nHost: a.test:443\r\n\r\n");
  EXPECT_EQ(text({.head = connect, .url = "http://[::1]:8080"}),
            "CONNECT [::1]:8080 HTTP/1.1\r\nHost: [::1]:8080\r\n\r\n");
  EXPECT_EQ(text({.head = {.method = Method::Options, .form = TargetForm::Asterisk}}),
            "OPTIONS * HTTP/1.1\r\nHost: example.com\r\n\r\n");
}

TEST(RequestWriter, FramesTheBody) {
  const auto framing = [](Method method, BodyField body, std::uint64_t length = 0) {
    const std::string written =
        text({.head = {.method = method, .body = body, .length_bytes = length}});
    const std::string_view start = "Host: example.com\r\n";
    return written.substr(written.find(start) + start.size());
  };
  for (const Method method : {Method::Get, Method::Head, Method::Delete, Method::Options}) {
    EXPECT_EQ(framing(method, BodyField::None), "\r\n") << name(method);
    EXPECT_EQ(framing(method, BodyField::Length), "\r\n") << name(method);
    EXPECT_EQ(framing(method, BodyField::Length, 5), "Content-Length: 5\r\n\r\n") << name(method);
  }
  for (const Method method : {Method::Post, Method::Put, Method::Patch}) {
    EXPECT_EQ(framing(method, BodyField::None), "Content-Length: 0\r\n\r\n") << name(method);
    EXPECT_EQ(framing(method, BodyField::Length), "Content-Length: 0\r\n\r\n") << name(method);
    EXPECT_EQ(framing(method, BodyField::Chunked), "Transfer-Encoding: chunked\r\n\r\n");
  }
  EXPECT_EQ(framing(Method::Put, BodyField::Length, ~std::uint64_t{0}),
            "Content-Length: 18446744073709551615\r\n\r\n");
  EXPECT_EQ(error({.head = {.method = Method::Trace, .body = BodyField::Chunked}}),
            Errc::Unsupported);
  EXPECT_EQ(error({.head = {.method = Method::Connect,
                            .form = TargetForm::Authority,
                            .body = BodyField::Length,
                            .length_bytes = 1}}),
            Errc::Unsupported);
}

TEST(RequestWriter, FieldsFollowAndNoneIsTwice) {
  EXPECT_EQ(text({.fields = {{"Accept", "*/*"}, {"X", ""}}}),
            "GET / HTTP/1.1\r\nHost: example.com\r\nAccept: */*\r\nX: \r\n\r\n");
  EXPECT_EQ(text({.head = {.connection = ConnectionField::Close},
                  .fields = {{"A", "b"}, {"host", "Other.test"}}}),
            "GET / HTTP/1.1\r\nHost: Other.test\r\nConnection: close\r\nA: b\r\n\r\n");
  const std::string written = text({.head = {.method = Method::Post, .body = BodyField::Chunked},
                                    .fields = {{"content-length", "7"},
                                               {"A", "b"},
                                               {"TRANSFER-ENCODING", "gzip"},
                                               {"Content-Length", "8"},
                                               {"Expect", "100-continue"}}});
  EXPECT_EQ(written,
            "POST / HTTP/1.1\r\nHost: example.com\r\nTransfer-Encoding: chunked\r\n"
            "A: b\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_EQ(text({.fields = {{"Expect", "100-continue"}, {"A", "b"}}}),
            "GET / HTTP/1.1\r\nHost: example.com\r\nA: b\r\n\r\n");
}

TEST(RequestWriter, HostIsOneAndThatOfTheTarget) {
  EXPECT_EQ(error({.fields = {{"Host", "a"}, {"Host", "a"}}}), Errc::InvalidHost);
  for (const std::string_view bad : {"", "a b", "a,b", "a/b", "u@a", "a:b", "[::1", "a%41"}) {
    EXPECT_EQ(error({.fields = {{"Host", bad}}}), Errc::InvalidHost) << bad;
  }
  EXPECT_EQ(error({.url = "http://ex%41mple.com/"}), Errc::InvalidHost);
  EXPECT_EQ(error({.head = {.form = TargetForm::Absolute}, .fields = {{"Host", "other.test"}}}),
            Errc::InvalidHost);
  EXPECT_EQ(text({.head = {.form = TargetForm::Absolute}, .fields = {{"Host", "EXAMPLE.com:80"}}}),
            "GET http://example.com/ HTTP/1.1\r\nHost: EXAMPLE.com:80\r\n\r\n");
}

TEST(RequestWriter, RefusesWhatIsNoRequest) {
  for (const std::string_view url : {"", "/path", "ftp://a/", "mailto:a@b", "http:a", "//a/b"}) {
    EXPECT_EQ(error({.url = url}), Errc::MalformedUrl) << url;
  }
  EXPECT_EQ(error({.head = {.form = TargetForm::Asterisk}}), Errc::MalformedTarget);
  EXPECT_EQ(error({.head = {.form = TargetForm::Authority}}), Errc::MalformedTarget);
  EXPECT_EQ(error({.head = {.method = Method::Connect}}), Errc::MalformedTarget);
}

// The parser of our own server reads back what was written, with nothing after it.
TEST(RequestWriter, WhatItWritesOurServerReads) {
  static const std::string_view urls[] = {
      "http://a.test",          "https://a.test:8443/x?y=z&[]",   "http://127.0.0.1/a;b=c,d/(e)",
      "http://[::1]/?a?b/c:@!", "http://u@a_b.test:80/%00%0d%0a", "ws://a.test/'*~"};
  const RequestHead heads[] = {{},
                               {.method = Method::Head},
                               {.method = Method::Post, .body = BodyField::Chunked},
                               {.method = Method::Patch, .connection = ConnectionField::Close},
                               {.method = Method::Put,
                                .form = TargetForm::Absolute,
                                .body = BodyField::Length,
                                .length_bytes = 77},
                               {.method = Method::Connect, .form = TargetForm::Authority},
                               {.method = Method::Options, .form = TargetForm::Asterisk}};
  for (const std::string_view url : urls) {
    const auto parsed = Url::parse(url);
    if (!parsed) continue;  // not a URL, so not a request
    for (const RequestHead& head : heads) {
      const std::string written = text({.head = head, .url = url, .fields = {{"A", "b"}}});
      std::array<http::FieldLine, 16> lines;
      HeadParser parser(HeadKind::Request, {}, lines);
      ASSERT_EQ(parser.parse(written), ParseStatus::Complete) << written;
      EXPECT_EQ(parser.head().size_bytes, written.size()) << written;
      EXPECT_EQ(parser.head().method, head.method);
      const Result<Framing> framing = frame_request(parser.head());
      ASSERT_TRUE(framing) << framing.error().message() << "\n" << written;
      EXPECT_EQ(framing->form, head.form) << written;
      EXPECT_EQ(framing->keep_alive, head.connection != ConnectionField::Close);
      EXPECT_EQ(framing->length_bytes, head.length_bytes);
      EXPECT_EQ(framing->body == BodyKind::Chunked, head.body == BodyField::Chunked);
      EXPECT_EQ(http::host_of(framing->host), parsed->host());
    }
  }
}

TEST(RequestWriter, ATargetReplacesThePathAndTheQuery) {
  const std::string written =
      text({.head = {.target = "/b%2F?c=%zz"}, .url = "http://a:1/path?query", .fields = {}});
  EXPECT_EQ(written, "GET /b%2F?c=%zz HTTP/1.1\r\nHost: a:1\r\n\r\n");
}

}  // namespace
}  // namespace skua::h1
