// SPDX-License-Identifier: MIT
#include "skua/error.hpp"

#include <gtest/gtest.h>

#include <set>

namespace skua {
namespace {

TEST(Errc, EachHasASentenceOfItsOwn) {
  std::set<std::string_view> seen{"unknown error"};
  for (auto code = static_cast<std::uint16_t>(Errc::None);
       code <= static_cast<std::uint16_t>(Errc::SystemFailure); ++code) {
    EXPECT_TRUE(seen.insert(message(static_cast<Errc>(code))).second) << code;
  }
}

TEST(Errc, BadRequestsOfPlainHttpAreTheClientsFault) {
  EXPECT_EQ(status_for(Errc::PlainHttp), Status::BadRequest);
  EXPECT_EQ(status_for(Errc::TlsConfiguration), Status::InternalServerError);
}

}  // namespace
}  // namespace skua
