// SPDX-License-Identifier: MIT
#include "http/form_reader.hpp"

#include <gtest/gtest.h>

#include <string>

namespace skua::http {
namespace {

constexpr std::string_view urlencoded = "application/x-www-form-urlencoded; charset=utf-8";
constexpr std::string_view multipart = "multipart/form-data; boundary=b";

// Returns the fields or the error, which must be the same for whole content and byte by byte.
std::string read(std::string_view type, std::string_view content, const FormLimits& limits = {}) {
  const auto whole = Form::parse_content(type, content, limits);
  FormReader reader(limits);
  Result<void> outcome = reader.start(type);
  for (std::size_t i = 0; outcome && i < content.size(); ++i)
    outcome = reader.read({&content[i], 1});
  const Result<Form> bytewise = outcome ? reader.finish() : Result<Form>(outcome.error());
  EXPECT_EQ(bytewise.has_value(), whole.has_value());
  if (bytewise.has_value() != whole.has_value()) return "differs";
  if (!whole) {
    EXPECT_EQ(bytewise.error().code(), whole.error().code());
    return std::string(message(whole.error().code()));
  }
  EXPECT_EQ(*bytewise, *whole);
  std::string out;
  for (const auto [name, value] : *whole) out.append(name).append("->").append(value).append(";");
  return out;
}

// Returns a part of a form with this Content-Disposition.
std::string part(std::string_view disposition, std::string_view content) {
  std::string out = "--b\r\nContent-Disposition: ";
  return out.append(disposition).append("\r\n\r\n").append(content).append("\r\n");
}

std::string sentence(Errc code) { return std::string(message(code)); }

TEST(FormReader, ReadsUrlencodedContent) {
  EXPECT_EQ(read(urlencoded, "a=1&b=%32+3"), "a->1;b->2 3;");
  EXPECT_EQ(read("APPLICATION/X-www-form-urlencoded", ""), "");
}

TEST(FormReader, ReadsTheTextFieldsOfMultipartContent) {
  EXPECT_EQ(read(multipart, part("form-data; name=\"a b\"", "1\r\n2") +
                                part("form-data; name=f; filename=x", "a file") +
                                part("form-data; name=none; filename=\"\"", "") +
                                part("form-data; name=\"\"", "") + "--b--\r\n"),
            "a b->1\r\n2;->;");
  EXPECT_EQ(read(multipart, "--b--"), "");
}

TEST(FormReader, WantsContentOfAForm) {
  for (const std::string_view type :
       {"", "text/plain", "application/json", "multipart/mixed;boundary=b"}) {
    EXPECT_EQ(read(type, "a=1"), sentence(Errc::UnsupportedMediaType)) << type;
  }
  EXPECT_EQ(read("multipart/form-data", "--b--"), sentence(Errc::MalformedMultipart));
}

TEST(FormReader, WantsOneNameForEachPart) {
  for (const std::string_view bad :
       {"form-data", "attachment; name=a", "form-data; name=a; name=b", "form-data; filename=a",
        "form-data; name=a\r\nContent-Disposition: form-data; name=b"}) {
    EXPECT_EQ(read(multipart, part(bad, "x") + "--b--"), sentence(Errc::MalformedMultipart)) << bad;
  }
  EXPECT_EQ(read(multipart, "--b\r\nA: 1\r\n\r\nx\r\n--b--"), sentence(Errc::MalformedMultipart));
  EXPECT_EQ(read(multipart, part("form-data; name=a", "x")), sentence(Errc::TruncatedBody));
}

TEST(FormReader, HoldsItsLimits) {
  const std::string two =
      part("form-data; name=a", "12") + part("form-data; name=b", "3") + "--b--";
  EXPECT_EQ(read(multipart, two, {.fields = 2, .total_bytes = 5}), "a->12;b->3;");
  EXPECT_EQ(read(multipart, two, {.fields = 1}), sentence(Errc::TooManyParts));
  EXPECT_EQ(read(multipart, two, {.total_bytes = 4}), sentence(Errc::BodyTooLong));
  EXPECT_EQ(read(multipart, two, {.total_bytes = 0}), sentence(Errc::BodyTooLong));
  EXPECT_EQ(read(urlencoded, "%61=%62&c=d", {.fields = 2, .total_bytes = 4}), "a->b;c->d;");
  EXPECT_EQ(read(urlencoded, "a=bcd", {.total_bytes = 3}), sentence(Errc::BodyTooLong));
  EXPECT_EQ(read(urlencoded, "a&b&c", {.fields = 2}), sentence(Errc::BodyTooLong));
  EXPECT_EQ(read(urlencoded, "a=1", {.fields = 1, .total_bytes = ~std::size_t{0}}), "a->1;");
  FormReader endless({.fields = 1, .total_bytes = 10});
  ASSERT_TRUE(endless.start(urlencoded));
  EXPECT_TRUE(endless.read(std::string(35, '&')));
  EXPECT_EQ(endless.read("&").error().code(), Errc::BodyTooLong);
}

TEST(FormReader, ASmallFieldBesideALargeFileCostsLittle) {
  const std::string content = part("form-data; name=f; filename=x", std::string(100'000, 'x')) +
                              part("form-data; name=a", "1") + "--b--";
  EXPECT_EQ(read(multipart, content, {.total_bytes = 10}), "a->1;");
}

}  // namespace
}  // namespace skua::http
