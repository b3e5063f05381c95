// SPDX-License-Identifier: MIT
// The client's half of SOCKS 5: each answer whole and byte by byte, and every kind of nonsense.
#include "client/connect/socks5.hpp"

#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace skua::client {
namespace {

using State = Socks5::State;
using namespace std::string_literals;
using namespace std::string_view_literals;

constexpr std::string_view granted = "\x05\x00\x00\x01\x7f\x00\x00\x01\x1f\x90"sv;

/// Feeds one answer in pieces of this size.
void feed(Socks5& dialogue, std::string_view answer, std::size_t piece_bytes) {
  for (std::size_t at = 0; at < answer.size(); at += piece_bytes) {
    dialogue.read(answer.substr(at, piece_bytes));
  }
}

/// Returns why the dialogue fails after these answers, however they are cut.
std::string failure(const std::vector<std::string>& answers, std::string_view user = "") {
  std::string first;
  for (const std::size_t piece_bytes : {1U, 2U, 3U, 1000U}) {
    Socks5 dialogue("example.com", 443, user, user.empty() ? "" : "secret");
    for (const std::string& answer : answers) {
      EXPECT_EQ(dialogue.state(), State::Talking);
      static_cast<void>(dialogue.take_output());
      feed(dialogue, answer, piece_bytes);
    }
    EXPECT_EQ(dialogue.state(), State::Failed) << piece_bytes;
    EXPECT_EQ(dialogue.take_output(), "");
    if (piece_bytes == 1) first = dialogue.why();
    EXPECT_EQ(dialogue.why(), first);
  }
  return first;
}

std::string refusal(char code) { return failure({"\x05\x00"s, {5, code, 0, 1}}); }

TEST(Socks5, AsksForANameByteByByte) {
  for (const std::size_t piece_bytes : {1U, 2U, 1000U}) {
    Socks5 dialogue("example.com", 0x1234, "", "");
    EXPECT_EQ(dialogue.take_output(), "\x05\x01\x00"sv);
    EXPECT_EQ(dialogue.take_output(), "");
    feed(dialogue, "\x05\x00"sv, piece_bytes);
    EXPECT_EQ(dialogue.take_output(),
              "\x05\x01\x00\x03\x0b"
              "example.com\x12\x34"sv);
    feed(dialogue, granted.substr(0, granted.size() - 1), piece_bytes);
    EXPECT_EQ(dialogue.state(), State::Talking);
    EXPECT_TRUE(dialogue.is_in_answer());
    dialogue.read(granted.substr(granted.size() - 1));
    EXPECT_EQ(dialogue.state(), State::Open);
    EXPECT_EQ(dialogue.take_output(), "");
  }
}

TEST(Socks5, AsksForAddresses) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"127.0.0.1", "\x05\x01\x00\x01\x7f\x00\x00\x01\x00\x50"sv},
      {"::1", "\x05\x01\x00\x04\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x01\x00\x50"sv},
      {"[::1]", "\x05\x01\x00\x04\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x01\x00\x50"sv},
      {"127.1",
       "\x05\x01\x00\x03\x05"
       "127.1\x00\x50"sv}};
  for (const auto& [host, request] : cases) {
    Socks5 dialogue(host, 80, "", "");
    static_cast<void>(dialogue.take_output());
    dialogue.read("\x05\x00"sv);
    EXPECT_EQ(dialogue.take_output(), request) << host;
  }
}

TEST(Socks5, AuthenticatesIfAskedTo) {
  for (const std::size_t piece_bytes : {1U, 2U}) {
    Socks5 dialogue("a", 80, "us:er", "p\nw");
    EXPECT_EQ(dialogue.take_output(), "\x05\x02\x00\x02"sv);
    feed(dialogue, "\x05\x02"sv, piece_bytes);
    EXPECT_EQ(dialogue.take_output(), "\x01\x05us:er\x03p\nw"sv);
    feed(dialogue, "\x01\x00"sv, piece_bytes);
    EXPECT_EQ(dialogue.take_output(),
              "\x05\x01\x00\x03\x01"
              "a\x00\x50"sv);
    feed(dialogue, granted, piece_bytes);
    EXPECT_EQ(dialogue.state(), State::Open);
  }
}

TEST(Socks5, MayGoOnWithoutTheOfferedCredentials) {
  Socks5 dialogue("a", 80, "u", "");
  EXPECT_EQ(dialogue.take_output(), "\x05\x02\x00\x02"sv);
  dialogue.read("\x05\x00"sv);
  EXPECT_EQ(dialogue.take_output(),
            "\x05\x01\x00\x03\x01"
            "a\x00\x50"sv);
}

TEST(Socks5, TheProxysAddressMayBeOfAnyType) {
  const std::string six = "\x05\x00\x00\x04"s + std::string(18, 'x');
  const std::string name =
      "\x05\x00\x00\x03\x02"
      "ab\x00\x50"s;
  const std::string longest = "\x05\x00\x00\x03\xff"s + std::string(257, 'x');
  const std::string none = "\x05\x00\x00\x03\x00\x00\x00"s;
  for (const std::string& answer : {std::string(granted), six, name, longest, none}) {
    for (const std::size_t piece_bytes : {1U, 7U, 1000U}) {
      Socks5 dialogue("a", 80, "", "");
      dialogue.read("\x05\x00"sv);
      feed(dialogue, answer.substr(0, answer.size() - 1), piece_bytes);
      EXPECT_EQ(dialogue.state(), State::Talking);
      dialogue.read(answer.substr(answer.size() - 1));
      EXPECT_EQ(dialogue.state(), State::Open);
    }
  }
}

TEST(Socks5, OtherProtocolsAreRecognized) {
  EXPECT_EQ(failure({"HTTP/1.1 400 Bad Request\r\n\r\n"}), "it speaks HTTP instead of SOCKS 5");
  EXPECT_EQ(failure({"\x00\x5b"s}), "it speaks SOCKS 4 instead of SOCKS 5");
  EXPECT_EQ(failure({"\x04\x00"s}), "it speaks SOCKS 4 instead of SOCKS 5");
  EXPECT_EQ(failure({"\xff\xff"s}), "it does not speak SOCKS 5: the version of its answer is 255");
  EXPECT_EQ(failure({"\x05\x00"s, "\x04\x00"s}),
            "it does not speak SOCKS 5: the version of its answer is 4");
  EXPECT_EQ(failure({"\x05\x02"s, "\x05\x00"s}, "u"),
            "it does not speak SOCKS 5: the version of its answer is 5");
}

TEST(Socks5, SaysWhyItIsRefused) {
  EXPECT_EQ(failure({"\x05\xff"s}),
            "it requires authentication, and no name and password are set for it");
  EXPECT_EQ(failure({"\x05\xff"s}, "u"), "it does not accept a name and password");
  EXPECT_EQ(failure({"\x05\x02"s}), "it chose a way to authenticate that was not offered");
  EXPECT_EQ(failure({"\x05\x01"s}, "u"), "it chose a way to authenticate that was not offered");
  EXPECT_EQ(failure({"\x05\x02"s, "\x01\x01"s}, "u"), "it rejected the name and password");
  EXPECT_EQ(refusal(1), "it failed, and did not say why");
  EXPECT_EQ(refusal(2), "its rules do not allow this connection");
  EXPECT_EQ(refusal(3), "it cannot reach the network");
  EXPECT_EQ(refusal(4), "it cannot reach the host");
  EXPECT_EQ(refusal(5), "the host refused its connection");
  EXPECT_EQ(refusal(6), "the host is too far away from it (TTL expired)");
  EXPECT_EQ(refusal(7), "it does not support CONNECT");
  EXPECT_EQ(refusal(8), "it does not support this type of address");
  EXPECT_EQ(refusal(9), "it refused with an unknown code: 9");
  EXPECT_EQ(refusal('\xff'), "it refused with an unknown code: 255");
}

TEST(Socks5, AnotherAddressIsWorthATryAfterSomeRefusals) {
  for (int code = 1; code < 256; ++code) {
    Socks5 dialogue("a", 80, "", "");
    dialogue.read("\x05\x00"sv);
    const std::string answer{5, static_cast<char>(code)};
    dialogue.read(answer);
    ASSERT_EQ(dialogue.state(), State::Failed);
    const bool is_about_address = code != 2 && code != 7 && code <= 8;
    EXPECT_EQ(dialogue.may_try_another_address(), is_about_address) << code;
  }
}

TEST(Socks5, NonsenseIsRefused) {
  for (int type = 0; type < 256; ++type) {
    if (type == 1 || type == 3 || type == 4) continue;
    EXPECT_EQ(failure({"\x05\x00"s, {5, 0, 0, static_cast<char>(type)}}),
              "its answer has an unknown type of address");
  }
  EXPECT_EQ(failure({"\x05\x00"s, std::string(granted) + "H"}), "it sent more than an answer");
}

TEST(Socks5, AnAnswerToAQuestionThatWasNotAskedIsRefused) {
  for (const std::string_view answer : {"\x05\x00\x05\x00\x00\x01"sv, "\x05\x00x"sv}) {
    Socks5 dialogue("a", 80, "", "");
    dialogue.read(answer);
    EXPECT_EQ(dialogue.state(), State::Failed);
    EXPECT_EQ(dialogue.why(), "it sent more than an answer");
  }
  Socks5 open("a", 80, "", "");
  open.read("\x05\x00"sv);
  open.read(granted);
  open.read("x");
  EXPECT_EQ(open.why(), "it sent more than an answer");
}

TEST(Socks5, TextsThatAreTooLongAreNotSent) {
  const std::string most(255, 'x');
  Socks5 longest(most, 80, most, most);
  std::size_t sent = longest.take_output().size();
  longest.read("\x05\x02"sv);
  sent += longest.take_output().size();
  longest.read("\x01\x00"sv);
  sent += longest.take_output().size();
  EXPECT_EQ(sent, Socks5::max_output_bytes);
  const std::string more = most + "x";
  for (const auto& [host, user, password] :
       {std::tuple(more, ""s, ""s), std::tuple(""s, ""s, ""s), std::tuple("a"s, more, ""s),
        std::tuple("a"s, ""s, more)}) {
    Socks5 dialogue(host, 80, user, password);
    EXPECT_EQ(dialogue.state(), State::Failed);
    EXPECT_EQ(dialogue.take_output(), "");
  }
}

}  // namespace
}  // namespace skua::client
