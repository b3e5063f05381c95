// SPDX-License-Identifier: MIT
#include "ws/close_code.hpp"

#include <gtest/gtest.h>

namespace skua::ws {
namespace {

std::string payload(unsigned code, std::string_view text = {}) {
  return std::string{static_cast<char>(code >> 8U), static_cast<char>(code & 0xffU)}.append(text);
}

TEST(CloseCode, WhichMayBeSent) {  // RFC 6455 §7.4
  for (unsigned code = 0; code <= 0xffff; ++code) {
    const bool is_defined =
        (code >= 1000 && code <= 1014 && code != 1004 && code != 1005 && code != 1006) ||
        (code >= 3000 && code < 5000);
    ASSERT_EQ(is_sendable(static_cast<std::uint16_t>(code)), is_defined) << code;
    const auto reason = parse_close(payload(code));
    ASSERT_EQ(reason.has_value(), is_defined) << code;
    if (is_defined) {
      ASSERT_EQ(reason->code, static_cast<CloseCode>(code));
    } else {
      ASSERT_EQ(close_code_for(reason.error().code()), CloseCode::ProtocolError);
    }
  }
}

TEST(CloseCode, Payloads) {
  EXPECT_EQ(parse_close("")->code, CloseCode::NoStatus);
  EXPECT_EQ(parse_close(payload(1000,
                                "gr\xc3\xbc\xc3\x9f"
                                "e"))
                ->text,
            "gr\xc3\xbc\xc3\x9f"
            "e");
  EXPECT_EQ(parse_close("\x03").error().code(), Errc::MalformedFrame);
  EXPECT_EQ(parse_close(payload(1000, "\xff")).error().code(), Errc::MalformedText);
  EXPECT_EQ(parse_close(payload(1000, "a\xc3")).error().code(), Errc::MalformedText);
}

TEST(CloseCode, WhatIsWrittenCanBeRead) {
  EXPECT_EQ(write_close(CloseCode::Normal, ""), payload(1000));
  EXPECT_EQ(write_close(CloseCode::GoingAway, "bye"), payload(1001, "bye"));
  EXPECT_EQ(write_close(static_cast<CloseCode>(4321), "own"), payload(4321, "own"));
  EXPECT_EQ(write_close(CloseCode::NoStatus, "text"), "");
  EXPECT_EQ(write_close(CloseCode::Abnormal, "text"), "");
  EXPECT_EQ(write_close(CloseCode::Normal, "\xff"), payload(1000));
}

TEST(CloseCode, LongReasonsAreCutWhereACharacterEnds) {
  EXPECT_EQ(write_close(CloseCode::Normal, std::string(123, 'a')).size(), 125U);
  EXPECT_EQ(write_close(CloseCode::Normal, std::string(124, 'a')).size(), 125U);
  for (std::size_t before = 119; before < 126; ++before) {
    const std::string text = std::string(before, 'a') + "\xf0\x9f\x90\xa6\xe2\x82\xac";
    const std::string written = write_close(CloseCode::Normal, text);
    EXPECT_LE(written.size(), 125U);
    EXPECT_GE(written.size(), 122U);
    EXPECT_TRUE(parse_close(written)) << before;
  }
}

TEST(CloseCode, ErrorsHaveTheirCodes) {
  EXPECT_EQ(close_code_for(Errc::MalformedFrame), CloseCode::ProtocolError);
  EXPECT_EQ(close_code_for(Errc::MalformedText), CloseCode::InvalidData);
  EXPECT_EQ(close_code_for(Errc::MalformedCoding), CloseCode::InvalidData);
  EXPECT_EQ(close_code_for(Errc::MessageTooLong), CloseCode::MessageTooBig);
  EXPECT_EQ(close_code_for(Errc::OutOfMemory), CloseCode::InternalError);
}

}  // namespace
}  // namespace skua::ws
