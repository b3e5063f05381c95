// SPDX-License-Identifier: MIT
#include "xml/xml.hpp"

#include <gtest/gtest.h>

#include <string>

namespace skua::xml {
namespace {

std::string written(const Node& node) {
  std::string out;
  append(out, node);
  return out;
}

class XmlParser : public testing::Test {
 protected:
  void SetUp() override {
    if (!is_available()) GTEST_SKIP() << "this build has no expat";
  }

  static Errc error_of(std::string_view document, const ParseLimits& limits = {}) {
    const auto parsed = parse(document, limits);
    return parsed ? Errc::None : parsed.error().code();
  }
};

TEST_F(XmlParser, resolves_namespaces) {
  const auto root = parse(R"(<?xml version="1.0"?><a:x xmlns:a="DAV:" xmlns="urn:y" n="1" a:m="2">
    <!-- dropped --><y/>t&amp;&#x41;<z xmlns=""/></a:x>)");
  ASSERT_TRUE(root);
  EXPECT_EQ(root->name, (Name{"DAV:", "x"}));
  ASSERT_EQ(root->attributes.size(), 2U);
  EXPECT_EQ(root->attributes[0], (Attribute{{"", "n"}, "1"}));
  EXPECT_EQ(root->attributes[1], (Attribute{{"DAV:", "m"}, "2"}));
  ASSERT_EQ(root->children.size(), 4U);
  EXPECT_EQ(root->children[1].name, (Name{"urn:y", "y"}));
  EXPECT_EQ(root->children[2].text, "t&A");
  EXPECT_EQ(root->children[3].name, (Name{"", "z"}));
}

TEST_F(XmlParser, refuses_what_is_not_well_formed) {
  for (const std::string_view text :
       {"", " ", "text", "<a>", "<a></b>", "<a/><b/>", "<a b/>", "<p:a/>", "<a>&unknown;</a>",
        "<a>\x01</a>", "<a>\xFF</a>", "<a>&#0;</a>", "<a xmlns:p=''/>", "<a b='1' b='2'/>"}) {
    EXPECT_EQ(error_of(text), Errc::MalformedText) << text;
  }
}

TEST_F(XmlParser, refuses_document_types_and_with_them_entities) {
  EXPECT_EQ(error_of("<!DOCTYPE a><a/>"), Errc::MalformedText);
  EXPECT_EQ(error_of(R"(<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>)"), Errc::MalformedText);
  EXPECT_EQ(error_of(R"(<!DOCTYPE a SYSTEM "file:///etc/passwd"><a/>)"), Errc::MalformedText);
  EXPECT_EQ(error_of(R"(<!DOCTYPE a [<!ENTITY b SYSTEM "/etc/passwd">]><a>&b;</a>)"),
            Errc::MalformedText);
  std::string bomb = "<!DOCTYPE a [<!ENTITY e0 \"ha\">";
  for (int i = 1; i < 60; ++i) {
    const std::string one = "&e" + std::to_string(i - 1) + ";";
    bomb.append("<!ENTITY e")
        .append(std::to_string(i))
        .append(" \"")
        .append(one + one)
        .append("\">");
  }
  EXPECT_EQ(error_of(bomb + "]><a>&e59;</a>"), Errc::MalformedText);
}

TEST_F(XmlParser, bounds_depth_and_number_of_nodes) {
  const auto nested = [](int depth) {
    std::string text;
    for (int i = 0; i < depth; ++i) text += "<a>";
    for (int i = 0; i < depth; ++i) text += "</a>";
    return text;
  };
  EXPECT_EQ(error_of(nested(32)), Errc::None);
  EXPECT_EQ(error_of(nested(33)), Errc::MalformedText);
  EXPECT_EQ(error_of(nested(10'000)), Errc::MalformedText);
  EXPECT_EQ(error_of("<a><b/><c/></a>", {.nodes = 3}), Errc::None);
  EXPECT_EQ(error_of("<a><b/><c/></a>", {.nodes = 2}), Errc::MalformedText);
  EXPECT_EQ(error_of("<a b='' c=''/>", {.nodes = 2}), Errc::MalformedText);
  EXPECT_EQ(error_of("<a>t<b/>t</a>", {.nodes = 3}), Errc::MalformedText);
}

TEST_F(XmlParser, what_is_written_is_read_as_the_same_tree) {
  for (const std::string_view text :
       {"<a/>", "<a xmlns='urn:x'><b xmlns=''><c xmlns='urn:x'/></b></a>",
        "<p:a xmlns:p='urn:&lt;&quot;x'>1 &lt; 2 &amp; ]]&gt; &#13;&#10;&#9;</p:a>",
        "<a xmlns:p='urn:p' xmlns:q='urn:q' p:n='&#10;&quot;&#9;' q:n='' n='x' xml:lang='de'/>",
        "<a xmlns='urn:x'><xml:b><c/></xml:b></a>", "<a>\xF0\x9F\x90\xA6 \xE2\x82\xAC</a>"}) {
    const auto first = parse(text);
    ASSERT_TRUE(first) << text;
    const auto second = parse(written(*first));
    ASSERT_TRUE(second) << written(*first);
    EXPECT_EQ(*first, *second) << written(*first);
  }
}

TEST(XmlWriter, replaces_what_no_document_can_have) {
  const auto text = [](std::string_view raw) {
    std::string out;
    append_text(out, raw);
    return out;
  };
  EXPECT_EQ(text("a<b>&\"'"), "a&lt;b&gt;&amp;\"'");
  EXPECT_EQ(text("]]>"), "]]&gt;");
  EXPECT_EQ(text("\x01\x1F\x7F"), "\uFFFD\uFFFD\x7F");
  EXPECT_EQ(text(std::string_view("\0", 1)), "\uFFFD");
  EXPECT_EQ(text("\t\n\r"), "\t\n&#13;");
  EXPECT_EQ(text("\xC0\xAF"), "\uFFFD\uFFFD") << "overlong";
  EXPECT_EQ(text("\xED\xA0\x80"), "\uFFFD\uFFFD\uFFFD") << "surrogate";
  EXPECT_EQ(text("\xEF\xBF\xBE\xEF\xBF\xBF"), "\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(text("\xF4\x90\x80\x80"), "\uFFFD\uFFFD\uFFFD\uFFFD") << "above U+10FFFF";
  EXPECT_EQ(text("\xE2\x82"), "\uFFFD\uFFFD") << "cut short";
  EXPECT_EQ(text("\xE2\x82\xAC"), "\xE2\x82\xAC");
  std::string value;
  append_value(value, "\"\t\n<");
  EXPECT_EQ(value, "&quot;&#9;&#10;&lt;");
}

TEST_F(XmlParser, any_bytes_can_be_a_text) {
  std::string every;
  for (int i = 0; i < 256; ++i) every.append(1, static_cast<char>(i)).append("]]>");
  std::string document = "<a b=\"";
  append_value(document, every);
  document += "\">";
  append_text(document, every);
  document += "</a>";
  EXPECT_TRUE(parse(document));
}

}  // namespace
}  // namespace skua::xml
