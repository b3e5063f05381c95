// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <cerrno>

#include "skua/error.hpp"

namespace skua {
namespace {

TEST(ErrorTest, SaysWhereWhatAndWhatTheSystemSays) {
  EXPECT_EQ(Error(Errc::NotFound).message(), "it was not found");
  EXPECT_EQ(Error(Errc::NotFound, "open").message(), "open: it was not found");
  EXPECT_EQ(Error::from_system(EADDRINUSE, "bind").message(),
            "bind: the address is in use (Address already in use)");
}

TEST(ErrorTest, WhatIsWrongWithCertificatesComesLast) {
  EXPECT_EQ(Error(Errc::TlsConfiguration, "'a.pem' is empty").message(),
            "the TLS settings, certificates or keys cannot be used: 'a.pem' is empty");
  EXPECT_EQ(Error(Errc::TlsConfiguration).message(),
            "the TLS settings, certificates or keys cannot be used");
}

}  // namespace
}  // namespace skua
