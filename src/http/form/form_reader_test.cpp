// SPDX-License-Identifier: MIT

#include <gtest/gtest.h>
#include <string>

#include "http/form/form_reader.hpp"
#include "skua/form.hpp"

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

namespace skua {
namespace {

std::string fields_of(const Form& form) {
  std::string out;
  for (const auto [name, value] : form) out.append(name).append("->").append(value).append(";");
  return out;
}

std::string read(std::string_view text) { return fields_of(Form::parse(text).value()); }

TEST(Form, ReadsFieldsInTheirOrder) {
  EXPECT_EQ(read(""), "");
  EXPECT_EQ(read("b=1&a=2&b=3"), "b->1;a->2;b->3;");
  EXPECT_EQ(read("&&a&=b&c==&"), "a->;->b;c->=;");
  EXPECT_EQ(read("="), "->;");
}

TEST(Form, DecodesNamesAndValues) {
  EXPECT_EQ(read("a+b=c+d"), "a b->c d;");
  EXPECT_EQ(read("%61%3d=%26%2B%25"), "a=->&+%;");
  EXPECT_EQ(read("n=%c3%BC"), "n->\xc3\xbc;");
  EXPECT_EQ(read("n=%00").size(), 5U);
}

TEST(Form, KeepsWhatIsNoPercentEncoding) {
  EXPECT_EQ(read("a=100%&b=%4&c=%zz&d=%%41"), "a->100%;b->%4;c->%zz;d->%A;");
}

TEST(Form, FindsFieldsByTheirExactName) {
  const Form form = Form::parse("tag=a&Tag=b&tag=c&empty=").value();
  EXPECT_EQ(form.get("tag"), "a");
  EXPECT_EQ(form.get("Tag"), "b");
  EXPECT_EQ(form.get("empty"), "");
  EXPECT_EQ(form.get("none"), std::nullopt);
  std::string all;
  for (const std::string_view tag : form.all("tag")) all += tag;
  EXPECT_EQ(all, "ac");
  for (const std::string_view none : form.all("none")) ADD_FAILURE() << none;
  EXPECT_EQ(form.size(), 4U);
}

TEST(Form, HoldsItsLimits) {
  EXPECT_TRUE(Form::parse("a=1&b=2", {.fields = 2}));
  EXPECT_EQ(Form::parse("a=1&b=2&c", {.fields = 2}).error().code(), Errc::BodyTooLong);
  EXPECT_TRUE(Form::parse("a=1&%62=%32", {.total_bytes = 4}));
  EXPECT_EQ(Form::parse("a=1&b=22", {.total_bytes = 4}).error().code(), Errc::BodyTooLong);
  EXPECT_TRUE(Form::parse("&&&", {.fields = 0, .total_bytes = 0}));
  std::string many;
  for (int i = 0; i < 1001; ++i) many += "a&";
  EXPECT_EQ(Form::parse(many).error().code(), Errc::BodyTooLong);
}

TEST(Form, WritesAsBrowsersDo) {
  const std::string text =
      Form().add("q", "fish & chips").add("a=b", "100%").add("*-._", "~\xc3\xbc\n").to_string();
  EXPECT_EQ(text, "q=fish+%26+chips&a%3Db=100%25&*-._=%7E%C3%BC%0A");
  EXPECT_EQ(Form().to_string(), "");
}

TEST(Form, ReadsWhatItWrites) {
  Form form;
  for (int i = 0; i < 256; ++i) form.add(std::string(1, static_cast<char>(i)), std::to_string(i));
  form.add("", "").add("", "again");
  EXPECT_EQ(Form::parse(form.to_string()).value(), form);
}

TEST(Form, MayBeGrownFromItsOwnFields) {
  Form form;
  form.add("name", "a value that is long enough for the heap");
  for (int i = 0; i < 20; ++i) form.add(*form.get("name"), *form.get("name"));
  EXPECT_EQ(form.size(), 21U);
  for (const auto [name, value] : form) EXPECT_TRUE(value.starts_with("a value")) << name;
}

}  // namespace
}  // namespace skua
