// SPDX-License-Identifier: MIT
#include "files/dav/properties.hpp"

#include <gtest/gtest.h>

#include <string>

#include "files/dav/multistatus.hpp"

namespace skua::files {
namespace {

class DavProperties : public testing::Test {
 protected:
  void SetUp() override {
    if (!xml::is_available()) GTEST_SKIP() << "this build has no expat";
  }
  static std::vector<PropertyChange> changes(const std::string& actions) {
    auto parsed =
        parse_property_changes("<D:propertyupdate xmlns:D='DAV:' xmlns:x='urn:x' xml:lang='en'>" +
                               actions + "</D:propertyupdate>");
    EXPECT_TRUE(parsed) << actions;
    return parsed ? *std::move(parsed) : std::vector<PropertyChange>();
  }
};

TEST_F(DavProperties, ChangesAreMadeInTheirOrder) {
  std::vector<xml::Node> properties;
  EXPECT_TRUE(
      apply_changes(properties, changes("<D:set><D:prop><x:a>1</x:a><x:b>1</x:b></D:prop></D:set>"
                                        "<D:remove><D:prop><x:a/><x:none/></D:prop></D:remove>"
                                        "<D:set><D:prop><x:b>2</x:b></D:prop></D:set>")));
  ASSERT_EQ(properties.size(), 1U);
  EXPECT_EQ(properties[0].name, (xml::Name{"urn:x", "b"}));
  EXPECT_EQ(properties[0].children.at(0).text, "2");
}

TEST_F(DavProperties, APropertyHasTheLanguageAroundIt) {
  const auto made = changes(
      "<D:set><D:prop><x:a/><x:b xml:lang='de'/></D:prop>"
      "<D:prop xml:lang='fr'><x:c/></D:prop></D:set>");
  ASSERT_EQ(made.size(), 3U);
  EXPECT_EQ(made[0].property.attributes.at(0).value, "en");
  EXPECT_EQ(made[1].property.attributes.at(0).value, "de");
  EXPECT_EQ(made[2].property.attributes.at(0).value, "fr");
}

TEST_F(DavProperties, PropertiesOfOursStopAllChanges) {
  std::vector<xml::Node> properties;
  EXPECT_FALSE(apply_changes(properties,
                             changes("<D:set><D:prop><x:a>1</x:a><D:anything/></D:prop></D:set>")));
  EXPECT_TRUE(properties.empty());
}

TEST_F(DavProperties, WhatIsNotAnUpdateIsRefused) {
  for (const std::string_view text :
       {"", "<a/>", "<propertyupdate/>", "<propertyupdate xmlns='DAV:'/>",
        "<propertyupdate xmlns='DAV:'><set/></propertyupdate>",
        "<propertyupdate xmlns='DAV:'><set><prop>text</prop></set></propertyupdate>"}) {
    EXPECT_FALSE(parse_property_changes(text)) << text;
  }
}

TEST_F(DavProperties, EveryNameMakesWellFormedXml) {
  std::string bytes;
  for (int i = 1; i < 256; ++i) bytes.append(1, static_cast<char>(i)).append("]]>&<");
  const DavResource resource{.path = "/" + bytes};
  std::string text(multistatus_begin);
  append_resource(text, resource, {}, WallTime());
  text += multistatus_end;
  const auto parsed = xml::parse(text);
  ASSERT_TRUE(parsed) << text;
  EXPECT_EQ(parsed->name, (xml::Name{"DAV:", "multistatus"}));
}

TEST_F(DavProperties, AQueryOfForeignElementsIsUnderstood) {
  const auto query = PropertyQuery::parse(
      "<propfind xmlns='DAV:'><x:other xmlns:x='urn:x'/><prop><getetag/></prop></propfind>");
  ASSERT_TRUE(query);
  EXPECT_EQ(query->names.size(), 1U);
  EXPECT_FALSE(query->needs_dead());
}

}  // namespace
}  // namespace skua::files
