// SPDX-License-Identifier: MIT
#include "files/upload/upload_fields.hpp"

#include <gtest/gtest.h>

#include <string>

namespace skua::files {
namespace {

TEST(UploadFields, SizesAreIntegersOfFifteenDigits) {
  EXPECT_EQ(parse_upload_size("0"), 0U);
  EXPECT_EQ(parse_upload_size(" 12 "), 12U);
  EXPECT_EQ(parse_upload_size("12;a=b"), 12U);
  EXPECT_EQ(parse_upload_size("999999999999999"), 999'999'999'999'999U);
  for (const char* value : {"", " ", "-1", "+1", "1.0", "0x1", "1 2", "1,2", "1000000000000000",
                            "?1", "\"1\"", "1\t;1x1"}) {
    const auto size = parse_upload_size(value);
    if (std::string(value) == "1\t;1x1") {
      EXPECT_EQ(size, 1U);
    } else {
      EXPECT_FALSE(size) << value;
    }
  }
}

TEST(UploadFields, CompleteIsABoolean) {
  EXPECT_EQ(parse_upload_complete("?1"), true);
  EXPECT_EQ(parse_upload_complete(" ?0;a"), false);
  for (const char* value : {"", "1", "0", "true", "?2", "?11", "??1"}) {
    EXPECT_FALSE(parse_upload_complete(value)) << value;
  }
}

TEST(UploadFields, MetadataIsPairsOfKeysAndBase64) {
  constexpr const char* field = "filename d29ybGQ=,is_secret, type dGV4dA==";
  EXPECT_EQ(find_upload_metadata(field, "filename"), "world");
  EXPECT_EQ(find_upload_metadata(field, "is_secret"), "");
  EXPECT_EQ(find_upload_metadata(field, "type"), "text");
  EXPECT_FALSE(find_upload_metadata(field, "name"));
  EXPECT_FALSE(find_upload_metadata("filename !!!!", "filename"));
  EXPECT_FALSE(find_upload_metadata("", ""));
  EXPECT_FALSE(find_upload_metadata(",,,", "filename"));
}

TEST(UploadFields, StatesAreReadAsTheyWereWritten) {
  for (const PartState& state :
       {PartState{.name = "a"}, PartState{.name = " a b ", .owner = "ada", .length_bytes = 0},
        PartState{.name = "\xC3\xA4",
                  .length_bytes = 7,
                  .metadata = "filename d29ybGQ=",
                  .conditions = "If-Match: \"a\"\r\nIf-None-Match: *\r\n"}}) {
    EXPECT_EQ(parse_state(to_text(state)), state) << to_text(state);
  }
}

TEST(UploadFields, DamagedStatesAreRefused) {
  const std::string text = to_text({.name = "a", .owner = "b", .length_bytes = 3});
  for (std::size_t size = 0; size < text.size() - 1; ++size) {
    EXPECT_FALSE(parse_state(text.substr(0, size))) << size;
  }
  EXPECT_FALSE(parse_state(text + "more"));
  EXPECT_FALSE(parse_state("skua upload 2\nname a\nend\n"));
  EXPECT_FALSE(parse_state("skua upload 1\nend\n"));
  EXPECT_FALSE(parse_state("skua upload 1\nname a\nlength -1\nend\n"));
  EXPECT_FALSE(parse_state("skua upload 1\nname a\nother b\nend\n"));
  EXPECT_FALSE(parse_state("skua upload 1\nname " + std::string(max_state_bytes, 'a') + "\nend\n"));
}

}  // namespace
}  // namespace skua::files
