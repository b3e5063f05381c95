// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <chrono>
#include <stdexcept>
#include <string>

#include "skua/cookie.hpp"

namespace skua {
namespace {

using namespace std::chrono_literals;

TEST(CookieFormat, IsStrictByDefault) {
  EXPECT_EQ(format_set_cookie("a", "b", {}), "a=b; Path=/; Secure; HttpOnly; SameSite=Lax");
}

TEST(CookieFormat, CarriesItsAttributes) {
  EXPECT_EQ(
      format_set_cookie("a", "\"b\"",
                        {.max_age = 1h, .path = "/x", .domain = "example.com", .http_only = false}),
      "a=\"b\"; Max-Age=3600; Path=/x; Domain=example.com; Secure; SameSite=Lax");
  EXPECT_EQ(
      format_set_cookie(
          "a", "", {.max_age = -1s, .path = "", .secure = false, .same_site = SameSite::Strict}),
      "a=; Max-Age=0; HttpOnly; SameSite=Strict");
  EXPECT_EQ(format_set_cookie("__Host-a", "b", {.same_site = SameSite::None}),
            "__Host-a=b; Path=/; Secure; HttpOnly; SameSite=None");
}

TEST(CookieFormat, SaysExpiresBesideMaxAge) {
  const std::chrono::sys_seconds time{784111777s};
  EXPECT_EQ(format_set_cookie("a", "b", {.max_age = 60s, .expires = time + 900ms}),
            "a=b; Max-Age=60; Expires=Sun, 06 Nov 1994 08:49:37 GMT; Path=/; Secure; HttpOnly; "
            "SameSite=Lax");
}

TEST(CookieFormat, IsPartitionedOnlyWhenSecure) {
  EXPECT_EQ(format_set_cookie("a", "b", {.same_site = SameSite::None, .partitioned = true}),
            "a=b; Path=/; Secure; HttpOnly; SameSite=None; Partitioned");
  EXPECT_THROW((void)format_set_cookie("a", "b", {.secure = false, .partitioned = true}),
               std::invalid_argument);
}

TEST(CookieFormat, RefusesWhatABrowserWouldReadDifferently) {
  for (const char* const name : {"", "a b", "a=", "a;", "a\r\n", "\"a\""}) {
    EXPECT_THROW((void)format_set_cookie(name, "b", {}), std::invalid_argument) << name;
  }
  for (const char* const value :
       {"a b", "a;b", "a,b", "a\"b", "a\\b", "a\r\nb", "\x01", "\xc3\xbc", "\""}) {
    EXPECT_THROW((void)format_set_cookie("a", value, {}), std::invalid_argument) << value;
  }
  EXPECT_THROW((void)format_set_cookie("a", "b", {.path = "/; Domain=x"}), std::invalid_argument);
  EXPECT_THROW((void)format_set_cookie("a", "b", {.path = "/\r\n"}), std::invalid_argument);
  EXPECT_THROW((void)format_set_cookie("a", "b", {.domain = "x; Secure"}), std::invalid_argument);
  EXPECT_THROW((void)format_set_cookie("a", "b", {.secure = false, .same_site = SameSite::None}),
               std::invalid_argument);
  EXPECT_THROW((void)format_set_cookie("__Secure-a", "b", {.secure = false}),
               std::invalid_argument);
  EXPECT_THROW((void)format_set_cookie("__host-a", "b", {.path = "/x"}), std::invalid_argument);
  EXPECT_THROW((void)format_set_cookie("__Host-a", "b", {.domain = "example.com"}),
               std::invalid_argument);
}

TEST(CookieFormat, RefusesWhatABrowserWouldDrop) {
  EXPECT_NO_THROW((void)format_set_cookie("a", std::string(4095, 'b')));
  EXPECT_THROW((void)format_set_cookie("a", std::string(4096, 'b')), std::invalid_argument);
  EXPECT_THROW((void)format_set_cookie("a", "b", {.path = "x"}), std::invalid_argument);
  const std::string path = "/" + std::string(1024, 'b');
  EXPECT_THROW((void)format_set_cookie("a", "b", {.path = path}), std::invalid_argument);
  EXPECT_THROW((void)format_set_cookie("a", "b", {.domain = path.substr(1) + "c"}),
               std::invalid_argument);
}

TEST(CookieFormat, WritesTheNetscapeForm) {
  const std::chrono::sys_seconds time{784111777s};
  EXPECT_EQ(
      format_set_cookie("a", "b", {.domain = "example.com", .expires = time}, CookieForm::Netscape),
      "a=b; Expires=Sun, 06-Nov-1994 08:49:37 GMT; Path=/; Domain=example.com; Secure; "
      "HttpOnly; SameSite=Lax");
  EXPECT_EQ(format_set_cookie("a", "", {.max_age = -1s, .path = ""}, CookieForm::Netscape),
            "a=; Expires=Thu, 01-Jan-1970 00:00:00 GMT; Secure; HttpOnly; SameSite=Lax");
  EXPECT_THROW((void)format_set_cookie("a", "b", {.max_age = 1s}, CookieForm::Netscape),
               std::invalid_argument);
}

TEST(CookieFormat, WritesTheFormOfRfc2109) {
  EXPECT_EQ(format_set_cookie("a", "b", {.max_age = 1h, .path = "/x\"\\"}, CookieForm::Rfc2109),
            "a=\"b\"; Version=\"1\"; Max-Age=\"3600\"; Path=\"/x\\\"\\\\\"; Secure; HttpOnly; "
            "SameSite=Lax");
  EXPECT_EQ(format_set_cookie("a", "\"b\"", {.secure = false, .same_site = SameSite::Strict},
                              CookieForm::Rfc2109),
            "a=\"b\"; Version=\"1\"; Path=\"/\"; HttpOnly; SameSite=Strict");
}

TEST(CookieFormat, QuotesNoPathOfAHostCookie) {
  EXPECT_NO_THROW((void)format_set_cookie("__Host-a", "b", {}));
  EXPECT_THROW((void)format_set_cookie("__Host-a", "b", {}, CookieForm::Rfc2109),
               std::invalid_argument);
}

TEST(CookieFormat, EscapesAnyTextAndGivesItBack) {
  EXPECT_EQ(escape_cookie("a b;c,d\"e\\f%g=\xc3\xbc\n"), "a%20b%3Bc%2Cd%22e%5Cf%25g=%C3%BC%0A");
  std::string every;
  for (int c = 0; c < 256; ++c) every += static_cast<char>(c);
  EXPECT_EQ(unescape_cookie(escape_cookie(every)).value(), every);
  EXPECT_NO_THROW((void)format_set_cookie("a", escape_cookie(every)));
  EXPECT_EQ(unescape_cookie("\"a%20b\"").value(), "a b");
  EXPECT_EQ(unescape_cookie("\"").value(), "\"");
  EXPECT_EQ(unescape_cookie("%zz").error().code(), Errc::MalformedCookie);
}

TEST(CookieField, HoldsTheCookiesOfARequest) {
  EXPECT_EQ(CookieField().text(), "");
  EXPECT_EQ(CookieField().add("a", "b").add("c", "d e").add("", "naked").text(),
            "a=b; c=d e; naked");
  SetCookie cookie;
  cookie.name = "a";
  cookie.value = "b\"";
  cookie.path = "/x";
  cookie.domain = "example.com";
  EXPECT_EQ(CookieField().add(cookie).text(), "a=b\"");
  EXPECT_EQ(CookieField(CookieForm::Netscape).add(cookie).add("c", "d").text(), "a=b\"; c=d");
  EXPECT_EQ(CookieField(CookieForm::Rfc2109).add(cookie).add("c", "\"d\"").text(),
            "$Version=\"1\"; a=\"b\\\"\"; $Path=\"/x\"; $Domain=\"example.com\"; c=\"d\"");
  EXPECT_EQ(CookieField(CookieForm::Rfc2109).add("", "b").add("$Path", "c").text(), "");
}

TEST(CookieField, RefusesWhatWouldBeAnotherCookie) {
  CookieField field;
  EXPECT_THROW(field.add("a", "b; c=d"), std::invalid_argument);
  EXPECT_THROW(field.add("a", "b\r\nX: y"), std::invalid_argument);
  EXPECT_THROW(field.add("a=b", "c"), std::invalid_argument);
  EXPECT_THROW(field.add("", "__Host-a=b"), std::invalid_argument);
  EXPECT_EQ(field.text(), "");
}

}  // namespace
}  // namespace skua
