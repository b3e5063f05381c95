// SPDX-License-Identifier: MIT
#include "skua/body.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace skua {
namespace {

using Kind = Body::Kind;

TEST(Body, SaysWhoOwnsItsBytes) {
  EXPECT_EQ(Body().kind(), Kind::None);
  EXPECT_EQ(Body("").kind(), Kind::None);
  EXPECT_EQ(Body("short").kind(), Kind::Inline);
  EXPECT_EQ(Body(std::string_view("short")).kind(), Kind::Inline);
  EXPECT_EQ(Body(std::string(56, 'x').c_str()).kind(), Kind::Inline);
  EXPECT_EQ(Body(std::string(57, 'x').c_str()).kind(), Kind::Owned);
  EXPECT_EQ(Body(std::string("short")).kind(), Kind::Owned);
  EXPECT_EQ(Body(StaticText("literal")).kind(), Kind::Static);
  EXPECT_EQ(Body(std::make_shared<const std::string>("shared")).kind(), Kind::Shared);
  EXPECT_EQ(Body(std::shared_ptr<const std::string>()).kind(), Kind::None);
  EXPECT_EQ(Body(FileRange{nullptr, 3, 1, 10}).kind(), Kind::File);
}

TEST(Body, BorrowsALiteralWithoutACopy) {
  static constexpr char literal[] = "a literal";
  EXPECT_EQ(Body(StaticText(literal)).text().data(), literal);
}

TEST(Body, CopiesAndMovesEveryKind) {
  const auto shared = std::make_shared<const std::string>("shared");
  const std::vector<Body> bodies = {Body(),
                                    Body("inline"),
                                    Body(std::string(100, 'o')),
                                    Body(StaticText("static")),
                                    Body(shared),
                                    Body(FileRange{shared, 3, 1, 10})};
  for (const Body& body : bodies) {
    for (const Body& other : bodies) {
      Body copy(body);
      EXPECT_EQ(copy.kind(), body.kind());
      EXPECT_EQ(copy.text(), body.text());
      EXPECT_EQ(copy.size_bytes(), body.size_bytes());
      copy = other;
      EXPECT_EQ(copy.text(), other.text());
      Body moved(std::move(copy));
      EXPECT_EQ(moved.text(), other.text());
      moved = Body(body);
      EXPECT_EQ(moved.kind(), body.kind());
      EXPECT_EQ(moved.text(), body.text());
    }
  }
  EXPECT_EQ(shared.use_count(), 3);
}

TEST(Body, KnowsTheSizeOfAFileRangeAndKeepsItOpen) {
  const auto owner = std::make_shared<int>(1);
  {
    const Body body(FileRange{owner, 3, 5, 10});
    EXPECT_EQ(body.size_bytes(), 10U);
    EXPECT_EQ(body.text(), "");
    EXPECT_EQ(body.file()->offset, 5U);
    EXPECT_EQ(owner.use_count(), 2);
  }
  EXPECT_EQ(owner.use_count(), 1);
}

}  // namespace
}  // namespace skua
