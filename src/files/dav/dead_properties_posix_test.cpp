// SPDX-License-Identifier: MIT
#include "files/dav/dead_properties.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>

#include "base/disk.hpp"
#include "support/temporary_directory.hpp"

namespace skua::files {
namespace {

class DeadProperties : public testing::Test {
 protected:
  void SetUp() override {
    if (!xml::is_available()) GTEST_SKIP() << "this build has no expat";
    file_ = make("a");
    if (!write_property_attribute(file_.number(), "probe")) {
      GTEST_SKIP() << "the file system has no extended attributes";
    }
  }
  disk::Descriptor make(const std::string& name) const {
    tree_.write(name, "");
    return disk::Descriptor(disk::open((tree_ / name).c_str(), disk::for_reading));
  }

  support::TemporaryDirectory tree_;
  disk::Descriptor file_;
};

TEST_F(DeadProperties, WhatOthersPutThereIsNotTrusted) {
  for (const std::string_view text :
       {"probe", "<properties>", "<a></b>", "<!DOCTYPE a><a/>", "<properties/>", "<a>text</a>",
        "<properties><x>\x01</x></properties>", "\xFF\xFF"}) {
    ASSERT_TRUE(write_property_attribute(file_.number(), text));
    EXPECT_TRUE(read_properties(file_.number()).empty()) << text;
  }
  ASSERT_TRUE(write_property_attribute(file_.number(), "<a>]]&gt;<b/>&lt;</a>"));
  EXPECT_EQ(read_properties(file_.number()).size(), 1U);
}

TEST_F(DeadProperties, AreReadAsTheyWereWritten) {
  const std::vector<xml::Node> properties = {
      {.name = {"urn:x", "a"}, .children = {{.text = "1 < 2 ]]>"}}},
      {.name = {"", "b"}, .attributes = {{{"urn:y", "c"}, "\"\n"}}}};
  ASSERT_TRUE(write_properties(file_.number(), properties));
  EXPECT_EQ(read_properties(file_.number()), properties);
  const disk::Descriptor other = make("b");
  copy_properties(file_.number(), other.number());
  EXPECT_EQ(read_properties(other.number()), properties);
  ASSERT_TRUE(write_properties(file_.number(), {}));
  EXPECT_TRUE(read_property_attribute(file_.number()).empty());
  ASSERT_TRUE(write_properties(file_.number(), {}));
}

TEST_F(DeadProperties, AreLimited) {
  const std::vector<xml::Node> large = {
      {.name = {"", "a"}, .children = {{.text = std::string(max_property_bytes, 'x')}}}};
  const auto written = write_properties(file_.number(), large);
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code(), Errc::BodyTooLong);
  EXPECT_EQ(read_property_attribute(file_.number()), "probe");
}

// A file system may not hold as much as this.
TEST(DeadPropertiesText, OfSeveralRequestsIsReadTogether) {
  if (!xml::is_available()) GTEST_SKIP() << "this build has no expat";
  xml::Node property{.name = {"", "a"}};
  for (int i = 0; i < 1400; ++i) {
    property.children.push_back({.name = {"", "b"}});
    property.children.push_back({.text = "x"});
  }
  std::vector<xml::Node> properties = {property, property};
  properties.back().name.local = "c";
  ASSERT_GT(2 * property.children.size(), xml::ParseLimits().nodes);
  const std::string text = properties_text(properties);
  ASSERT_LE(text.size(), max_property_bytes);
  EXPECT_EQ(parse_properties(text), properties);
}

}  // namespace
}  // namespace skua::files
