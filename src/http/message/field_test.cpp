// SPDX-License-Identifier: MIT
#include "http/message/field.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <string>

#include "http/message/field_lookup.hpp"

namespace skua::http {
namespace {

TEST(FieldName, EveryKnownNameIsFoundInAnyCase) {
  for (std::size_t i = 0; i < lookup::name_count; ++i) {
    std::string name(lookup::names[i]);
    const FieldName wanted = static_cast<FieldName>(i + 1);
    EXPECT_EQ(find_field_name(name), wanted) << name;
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    EXPECT_EQ(find_field_name(name), wanted) << name;
  }
  EXPECT_EQ(find_field_name("Host"), FieldName::Host);
  EXPECT_EQ(find_field_name("Content-Length"), FieldName::ContentLength);
  EXPECT_EQ(find_field_name("Sec-WebSocket-Extensions"), FieldName::SecWebSocketExtensions);
}

TEST(FieldName, ANameThatDiffersInOneByteIsAnother) {
  for (const std::string_view known : lookup::names) {
    for (std::size_t i = 0; i < known.size(); ++i) {
      for (unsigned c = 1; c < 256; ++c) {
        std::string name(known);
        name[i] = static_cast<char>(c);
        if (std::tolower(static_cast<int>(c)) == known[i]) continue;
        EXPECT_EQ(find_field_name(name), FieldName::Other) << name;
      }
    }
    EXPECT_EQ(find_field_name(std::string(known) + "x"), FieldName::Other);
    EXPECT_EQ(find_field_name(known.substr(0, known.size() - 1)), FieldName::Other);
  }
}

TEST(FieldName, TextThatIsNoTokenIsOther) {
  EXPECT_EQ(find_field_name(""), FieldName::Other);
  EXPECT_EQ(find_field_name("content\rlength"), FieldName::Other);
  EXPECT_EQ(find_field_name(std::string(1000, 'a')), FieldName::Other);
}

TEST(Head, FindsTheFirstLineOfAName) {
  const std::string bytes = "Host: a\r\nX-Foo: 1\r\nx-foo: 2\r\n";
  const FieldLine lines[] = {{0, 6, 4, 1, FieldName::Host},
                             {9, 16, 5, 1, FieldName::Other},
                             {19, 26, 5, 1, FieldName::Other}};
  Head head;
  head.base = bytes.data();
  head.fields = lines;
  head.known = std::uint64_t{1} << static_cast<unsigned>(FieldName::Host);
  EXPECT_EQ(head.value(*head.find(FieldName::Host)), "a");
  EXPECT_EQ(head.value(*head.find("HOST")), "a");
  EXPECT_EQ(head.value(*head.find("X-FOO")), "1");
  EXPECT_EQ(head.find(FieldName::Cookie), nullptr);
  EXPECT_EQ(head.find("x-fo"), nullptr);
}

}  // namespace
}  // namespace skua::http
