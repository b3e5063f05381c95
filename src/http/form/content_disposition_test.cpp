// SPDX-License-Identifier: MIT
#include "http/form/content_disposition.hpp"

#include <gtest/gtest.h>

#include <string>

namespace skua::http {
namespace {

// Returns `type|name|filename`, with a dash for a missing value.
std::string read(std::string_view field) {
  const auto disposition = parse_content_disposition(field);
  if (!disposition) {
    EXPECT_EQ(disposition.error().code(), Errc::MalformedMultipart);
    return "malformed";
  }
  return disposition->type + "|" + disposition->name.value_or("-") + "|" +
         disposition->filename.value_or("-");
}

TEST(ContentDisposition, ReadsWhatBrowsersWrite) {
  EXPECT_EQ(read("form-data; name=\"a\""), "form-data|a|-");
  EXPECT_EQ(read("form-data; name=\"file\"; filename=\"a b.txt\""), "form-data|file|a b.txt");
  EXPECT_EQ(read("form-data; name=\"\xc3\xbc\"; filename=\"\""), "form-data|\xc3\xbc|");
  EXPECT_EQ(read("form-data; name=\"%22a%22b%22\""), "form-data|\"a\"b\"|-");
  EXPECT_EQ(read("form-data; name=\"50%25 %41 %2\""), "form-data|50%25 %41 %2|-");
}

TEST(ContentDisposition, ReadsWhatOthersWrite) {
  EXPECT_EQ(read("Form-Data;NAME=a;FileName=b.txt"), "form-data|a|b.txt");
  EXPECT_EQ(read(R"(form-data; name="a\"b\\c"; filename="C:\temp\d.txt")"),
            R"(form-data|a"b\c|C:\temp\d.txt)");
  EXPECT_EQ(read("form-data; name=%22"), "form-data|%22|-");
  EXPECT_EQ(read("attachment"), "attachment|-|-");
  EXPECT_EQ(read("form-data; size=3; name=a;"), "form-data|a|-");
}

TEST(ContentDisposition, PrefersTheExtendedFilename) {
  EXPECT_EQ(read("attachment; filename=\"a.txt\"; filename*=UTF-8''%c3%BC.txt"),
            "attachment|-|\xc3\xbc.txt");
  EXPECT_EQ(read("attachment; filename*=utf-8'en'a%20b; filename=c"), "attachment|-|a b");
}

TEST(ContentDisposition, PassesOverAnExtendedFilenameThatIsMalformed) {
  for (const std::string_view bad : {"UTF-8''%c", "UTF-8''100%", "UTF-8''a/b", "ISO-8859-1''a",
                                     "UTF-8", "UTF-8'a", "''a", "\"UTF-8''a\""}) {
    EXPECT_EQ(read("attachment; filename=b; filename*=" + std::string(bad)), "attachment|-|b")
        << bad;
    EXPECT_EQ(read("attachment; filename*=" + std::string(bad)), "attachment|-|-") << bad;
  }
}

TEST(ContentDisposition, NoNameHasALineEnd) {
  EXPECT_EQ(read("form-data; name=\"a%0D%0Ab\"; filename=\"c%0d%0aX: y\""),
            "form-data|a%0D%0Ab|c%0d%0aX: y");
  EXPECT_EQ(read("form-data; name=a; filename*=UTF-8''b%0D%0AX:%20y"), "form-data|a|-");
  EXPECT_EQ(read("form-data; name=a; filename=c; filename*=UTF-8''b%00"), "form-data|a|c");
}

TEST(ContentDisposition, RefusesWhatReadersDoNotAgreeOn) {
  for (const std::string_view bad :
       {"", ";name=a", "form-data name=a", "form-data; name", "form-data; name=\"a", "a/b; name=c",
        "form-data; name=a; name=a", "form-data; name=a; NAME=b",
        "form-data; filename=a; filename=b", "form-data; filename*=UTF-8''a; filename*=UTF-8''b",
        "form-data; name=\"a\"b\"", "form-data; name=\"a\\\"", "form-data, name=a"}) {
    EXPECT_EQ(read(bad), "malformed") << bad;
  }
}

TEST(ContentDisposition, WritesAsBrowsersDo) {
  EXPECT_EQ(form_data_disposition("a", std::nullopt), "form-data; name=\"a\"");
  EXPECT_EQ(form_data_disposition("a\"b\r\n", "c \xc3\xbc.txt"),
            "form-data; name=\"a%22b%0D%0A\"; filename=\"c \xc3\xbc.txt\"");
  const std::string hidden("\0\x7f", 2);
  EXPECT_EQ(form_data_disposition(hidden, ""), "form-data; name=\"%00%7F\"; filename=\"\"");
}

TEST(ContentDisposition, ReadsWhatItWrites) {
  for (const std::string_view name :
       {"", "a", "a b", "a\"b", "\\", "\\\\", "\\\\\\", "a\\b", "\\\\server\\dir\\", "\\\"", "\"\\",
        "a;b=c", "\xc3\xbc", "%41"}) {
    EXPECT_EQ(read(form_data_disposition(name, name)),
              "form-data|" + std::string(name) + "|" + std::string(name))
        << name;
  }
}

TEST(SafeFilename, KeepsTheLastComponent) {
  EXPECT_EQ(safe_filename("a.txt"), "a.txt");
  EXPECT_EQ(safe_filename("../../etc/passwd"), "passwd");
  EXPECT_EQ(safe_filename("C:\\Users\\ada\\a b.txt"), "a b.txt");
  EXPECT_EQ(safe_filename("/a\\b/c\xc3\xbc.tar.gz"), "c\xc3\xbc.tar.gz");
}

TEST(SafeFilename, KeepsNothingThatMeansSomething) {
  EXPECT_EQ(safe_filename("a\r\nb\x7f"), "a__b_");
  EXPECT_EQ(safe_filename(std::string_view("a\0b", 3)), "a_b");
  EXPECT_EQ(safe_filename("a.txt:stream"), "a.txt_stream");
  EXPECT_EQ(safe_filename("<a|b>?*\""), "_a_b____");
  EXPECT_EQ(safe_filename(".htaccess"), "htaccess");
  EXPECT_EQ(safe_filename(" a.txt. . "), "a.txt");
  EXPECT_EQ(safe_filename("a\xe2\x80\xaegpj.exe"), "a_gpj.exe");  // U+202E
  EXPECT_EQ(safe_filename("\xe2\x81\xa6"
                          "a\xe2\x81\xa9\xe2\x80\xaa"),
            "_a__");                                                         // U+2066, U+2069
  EXPECT_EQ(safe_filename("\xe2\x80\x8f\xd7\x90"), "\xe2\x80\x8f\xd7\x90");  // U+200F
}

TEST(SafeFilename, BeginsWithNothingThatACommandTakesForMore) {
  EXPECT_EQ(safe_filename("-rf"), "_rf");
  EXPECT_EQ(safe_filename("--help"), "_-help");
  EXPECT_EQ(safe_filename("~root"), "_root");
  EXPECT_EQ(safe_filename("~"), "_");
  EXPECT_EQ(safe_filename(" .-rf"), "_rf");
  EXPECT_EQ(safe_filename("a-b~c"), "a-b~c");
}

TEST(SafeFilename, IsEmptyWhenNothingIsLeft) {
  for (const std::string_view name : {"", ".", "..", "...", "a/", "a/..", "\\", " ", ". ."}) {
    EXPECT_EQ(safe_filename(name), "") << name;
  }
}

TEST(SafeFilename, IsNoDevice) {
  for (const std::string_view name :
       {"CON", "nul.txt", "Com1", "lpt9.tar.gz", "aux .txt", "COM\xc2\xb9", "conin$"}) {
    EXPECT_EQ(safe_filename(name), "_" + std::string(name)) << name;
  }
  EXPECT_EQ(safe_filename("console"), "console");
  EXPECT_EQ(safe_filename("com12"), "com12");
}

TEST(SafeFilename, FitsADirectoryEntry) {
  EXPECT_EQ(safe_filename(std::string(300, 'a')).size(), 200U);
  EXPECT_EQ(safe_filename(std::string(199, 'a') + "\xc3\xbc"), std::string(199, 'a'));
  EXPECT_EQ(safe_filename(std::string(195, 'a') + " .      b"), std::string(195, 'a'));
}

}  // namespace
}  // namespace skua::http
