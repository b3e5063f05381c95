// SPDX-License-Identifier: MIT
#include "skua/error.hpp"

#include <gtest/gtest.h>

#include <cerrno>
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

TEST(Error, SaysWhereWhatAndWhatTheSystemSays) {
  EXPECT_EQ(Error(Errc::NotFound).message(), "it was not found");
  EXPECT_EQ(Error(Errc::NotFound, "open").message(), "open: it was not found");
  EXPECT_EQ(Error::from_system(EADDRINUSE, "bind").message(),
            "bind: the address is in use (Address already in use)");
}

TEST(Error, WhatIsWrongWithCertificatesComesLast) {
  EXPECT_EQ(Error(Errc::TlsConfiguration, "'a.pem' is empty").message(),
            "the TLS settings, certificates or keys cannot be used: 'a.pem' is empty");
  EXPECT_EQ(Error(Errc::TlsConfiguration).message(),
            "the TLS settings, certificates or keys cannot be used");
}

}  // namespace
}  // namespace skua
