// SPDX-License-Identifier: MIT
#include "skua/error.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>
#include <set>
#include <string>
#include <type_traits>
#include <utility>

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
            "bind: the address is in use (" + std::string(std::strerror(EADDRINUSE)) + ")");
}

TEST(Error, WhatIsWrongWithCertificatesComesLast) {
  EXPECT_EQ(Error(Errc::TlsConfiguration, "'a.pem' is empty").message(),
            "the TLS settings, certificates or keys cannot be used: 'a.pem' is empty");
  EXPECT_EQ(Error(Errc::TlsConfiguration).message(),
            "the TLS settings, certificates or keys cannot be used");
}

TEST(Problem, SaysWhatItsErrorSays) {
  const Problem problem = Problem::from({Errc::NotFound, "open"});
  EXPECT_EQ(problem.code(), Errc::NotFound);
  EXPECT_EQ(problem.error.context(), "open");
  EXPECT_EQ(problem.message(), "open: it was not found");
}

TEST(Result, WithoutAValueIsASuccess) {
  EXPECT_TRUE(Result<void>());
  EXPECT_TRUE((Result<void, Problem>()));
  EXPECT_NO_THROW(Result<void>().value());
  EXPECT_NO_THROW((Result<void, Problem>().value()));
}

TEST(Result, WithoutAValueKeepsItsError) {
  const Result<void> plain = Errc::Closed;
  EXPECT_FALSE(plain);
  EXPECT_EQ(plain.error().code(), Errc::Closed);
  Result<void, Problem> told = Problem{Errc::NotFound, "no page 7"};
  EXPECT_FALSE(told);
  EXPECT_EQ(told.error().text, "no page 7");
  EXPECT_EQ(std::move(told).error().text, "no page 7");
}

TEST(Result, WithoutAValueThrowsItsText) {
  const Result<void, Problem> told = Problem{Errc::NotFound, "no page 7"};
  try {
    told.value();
    FAIL() << "nothing was thrown";
  } catch (const Exception& exception) {
    EXPECT_STREQ(exception.what(), "no page 7");
    EXPECT_EQ(exception.error().code(), Errc::NotFound);
  }
}

static_assert(std::is_trivially_copyable_v<Result<void>>);
static_assert(sizeof(Result<void>) == sizeof(Error));

}  // namespace
}  // namespace skua
