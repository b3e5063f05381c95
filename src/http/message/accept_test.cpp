// SPDX-License-Identifier: MIT
#include "skua/accept.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "http/message/field.hpp"
#include "http/message/request_parts.hpp"

namespace skua {
namespace {

using Lines = std::vector<std::string_view>;

// A request with these lines of one field.
class Asking {
 public:
  Asking(std::string_view name, const Lines& values) {
    for (const std::string_view value : values) {
      http::FieldLine line;
      line.name = http::find_field_name(name);
      line.value_begin = static_cast<std::uint32_t>(text_.size());
      line.value_bytes = static_cast<std::uint16_t>(value.size());
      text_.append(value);
      fields_.push_back(line);
      head_.known |= std::uint64_t{1} << static_cast<unsigned>(line.name);
    }
    head_.base = text_.data();
    head_.fields = fields_;
    parts_.head = &head_;
  }
  [[nodiscard]] const Request& request() const { return request_; }

 private:
  std::string text_;
  std::vector<http::FieldLine> fields_;
  http::Head head_;
  http::RequestParts parts_;
  Request request_{parts_};
};

std::string type(const Lines& lines, const Lines& offers) {
  return std::string(preferred_type(Asking("Accept", lines).request(), offers).value_or("nothing"));
}
std::string language(const Lines& lines, const Lines& offers) {
  return std::string(
      preferred_language(Asking("Accept-Language", lines).request(), offers).value_or("nothing"));
}
std::string encoding(const Lines& lines, const Lines& offers = {"zstd", "br", "gzip"}) {
  return std::string(
      preferred_encoding(Asking("Accept-Encoding", lines).request(), offers).value_or("nothing"));
}

TEST(Accept, TheMostSpecificRangeDecides) {
  // RFC 9110 §12.5.1
  const Lines field{
      "text/*;q=0.3, text/plain;q=0.7, text/plain;format=flowed, "
      "text/plain;format=fixed;q=0.4, */*;q=0.5"};
  EXPECT_EQ(type(field, {"text/html", "image/jpeg"}), "image/jpeg");
  EXPECT_EQ(type(field, {"image/jpeg", "text/plain"}), "text/plain");
  EXPECT_EQ(type(field, {"text/plain", "text/plain;format=flowed"}), "text/plain;format=flowed");
  EXPECT_EQ(type(field, {"text/plain; format=fixed", "image/png"}), "image/png");
  EXPECT_EQ(type(field, {"text/plain; charset=utf-8", "image/png"}), "text/plain; charset=utf-8");
}

TEST(Accept, OfEqualsTheEarlierOfferIsTaken) {
  EXPECT_EQ(type({"text/html, application/json"}, {"application/json", "text/html"}),
            "application/json");
  EXPECT_EQ(type({"*/*"}, {"b/b", "a/a"}), "b/b");
  EXPECT_EQ(type({}, {"b/b", "a/a"}), "b/b") << "no Accept field";
}

TEST(Accept, WhatIsNotAcceptedIsNotOffered) {
  EXPECT_EQ(type({"text/html"}, {"application/json"}), "nothing");
  EXPECT_EQ(type({"*/*, text/html;q=0"}, {"text/html"}), "nothing");
  EXPECT_EQ(type({"text/html;q=0.000"}, {"text/html"}), "nothing");
  EXPECT_EQ(type({""}, {"text/html"}), "nothing");
  EXPECT_EQ(type({"text/html"}, {}), "nothing");
}

TEST(Accept, LinesAreOneList) {
  EXPECT_EQ(type({"text/html;q=0.5", "application/json"}, {"text/html", "application/json"}),
            "application/json");
}

TEST(Accept, LettersHaveNoCaseAndSpaceIsFree) {
  EXPECT_EQ(
      type({" TEXT/HTML ; Q=0.4 ,\tApplication/JSON\t;q=0.5"}, {"text/html", "application/json"}),
      "application/json");
}

TEST(Accept, AQuotedCommaIsNoEnd) {
  EXPECT_EQ(type({R"(a/b;x="1,\",2";q=0.5, c/d;q=0.6)"}, {"a/b;x=y", "c/d"}), "c/d");
  EXPECT_EQ(type({R"(a/b;x="y")"}, {"a/b;x=y"}), "a/b;x=y");
  EXPECT_EQ(type({R"(a/b;x="y, c/d)"}, {"a/b", "c/d"}), "nothing") << "unterminated quote";
}

TEST(Accept, MalformedMembersCountForNothing) {
  for (const std::string_view wrong :
       {"a/b;q", "a/b;q=", "a/b;q=2", "a/b;q=1.001", "a/b;q=0.1234", "a/b;q=.5", "a/b;q=-1",
        "a/b;q= 1", "a/b ;q =1", "a/b;q=1e0", "a/b;=1", "a/b;x=\"", "a b;q=1", "a/b x", "a/b;x=y z",
        ";q=1", "a/b;q=\"", "*/b", "\"a/b\""}) {
    EXPECT_EQ(type({wrong}, {"a/b"}), "nothing") << wrong;
    const std::string list = "c/d;q=0.1, ," + std::string(wrong);
    EXPECT_EQ(type({list}, {"a/b", "c/d"}), "c/d") << wrong;
  }
  for (const std::string_view right : {"a/b;q=1.", "a/b;q=0.001", "a/b;q=1.000", "a/b;;q=1", "a/b;",
                                       "a/b;q=1;ext", "a/b;q=\"1\"", ",,a/b,"}) {
    EXPECT_EQ(type({right}, {"a/b"}), "a/b") << right;
  }
}

TEST(AcceptEncoding, TheServerChoosesAmongEquals) {
  EXPECT_EQ(encoding({"gzip, deflate, br, zstd"}), "zstd");
  EXPECT_EQ(encoding({"gzip, deflate, br"}), "br");
  EXPECT_EQ(encoding({"gzip"}), "gzip");
  EXPECT_EQ(encoding({"x-gzip"}), "gzip");
  EXPECT_EQ(encoding({"GZIP;q=1.0, br;q=0.9, zstd;q=0.9"}), "gzip");
  EXPECT_EQ(encoding({"deflate"}), "identity");
}

TEST(AcceptEncoding, IdentityIsFineUnlessItIsRefused) {
  EXPECT_EQ(encoding({}), "identity");
  EXPECT_EQ(encoding({""}), "identity");
  EXPECT_EQ(encoding({"gzip;q=0"}), "identity");
  EXPECT_EQ(encoding({"gzip;q=0.001"}), "gzip") << "identity is not listed";
  EXPECT_EQ(encoding({"identity, gzip;q=0.5"}), "identity");
  EXPECT_EQ(encoding({"identity;q=0.5, gzip;q=0.5"}), "gzip");
  EXPECT_EQ(encoding({"identity;q=0"}), "nothing");
  EXPECT_EQ(encoding({"identity;q=0, br"}), "br");
  EXPECT_EQ(encoding({"*;q=0"}), "nothing");
  EXPECT_EQ(encoding({"*;q=0, identity"}), "identity");
  EXPECT_EQ(encoding({"*;q=0, gzip;q=0.1"}), "gzip");
}

TEST(AcceptEncoding, AnAsteriskIsAllThatIsNotNamed) {
  EXPECT_EQ(encoding({"*"}), "zstd");
  EXPECT_EQ(encoding({"zstd;q=0, *"}), "br");
  EXPECT_EQ(encoding({"*;q=0.5, gzip"}), "gzip");
  EXPECT_EQ(encoding({"*;q=0.5, zstd;q=0.1, br;q=0.1, gzip;q=0.1"}), "identity");
}

TEST(AcceptLanguage, ARangeAcceptsWhatBeginsWithIt) {
  EXPECT_EQ(language({"de, en;q=0.5"}, {"en", "de-CH"}), "de-CH");
  EXPECT_EQ(language({"de-CH;q=0.2, de, en;q=0.5"}, {"de-CH", "en"}), "en");
  EXPECT_EQ(language({"de"}, {"den", "de"}), "de");
  EXPECT_EQ(language({"fr"}, {"en", "de"}), "nothing");
  EXPECT_EQ(language({"fr, *;q=0.1"}, {"en", "de"}), "en");
  EXPECT_EQ(language({}, {"en", "de"}), "en");
  EXPECT_EQ(language({"DE-ch"}, {"en", "de-CH"}), "de-CH");
}

TEST(AcceptLanguage, ForWantOfBetterALongerRangeAcceptsItsBeginning) {
  EXPECT_EQ(language({"de-CH, en;q=0.5"}, {"en", "de"}), "de");
  EXPECT_EQ(language({"de-CH, de;q=0.1, en;q=0.5"}, {"en", "de"}), "en");
  EXPECT_EQ(language({"de-CH;q=0, *"}, {"de"}), "de");
}

TEST(Accept, TakesAListInBraces) {
  const Asking asking("Accept", {"a/b"});
  EXPECT_EQ(preferred_type(asking.request(), {"c/d", "a/b"}), "a/b");
  EXPECT_EQ(preferred_language(asking.request(), {"en"}), "en");
  EXPECT_EQ(preferred_encoding(asking.request(), {"gzip"}), "identity");
}

}  // namespace
}  // namespace skua
