// SPDX-License-Identifier: MIT
#include "http/boundary.hpp"

#include <gtest/gtest.h>

#include <string>

namespace skua::http {
namespace {

Errc error_of(std::string_view content_type) {
  const auto boundary = parse_boundary(content_type);
  return boundary ? Errc::None : boundary.error().code();
}

TEST(Boundary, IsReadFromAContentType) {
  EXPECT_EQ(parse_boundary("multipart/form-data; boundary=abc").value().text(), "abc");
  EXPECT_EQ(parse_boundary("Multipart/Related;type=\"a/b\";BOUNDARY=\"a b\"").value().text(),
            "a b");
  EXPECT_EQ(parse_boundary("multipart/mixed; boundary=----=_P/1").value().text(), "----=_P/1");
  EXPECT_EQ(parse_boundary("multipart/mixed; boundary=abc").value().delimiter(), "\r\n--abc");
}

TEST(Boundary, IsWantedOfMultipartOnly) {
  for (const std::string_view other : {"", "text/plain; boundary=a", "multipart", "multipartx/a",
                                       "application/x-www-form-urlencoded"}) {
    EXPECT_EQ(error_of(other), Errc::UnsupportedMediaType) << other;
  }
}

TEST(Boundary, IsThereOnceAndValid) {
  for (const std::string_view bad :
       {"multipart/mixed", "multipart/mixed; boundary=", "multipart/mixed; boundary=\"\"",
        "multipart/mixed; boundary=a; boundary=a", "multipart/mixed; boundary=\"a \"",
        "multipart/mixed; boundary=a*b", "multipart/mixed; boundary=\"a\\\"b\"",
        "multipart/mixed; boundary=\"a\\b\"", "multipart/mixed; boundary=\xc3\xbc",
        "multipart/mixed; boundary=a; x", "multipart/mixed; boundary=\"a\tb\"",
        "multipart/mixed; boundary=a, b"}) {
    EXPECT_EQ(error_of(bad), Errc::MalformedMultipart) << bad;
  }
  const std::string longest(70, 'a');
  EXPECT_EQ(error_of("multipart/mixed; boundary=" + longest), Errc::None);
  EXPECT_EQ(error_of("multipart/mixed; boundary=a" + longest), Errc::MalformedMultipart);
}

TEST(Boundary, IsMadeUpAnewEachTime) {
  const Boundary one = Boundary::random();
  const Boundary other = Boundary::random();
  EXPECT_NE(one.text(), other.text());
  EXPECT_TRUE(Boundary::make(one.text()));
  EXPECT_GE(one.text().size(), 32U);
}

}  // namespace
}  // namespace skua::http
