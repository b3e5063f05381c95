// SPDX-License-Identifier: MIT
#include "h1/framing.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>

#include "h1/head_parser.hpp"

namespace skua::h1 {
namespace {

/// A parsed head together with the memory that it views.
class Parsed {
 public:
  explicit Parsed(std::string text, HeadKind kind = HeadKind::Request)
      : text_(std::move(text)), parser_(kind, {}, storage_) {
    EXPECT_EQ(parser_.parse(text_), ParseStatus::Complete) << text_;
  }
  Parsed(const Parsed&) = delete;
  Parsed& operator=(const Parsed&) = delete;
  [[nodiscard]] const http::Head& head() const { return parser_.head(); }

 private:
  std::array<http::FieldLine, 32> storage_;
  std::string text_;
  HeadParser parser_;
};

std::string post(std::string_view fields) {
  return "POST / HTTP/1.1\r\nHost: a\r\n" + std::string(fields) + "\r\n";
}

Errc error_of(const std::string& text) {
  const Parsed parsed(text);
  const Result<Framing> framing = frame_request(parsed.head());
  return framing ? Errc::None : framing.error().code();
}

TEST(Framing, ABodyHasALengthIsChunkedOrIsNotThere) {
  const Parsed length(post("Content-Length: 0042\r\n"));
  EXPECT_EQ(frame_request(length.head())->body, BodyKind::Length);
  EXPECT_EQ(frame_request(length.head())->length_bytes, 42U);
  const Parsed chunked(post("Transfer-Encoding: CHUNKED\r\n"));
  EXPECT_EQ(frame_request(chunked.head())->body, BodyKind::Chunked);
  const Parsed none(post(""));
  EXPECT_EQ(frame_request(none.head())->body, BodyKind::None);
  EXPECT_FALSE(frame_request(none.head())->has_content_length);
  const Parsed zero(post("Content-Length: 0\r\n"));
  EXPECT_EQ(frame_request(zero.head())->body, BodyKind::None);
  EXPECT_TRUE(frame_request(zero.head())->has_content_length);
}

TEST(Framing, RefusesEveryDoubtfulTransferEncoding) {
  for (const char* value :
       {"", ",", "chunked,", ",chunked", "chunked, chunked", "gzip", "chunked, gzip", "identity",
        "xchunked", "chunked;a=b", "\"chunked\"", "chun ked"}) {
    EXPECT_EQ(error_of(post("Transfer-Encoding: " + std::string(value) + "\r\n")),
              Errc::InvalidTransferEncoding)
        << value;
  }
  EXPECT_EQ(error_of(post("Transfer-Encoding: gzip, chunked\r\n")),
            Errc::UnsupportedTransferCoding);
  EXPECT_EQ(error_of(post("Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n")),
            Errc::UnsupportedTransferCoding);
  EXPECT_EQ(error_of(post("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n")),
            Errc::InvalidTransferEncoding);
}

TEST(Framing, RefusesEveryDoubtfulContentLength) {
  for (const char* value :
       {"", "+1", "-1", "1,1", "1, 1", "1 1", "0x1", "1.0", "9223372036854775808",
        "18446744073709551616", "99999999999999999999999"}) {
    EXPECT_EQ(error_of(post("Content-Length: " + std::string(value) + "\r\n")),
              Errc::InvalidContentLength)
        << value;
  }
  EXPECT_EQ(error_of(post("Content-Length: 9223372036854775807\r\n")), Errc::None);
}

TEST(Framing, ConnectionTokensDecideWhetherTheConnectionLives) {
  const auto keeps = [](const std::string& version, const std::string& fields) {
    const Parsed parsed("GET / " + version + "\r\nHost: a\r\n" + fields + "\r\n");
    return frame_request(parsed.head())->keep_alive;
  };
  EXPECT_TRUE(keeps("HTTP/1.1", ""));
  EXPECT_FALSE(keeps("HTTP/1.0", ""));
  EXPECT_TRUE(keeps("HTTP/1.0", "Connection: foo, Keep-Alive\r\n"));
  EXPECT_FALSE(keeps("HTTP/1.1", "Connection: keep-alive\r\nConnection: ,\tCLOSE ,x\r\n"));
  EXPECT_FALSE(keeps("HTTP/1.0", "Connection: close, keep-alive\r\n"));
  EXPECT_TRUE(keeps("HTTP/1.1", "Connection: closed, enclose\r\n"));
}

TEST(Framing, AnAbsoluteTargetOverrulesAHostThatAgreesWithIt) {
  const Parsed parsed("GET http://Example.com:80/a?b HTTP/1.1\r\nHost: example.COM\r\n\r\n");
  const Result<Framing> framing = frame_request(parsed.head());
  ASSERT_TRUE(framing);
  EXPECT_EQ(framing->form, TargetForm::Absolute);
  EXPECT_EQ(framing->host, "Example.com:80");
  EXPECT_EQ(framing->path_and_query, "/a?b");
}

TEST(Framing, FollowsAHeadThatIsCopied) {
  const std::string text =
      "GET /a?b HTTP/1.1\r\nHost: x\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n";
  const Parsed parsed(text);
  Framing framing = *frame_request(parsed.head());
  const std::string copy(text.size(), 'x');
  framing.move({parsed.head().base, text.size()}, copy.data());
  EXPECT_EQ(framing.host.data() - copy.data(), static_cast<std::ptrdiff_t>(text.find("x\r\n")));
  EXPECT_EQ(framing.host.size(), 1U);
  EXPECT_EQ(framing.path_and_query.data(), copy.data() + 4);
  EXPECT_EQ(framing.upgrade.data() - copy.data(),
            static_cast<std::ptrdiff_t>(text.find("websocket")));
  framing = Framing{.path_and_query = "*"};
  framing.move(text, copy.data());
  EXPECT_EQ(framing.path_and_query, "*");
  EXPECT_EQ(framing.host, "");
}

TEST(Framing, AResponseWithoutALengthEndsWithTheConnection) {
  const Parsed parsed("HTTP/1.1 200 OK\r\n\r\n", HeadKind::Response);
  const Result<Framing> framing = frame_response(parsed.head(), Method::Get);
  EXPECT_EQ(framing->body, BodyKind::UntilClose);
  EXPECT_FALSE(framing->keep_alive);
  EXPECT_EQ(frame_response(parsed.head(), Method::Head)->body, BodyKind::None);
  EXPECT_TRUE(frame_response(parsed.head(), Method::Head)->keep_alive);
}

TEST(Framing, SomeResponsesHaveNoBodyWhateverTheirFieldsSay) {
  for (const char* status : {"101", "204", "304"}) {
    const Parsed parsed("HTTP/1.1 " + std::string(status) + " x\r\nContent-Length: 5\r\n\r\n",
                        HeadKind::Response);
    EXPECT_EQ(frame_response(parsed.head(), Method::Get)->body, BodyKind::None);
    EXPECT_EQ(frame_response(parsed.head(), Method::Get)->length_bytes, 5U);
  }
  const Parsed tunnel("HTTP/1.1 200 x\r\nTransfer-Encoding: gzip\r\n\r\n", HeadKind::Response);
  EXPECT_EQ(frame_response(tunnel.head(), Method::Connect)->body, BodyKind::None);
}

}  // namespace
}  // namespace skua::h1
