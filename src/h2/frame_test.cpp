// SPDX-License-Identifier: MIT
#include "h2/frame.hpp"

#include <gtest/gtest.h>

namespace skua::h2 {
namespace {

Error reset(ErrorCode code) { return Error(Errc::Reset, name(code).data()); }

TEST(CodeFor, PassesOnWhatTellsOfTheStream) {
  EXPECT_EQ(code_for(reset(ErrorCode::Cancel)), ErrorCode::Cancel);
  EXPECT_EQ(code_for(reset(ErrorCode::EnhanceYourCalm)), ErrorCode::EnhanceYourCalm);
  EXPECT_EQ(code_for(reset(ErrorCode::ConnectError)), ErrorCode::ConnectError);
  EXPECT_EQ(code_for(Errc::TimedOut), ErrorCode::Cancel);
}

TEST(CodeFor, IsAnInternalErrorOtherwise) {
  for (const ErrorCode code : {ErrorCode::NoError, ErrorCode::ProtocolError,
                               ErrorCode::RefusedStream, ErrorCode::Http11Required}) {
    EXPECT_EQ(code_for(reset(code)), ErrorCode::InternalError) << name(code);
  }
  EXPECT_EQ(code_for(Errc::Closed), ErrorCode::InternalError);
  EXPECT_EQ(code_for(Error(Errc::Reset, "connection")), ErrorCode::InternalError);
}

}  // namespace
}  // namespace skua::h2
