// SPDX-License-Identifier: MIT
#include "proxy/grpc.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string_view>

#include "http/message/request_parts.hpp"
#include "skua/testing.hpp"

namespace skua::proxy {
namespace {

using namespace std::chrono_literals;

TEST(GrpcTimeout, HasAUnit) {
  EXPECT_EQ(parse_grpc_timeout("2H"), 2h);
  EXPECT_EQ(parse_grpc_timeout("3M"), 3min);
  EXPECT_EQ(parse_grpc_timeout("10S"), 10s);
  EXPECT_EQ(parse_grpc_timeout("250m"), 250ms);
  EXPECT_EQ(parse_grpc_timeout("7u"), 7us);
  EXPECT_EQ(parse_grpc_timeout("99999999n"), 99999999ns);
  EXPECT_EQ(parse_grpc_timeout("0m"), 0ms);
}

TEST(GrpcTimeout, IsNeverMoreThanADurationHolds) {
  EXPECT_EQ(parse_grpc_timeout("99999999H"), Duration::max());
  EXPECT_EQ(parse_grpc_timeout("99999999S"), 99999999s);
}

TEST(GrpcTimeout, IsIgnoredIfItIsMalformed) {
  for (const char* const bad : {"", "S", "1", "1s", "1h", "-1S", "+1S", "1.5S", " 1S", "1 S", "1S ",
                                "123456789S", "1SS", "S1", "0x1S"}) {
    EXPECT_EQ(parse_grpc_timeout(bad), std::nullopt) << bad;
  }
}

TEST(Grpc, IsKnownByTheTypeOfItsContent) {
  const auto is_call = [](std::string_view type) {
    testing::FakeRequest fake("POST /a");
    fake.header("Content-Type", type);
    return is_grpc(*http::RequestAccess::parts(fake.request()).head);
  };
  EXPECT_TRUE(is_call("application/grpc"));
  EXPECT_TRUE(is_call("application/grpc+proto"));
  EXPECT_TRUE(is_call("Application/gRPC;a=b"));
  EXPECT_FALSE(is_call("application/grpc-web"));
  EXPECT_FALSE(is_call("application/grpcx"));
  EXPECT_FALSE(is_call("application/json"));
  testing::FakeRequest fake("POST /a");
  EXPECT_FALSE(is_grpc(*http::RequestAccess::parts(fake.request()).head));
}

}  // namespace
}  // namespace skua::proxy
