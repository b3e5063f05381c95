// SPDX-License-Identifier: MIT
#include "h1/request_line.hpp"

#include <gtest/gtest.h>

#include <string>

namespace skua::h1 {
namespace {

std::string seen(std::string_view received) {
  const http::Head head = read_request_line(received);
  return std::string(head.target_bytes == 0 ? "" : head.method_name()) + " " +
         std::string(head.target());
}

TEST(RequestLine, IsReadAsFarAsItCanBeSeen) {
  EXPECT_EQ(seen("GET /a HTTP/1.1\r\nHost a\r\n"), "GET /a");
  EXPECT_EQ(seen("\r\n\r\nget /a HTTP/1.1\r\n"), "get /a");
  EXPECT_EQ(seen("POST /a\"b HTTP/1.1"), "POST /a\"b");
  EXPECT_EQ(seen("REPORT /a\nX"), "REPORT /a");
  EXPECT_EQ(seen("PUT /unfinish"), "PUT /unfinish");
  EXPECT_EQ(seen("GET /\tHTTP/1.1"), "GET /");
  EXPECT_EQ(seen("GET /a\x1b[31m HTTP/1.1"), "GET /a");
  EXPECT_EQ(seen("GET /a\x7f HTTP/1.1"), "GET /a");
  EXPECT_EQ(seen("GET /m\xc3\xb6we HTTP/1.1"), "GET /m\xc3\xb6we");
  EXPECT_EQ(read_request_line("GET /" + std::string(70'000, 'a')).target_bytes, 65'535U);
}

TEST(RequestLine, IsEmptyIfThereIsNone) {
  for (const std::string_view received :
       {"", "\r\n", "nonsense\r\n", " /a HTTP/1.1", "\x16\x03\x01 \x02", "GET",
        "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA /a"}) {
    EXPECT_EQ(seen(received), " ") << received;
  }
}

}  // namespace
}  // namespace skua::h1
