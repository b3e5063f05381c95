// SPDX-License-Identifier: MIT
#include "net/log.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

namespace skua::net {
namespace {

TEST(Log, TakesALineThatIsJoinedOfPieces) {
  std::string told;
  const Log log = [&](LogLevel level, std::string_view line) {
    EXPECT_EQ(level, LogLevel::Warning);
    told = line;
  };
  tell(log, LogLevel::Warning, {"a", "", "bc"});
  EXPECT_EQ(told, "abc");
  tell(log, LogLevel::Warning, Error(Errc::TimedOut, "connect"));
  EXPECT_EQ(told, Error(Errc::TimedOut, "connect").message());
}

TEST(Log, IsToldNothingIfItIsEmpty) {
  tell({}, LogLevel::Error, {"a"});
  tell({}, LogLevel::Error, Errc::TimedOut);
  EXPECT_FALSE(quiet({}));
}

TEST(Log, DropsWhatAQuietOneThrows) {
  int calls = 0;
  const Log log = quiet([&](LogLevel, std::string_view) {
    ++calls;
    throw std::runtime_error("no");
  });
  tell(log, LogLevel::Error, {"a"});
  EXPECT_EQ(calls, 1);
}

TEST(Log, OfProgramsPrintsWarningsAndErrors) {
  ::testing::internal::CaptureStderr();
  const Log log = to_standard_error();
  log(LogLevel::Info, "ready");
  log(LogLevel::Warning, "a\nb");
  log(LogLevel::Error, "c");
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "warning: a b\nerror: c\n");
}

}  // namespace
}  // namespace skua::net
