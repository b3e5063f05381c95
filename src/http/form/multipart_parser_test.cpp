// SPDX-License-Identifier: MIT

#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "http/form/multipart_parser.hpp"

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
namespace {

using namespace std::string_view_literals;
using Status = MultipartStatus;

// Reads pieces and records the output: `[name=value;](content)` for each part, then `done`.
class Reader {
 public:
  explicit Reader(std::string_view boundary, const MultipartLimits& limits = {})
      : parser_(*Boundary::make(boundary), limits) {}

  void read(std::string_view piece) {
    const std::string copy(piece);  // lets a sanitizer detect a read past the end
    std::string_view input = copy;
    for (std::size_t steps = 0; !is_over_; ++steps) {
      ASSERT_LE(steps, 4 * copy.size() + 8) << "no progress";
      const MultipartParser::Step step = parser_.step(input);
      input.remove_prefix(step.consumed_bytes);
      events_ += step.data;
      if (step.status == Status::More && input.empty()) return;
      note(step.status);
    }
  }

  std::string finish() {
    if (const auto end = parser_.end_of_input(); !end) {
      events_ += end.error().code() == Errc::TruncatedBody ? "truncated"
                                                           : std::string(message(parser_.error()));
    }
    return events_;
  }

 private:
  void note(Status status) {
    is_over_ = status == Status::Done || status == Status::Failed;
    if (status == Status::PartEnd) events_ += ")";
    if (status == Status::Done) events_ += "done";
    if (status != Status::Part) return;
    events_ += "[";
    for (std::size_t i = 0; i < parser_.field_count(); ++i) {
      const PartField field = parser_.field(i);
      events_.append(field.name).append("=").append(field.value).append(";");
    }
    events_ += "](";
  }

  MultipartParser parser_;
  std::string events_;
  bool is_over_ = false;
};

// Returns the events, which must not depend on how the input is split.
std::string events(std::string_view content, std::string_view boundary = "b",
                   const MultipartLimits& limits = {}) {
  Reader whole(boundary, limits);
  whole.read(content);
  const std::string expected = whole.finish();
  Reader bytewise(boundary, limits);
  for (const char c : content) bytewise.read({&c, 1});
  EXPECT_EQ(bytewise.finish(), expected) << content;
  for (std::size_t cut = 0; cut <= std::min<std::size_t>(content.size(), 400); ++cut) {
    Reader halves(boundary, limits);
    halves.read(content.substr(0, cut));
    halves.read(content.substr(cut));
    EXPECT_EQ(halves.finish(), expected) << content << " cut at " << cut;
  }
  return expected;
}

const std::string malformed(message(Errc::MalformedMultipart));

TEST(MultipartParser, ReadsAForm) {
  EXPECT_EQ(events("--b\r\n"
                   "Content-Disposition: form-data; name=\"a\"\r\n"
                   "\r\n"
                   "one\r\n"
                   "--b\r\n"
                   "content-disposition:form-data; name=\"f\"; filename=\"x\" \r\n"
                   "Content-Type:\ttext/plain\r\n"
                   "\r\n"
                   "two\r\nlines\r\n\r\n"
                   "--b--\r\n"),
            "[Content-Disposition=form-data; name=\"a\";](one)"
            "[content-disposition=form-data; name=\"f\"; filename=\"x\";Content-Type=text/plain;]"
            "(two\r\nlines\r\n)done");
}

struct Case {
  std::string_view what;
  std::string_view content;
  std::string_view expected;
};

TEST(MultipartParser, ReadsWhatTheStandardAllows) {
  for (const auto& [what, content, expected] : std::initializer_list<Case>{
           {"no part", "--b--", "done"},
           {"no part, a last line", "--b--\r\n", "done"},
           {"an empty line in front", "\r\n--b\r\n\r\nx\r\n--b--", "[](x)done"},
           {"a preamble", "hello\r\nthere--b\r\n--b\r\n\r\nx\r\n--b--", "[](x)done"},
           {"an epilogue", "--b\r\n\r\nx\r\n--b--\r\nbye\r\n--b\r\n\r\ny\r\n--b--", "[](x)done"},
           {"an epilogue on the same line", "--b\r\n\r\nx\r\n--b-- bye", "[](x)done"},
           {"padding", "--b \t\r\n\r\nx\r\n--b\t\r\n\r\ny\r\n--b--  ", "[](x)[](y)done"},
           {"no head", "--b\r\n\r\nx\r\n--b--", "[](x)done"},
           {"no content", "--b\r\nA: 1\r\n\r\n\r\n--b--", "[A=1;]()done"},
           {"neither content nor its line", "--b\r\nA: 1\r\n\r\n--b\r\n\r\n--b--",
            "[A=1;]()[]()done"},
           {"an empty value", "--b\r\nA:\r\nB: \r\n\r\n\r\n--b--", "[A=;B=;]()done"},
           {"a folded line", "--b\r\nA: 1;\r\n 2\r\n\t3\r\nB: 4\r\n\r\n\r\n--b--",
            "[A=1;   2  \t3;B=4;]()done"},
           {"UTF-8", "--b\r\nA: \xc3\xbc\r\n\r\n\xff\x80\r\n--b--",
            "[A=\xc3\xbc;](\xff\x80)done"}}) {
    EXPECT_EQ(events(content), expected) << what;
  }
  EXPECT_EQ(events("--b\r\n\r\n\0\r\n--b--"sv), "[](\0)done"sv);
}

TEST(MultipartParser, TakesForContentWhatOnlyLooksLikeADelimiter) {
  for (const std::string_view content : {"\r",          "\n",      "\r\n",      "\r\n-",
                                         "\r\n--",      "\r\n--a", "\r\r\n--a", "\r\n\r\n--\r\n-",
                                         "--a",         "--",      "-",         "\n--b",
                                         "--bc",        "--b\r",   "x--b",      "\r--b",
                                         "\r\n --b",    "\r\n-b",  "\r\n--B",   "\r\r\r\r",
                                         "\r\n\r\n\r\n"}) {
    const std::string text(content);
    const std::string_view boundary = content.starts_with("--b") ? "bb" : "b";
    const std::string dashes = "--" + std::string(boundary);
    EXPECT_EQ(events(dashes + "\r\n\r\n" + text + "\r\n" + dashes + "--", boundary),
              "[](" + text + ")done");
    EXPECT_EQ(events(text + "\r\n" + dashes + "\r\n\r\n\r\n" + dashes + "--", boundary),
              "[]()done");
  }
}

TEST(MultipartParser, RefusesWhatReadersDoNotAgreeOn) {
  for (const auto& [what, content, expected] : std::initializer_list<Case>{
           {"a line that begins with the delimiter", "--b\r\n\r\nx\r\n--bc\r\n\r\n", "[](x"},
           {"the same in the preamble", "--bc\r\n--b\r\n\r\n", ""},
           {"one dash", "--b\r\n\r\nx\r\n--b-\r\n", "[](x"},
           {"padding before the dashes", "--b\r\n\r\nx\r\n--b --\r\n", "[](x"},
           {"a bare LF behind the delimiter", "--b\nA: 1\r\n\r\nx", ""},
           {"a bare CR behind the delimiter", "--b\rA: 1\r\n\r\nx", ""},
           {"a bare LF in a head", "--b\r\nA: 1\nB: 2\r\n\r\nx", ""},
           {"a bare LF at the end of a head", "--b\r\nA: 1\r\n\nx", ""},
           {"a bare CR in a head", "--b\r\nA: 1\rB: 2\r\n\r\nx", ""},
           {"a bare CR at the end of a head", "--b\r\nA: 1\r\n\rx", ""},
           {"a space in front of the colon", "--b\r\nA : 1\r\n\r\nx", ""},
           {"no colon", "--b\r\nA\r\n\r\nx", ""},
           {"no name", "--b\r\n: 1\r\n\r\nx", ""},
           {"a folded line without one before", "--b\r\n A: 1\r\n\r\nx", ""},
           {"a control character", "--b\r\nA: \x01\r\n\r\nx", ""}}) {
    EXPECT_EQ(events(content), std::string(expected) + malformed) << what;
  }
  EXPECT_EQ(events("--b\r\nA: \0\r\n\r\nx"sv), malformed);
}

TEST(MultipartParser, KnowsThatTheInputEndedTooSoon) {
  const std::string_view whole = "--b\r\nA: 1\r\n\r\nx\r\n--b--";
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const std::string outcome = events(whole.substr(0, size));
    EXPECT_TRUE(outcome.ends_with("truncated")) << size << ": " << outcome;
  }
  EXPECT_EQ(events("no boundary at all\r\n"), "truncated");
}

TEST(MultipartParser, HoldsItsLimits) {
  const std::string many(message(Errc::TooManyParts));
  const std::string_view two = "--b\r\n\r\nx\r\n--b\r\n\r\ny\r\n--b--";
  EXPECT_EQ(events(two, "b", {.parts = 2}), "[](x)[](y)done");
  EXPECT_EQ(events(two, "b", {.parts = 1}), "[](x)" + many);
  EXPECT_EQ(events(two, "b", {.parts = 0}), many);
  const std::string too_long(message(Errc::PartHeadTooLong));
  const std::string_view head = "--b\r\nA: 1\r\nB: 2\r\n\r\nx\r\n--b--";
  EXPECT_EQ(events(head, "b", {.part_head_bytes = 14}), "[A=1;B=2;](x)done");
  EXPECT_EQ(events(head, "b", {.part_head_bytes = 13}), too_long);
  EXPECT_EQ(events(head, "b", {.part_head_bytes = 0}), too_long);
  EXPECT_EQ(events(head, "b", {.part_fields = 2}), "[A=1;B=2;](x)done");
  EXPECT_EQ(events(head, "b", {.part_fields = 1}), too_long);
  std::string fields;
  for (int i = 0; i < 65; ++i) fields += "A:\r\n";
  EXPECT_EQ(events("--b\r\n" + fields + "\r\n", "b", {.part_fields = 1000}), too_long);
  std::string endless = "--b\r\nA: ";
  endless.append(20000, 'a');
  Reader reader("b");
  reader.read(endless);
  EXPECT_EQ(reader.finish(), too_long);
}

TEST(MultipartParser, TakesABoundaryOfSeventyBytes) {
  const std::string boundary = "a b" + std::string(66, '-') + "c";
  std::string text = "\r\n--" + boundary;
  text.back() = 'x';
  EXPECT_EQ(events("--" + boundary + "\r\n\r\n" + text + "\r\n--" + boundary + "--", boundary),
            "[](" + text + ")done");
}

TEST(MultipartParser, FindsFieldsWhateverTheirCase) {
  MultipartParser parser(*Boundary::make("b"));
  ASSERT_EQ(parser.step("--b\r\nA-B: 1\r\nc: 2\r\na-b: 3\r\n\r\nx").status, Status::Part);
  EXPECT_EQ(parser.find("a-B"), "1");
  EXPECT_EQ(parser.find("C"), "2");
  EXPECT_EQ(parser.find("d"), std::nullopt);
}

TEST(MultipartParser, HandsContentOutInPlace) {
  MultipartParser parser(*Boundary::make("b"));
  ASSERT_EQ(parser.step("--b\r\n\r\n").status, Status::Part);
  const std::string input = "content\r\n--\r\nmore\r\n";
  const MultipartParser::Step step = parser.step(input);
  EXPECT_EQ(step.data, "content\r\n--\r\nmore");
  EXPECT_EQ(step.data.data(), input.data());
  EXPECT_EQ(step.consumed_bytes, input.size());
}

// A parser that rescans bytes takes minutes for this.
TEST(MultipartParser, TakesLinearTimeForWhatNearlyIsADelimiter) {
  const std::string boundary(70, '-');
  std::string almost;
  while (almost.size() < 2'000'000) almost += "\r\n--" + boundary.substr(1) + "\r";
  Reader whole(boundary);
  whole.read("--" + boundary + "\r\n\r\n");
  whole.read(almost);
  Reader bytewise(boundary);
  for (const char c : std::string_view(almost).substr(0, 200'000)) bytewise.read({&c, 1});
  EXPECT_EQ(whole.finish(), "[](" + almost.substr(0, almost.size() - 1) + "truncated");
  EXPECT_EQ(bytewise.finish(), "truncated");
}

}  // namespace
}  // namespace skua::http
