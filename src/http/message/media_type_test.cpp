// SPDX-License-Identifier: MIT
#include "http/message/media_type.hpp"

#include <gtest/gtest.h>

#include <string>

namespace skua::http {
namespace {

std::string parameters_of(std::string_view text) {
  std::string out;
  Parameters parameters(text);
  while (const auto parameter = parameters.next()) {
    std::string value(parameter->value);
    if (parameter->is_quoted) value.resize(unescape_quoted(value, value.data()));
    out.append(parameter->name).append("->").append(value).append(";");
  }
  return out + (parameters.is_malformed() ? "malformed" : "");
}

TEST(MediaType, ReadsTypeAndSubtype) {
  const auto media = parse_media_type(" Text/HTML ;charset=utf-8 ");
  ASSERT_TRUE(media);
  EXPECT_TRUE(media->is("text", "html"));
  EXPECT_FALSE(media->is("text", "htm"));
  EXPECT_FALSE(media->is("image", "html"));
  EXPECT_EQ(media->parameters, ";charset=utf-8");
  EXPECT_TRUE(parse_media_type("application/vnd.api+json"));
}

TEST(MediaType, RefusesWhatIsNone) {
  for (const std::string_view bad : {"", "text", "/html", "text/", "text /html", "text/ html",
                                     "text/html charset=utf-8", "te xt/html", "text/html, a/b"}) {
    EXPECT_FALSE(parse_media_type(bad)) << bad;
  }
}

TEST(Parameters, AreReadInTheirOrder) {
  EXPECT_EQ(parameters_of(""), "");
  EXPECT_EQ(parameters_of(";a=b;C=\"d e\" ; f=\"\""), "a->b;C->d e;f->;");
  EXPECT_EQ(parameters_of(" ;; a=b ; ;"), "a->b;");
  EXPECT_EQ(parameters_of(";a=\"b;c=d\";e=f"), "a->b;c=d;e->f;");
}

TEST(Parameters, NeedNoQuotesWhereAnyoneUnderstandsThem) {
  EXPECT_EQ(parameters_of(";boundary=----=_Part/1:2?"), "boundary->----=_Part/1:2?;");
  EXPECT_EQ(parameters_of(";filename=\xc3\xbc.txt"), "filename->\xc3\xbc.txt;");
}

TEST(Parameters, UnescapeQuotesAndBackslashesOnly) {
  EXPECT_EQ(parameters_of(R"(;a="b\"c\\d")"), R"(a->b"c\d;)");
  EXPECT_EQ(parameters_of(R"(;a="C:\dir\file")"), R"(a->C:\dir\file;)");
}

TEST(Parameters, SayWhenTheyAreMalformed) {
  for (const std::string_view bad :
       {"a", "a=b", ";a", ";=b", ";a=", ";a =b", ";a= b", ";a=b c", ";a=\"b", ";a=\"b\"c",
        ";a=\"b\\\"", ";a=b,", ";a=b\"c\"", ";a=\"\x01\"", ";a=\"\n\"", ";a=b\\", ";@=b"}) {
    EXPECT_EQ(parameters_of(bad), "malformed") << bad;
  }
  EXPECT_EQ(parameters_of(";a=b;c"), "a->b;malformed");
}

}  // namespace
}  // namespace skua::http
