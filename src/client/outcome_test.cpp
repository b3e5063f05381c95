// SPDX-License-Identifier: MIT
#include "client/outcome.hpp"

#include <gtest/gtest.h>

namespace skua::client {
namespace {

TEST(Outcome, DependsOnHowFarTheRequestGot) {
  const Reached nowhere{};
  const Reached connected{.is_connected = true};
  EXPECT_EQ(outcome_of(Errc::Refused, nowhere), Outcome::ConnectFailed);
  EXPECT_EQ(outcome_of(Errc::NameNotResolved, nowhere), Outcome::ConnectFailed);
  EXPECT_EQ(outcome_of(Errc::TimedOut, nowhere), Outcome::Local);  // no connection was free
  EXPECT_EQ(outcome_of(Errc::TimedOut, {.has_tried = true}), Outcome::ConnectTimeout);
  EXPECT_EQ(outcome_of(Errc::TlsCertificate, nowhere), Outcome::TlsFailed);
  EXPECT_EQ(outcome_of(Errc::TooManyOpenFiles, nowhere), Outcome::Local);
  EXPECT_EQ(outcome_of(Errc::TimedOut, connected), Outcome::Timeout);
  EXPECT_EQ(outcome_of(Errc::Closed, {.is_connected = true, .is_fallback = true}), Outcome::Local);
  EXPECT_EQ(outcome_of(Errc::Closed, connected), Outcome::Closed);
  EXPECT_EQ(outcome_of(Errc::Reset, connected), Outcome::Closed);
  EXPECT_EQ(outcome_of(Errc::MalformedStartLine, connected), Outcome::Malformed);
  EXPECT_EQ(outcome_of(std::uint16_t{200}), Outcome::Answered);
  EXPECT_EQ(outcome_of(std::uint16_t{404}), Outcome::Answered);
  EXPECT_EQ(outcome_of(std::uint16_t{500}), Outcome::ServerError);
  EXPECT_EQ(outcome_of(std::uint16_t{501}), Outcome::ServerError);
  EXPECT_EQ(outcome_of(std::uint16_t{503}), Outcome::Unavailable);
  EXPECT_EQ(outcome_of(std::uint16_t{505}), Outcome::ServerError);
}

}  // namespace
}  // namespace skua::client
