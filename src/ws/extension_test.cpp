// SPDX-License-Identifier: MIT
#include "ws/extension.hpp"

#include <gtest/gtest.h>

#include <array>

#include "ws/deflate.hpp"

namespace skua::ws {
namespace {

/// Returns `name;parameter=value|name`, or `malformed`.
std::string parsed(std::string_view field) {
  const auto extensions = parse_extensions(field);
  if (!extensions) {
    EXPECT_EQ(extensions.error().code(), Errc::MalformedField);
    return "malformed";
  }
  std::string out;
  for (const Extension& extension : *extensions) {
    if (!out.empty()) out += '|';
    out += extension.name;
    for (const auto& parameter : extension.parameters) {
      out.append(";").append(parameter.name);
      if (parameter.value) out.append("=").append(*parameter.value);
    }
  }
  return out;
}

TEST(Extensions, Lists) {
  EXPECT_EQ(parsed(""), "");
  EXPECT_EQ(parsed("foo"), "foo");
  EXPECT_EQ(parsed("foo, bar; baz=2"), "foo|bar;baz=2");  // RFC 6455 §9.1
  EXPECT_EQ(parsed("a;b , \tc ; d = \"1\\5\" ;e"), "a;b|c;d=15;e");
  EXPECT_EQ(parsed(", a,, b,"), "a|b");
  EXPECT_EQ(parsed("a;x=\",\""), "malformed");
}

TEST(Extensions, Malformed) {
  for (const std::string_view field :
       {";", "a;", "a;=1", "a;b=", "a b", "a;b c", "a;b=\"", "a;b=\"c", "a;b=\"\"", "a;b=\"c d\"",
        "a;b=\"c\"d", "a=b", "\"a\"", "a;b=\"c\\", "a,;b", "\x80"}) {
    EXPECT_EQ(parsed(field), "malformed") << field;
  }
}

std::string response_to(std::string_view field, const DeflateOptions& options) {
  const auto offers = parse_extensions(field);
  const auto accepted = accept_deflate(offers.value(), options);
  if (!accepted) return "declined";
  // The response must match the agreed parameters.
  const DeflateParameters& agreed = accepted->parameters;
  const std::string_view response = accepted->response;
  EXPECT_EQ(response.find("server_no") != response.npos, agreed.server_no_context_takeover);
  EXPECT_EQ(response.find("client_no") != response.npos, agreed.client_no_context_takeover);
  EXPECT_TRUE(agreed.server_max_window_bits == 15 || response.find("server_max") != response.npos);
  EXPECT_EQ(response.find("client_max") != response.npos, agreed.client_max_window_bits < 15);
  EXPECT_EQ(response.substr(0, 18), "permessage-deflate");
  return std::string(response.substr(18));
}

constexpr DeflateOptions keeping{.keeps_context = true, .peer_keeps_context = true};

TEST(AcceptDeflate, TakesTheFirstOfferThatCanBeKept) {
  if (!is_deflate_available()) GTEST_SKIP() << "built without zlib";
  EXPECT_EQ(response_to("permessage-deflate", keeping), "");
  EXPECT_EQ(response_to("permessage-deflate; client_max_window_bits", keeping), "");
  EXPECT_EQ(response_to("x-webkit-deflate-frame, permessage-deflate", keeping), "");
  EXPECT_EQ(response_to("x-webkit-deflate-frame", keeping), "declined");
  EXPECT_EQ(response_to("", keeping), "declined");
  // RFC 7692 §7.1.3
  EXPECT_EQ(response_to("permessage-deflate; foo, permessage-deflate; server_max_window_bits=10",
                        keeping),
            "; server_max_window_bits=10");
  EXPECT_EQ(response_to("permessage-deflate; server_max_window_bits=\"10\"", keeping),
            "; server_max_window_bits=10");
}

TEST(AcceptDeflate, ContextsGoWhereOneSideWantsIt) {
  if (!is_deflate_available()) GTEST_SKIP() << "built without zlib";
  EXPECT_EQ(response_to("permessage-deflate", {}),
            "; server_no_context_takeover; client_no_context_takeover");
  EXPECT_EQ(response_to("permessage-deflate; server_no_context_takeover", keeping),
            "; server_no_context_takeover");
  EXPECT_EQ(response_to("permessage-deflate; client_no_context_takeover", keeping),
            "; client_no_context_takeover");
}

TEST(AcceptDeflate, WindowsAreTheSmallerOnes) {
  if (!is_deflate_available()) GTEST_SKIP() << "built without zlib";
  DeflateOptions small = keeping;
  small.window_bits = 11;
  small.peer_window_bits = 9;
  EXPECT_EQ(response_to("permessage-deflate", small), "; server_max_window_bits=11");
  EXPECT_EQ(response_to("permessage-deflate; client_max_window_bits", small),
            "; server_max_window_bits=11; client_max_window_bits=9");
  EXPECT_EQ(
      response_to("permessage-deflate; client_max_window_bits=8; server_max_window_bits=12", small),
      "; server_max_window_bits=11; client_max_window_bits=8");
  EXPECT_EQ(response_to("permessage-deflate; server_max_window_bits=15", keeping),
            "; server_max_window_bits=15");
}

TEST(AcceptDeflate, WhatIsNotUnderstoodDeclines) {
  if (!is_deflate_available()) GTEST_SKIP() << "built without zlib";
  for (const std::string_view parameters :
       {"foo", "server_no_context_takeover=1", "client_no_context_takeover=true",
        "server_max_window_bits", "server_max_window_bits=7", "server_max_window_bits=16",
        "server_max_window_bits=08", "server_max_window_bits=+9", "client_max_window_bits=7",
        "client_max_window_bits=100", "client_max_window_bits; client_max_window_bits=9",
        "server_no_context_takeover; server_no_context_takeover",
        "client_no_context_takeover; client_no_context_takeover",
        "server_max_window_bits=9; server_max_window_bits=9"}) {
    EXPECT_EQ(response_to("permessage-deflate; " + std::string(parameters), keeping), "declined")
        << parameters;
  }
}

TEST(OfferDeflate, SaysWhatIsWanted) {
  if (!is_deflate_available()) GTEST_SKIP() << "built without zlib";
  EXPECT_EQ(offer_deflate(keeping), "permessage-deflate; client_max_window_bits");
  DeflateOptions small;
  small.window_bits = 10;
  small.peer_window_bits = 9;
  EXPECT_EQ(offer_deflate(small),
            "permessage-deflate; server_no_context_takeover; client_no_context_takeover; "
            "server_max_window_bits=9; client_max_window_bits=10");
}

TEST(OfferDeflate, OurServerKeepsWhatOurClientOffers) {
  if (!is_deflate_available()) GTEST_SKIP() << "built without zlib";
  for (const bool keeps : {false, true}) {
    for (const std::uint8_t bits : std::to_array<std::uint8_t>({8, 12, 15})) {
      const DeflateOptions client{.keeps_context = keeps, .window_bits = bits};
      const std::string offer = offer_deflate(client);
      for (const DeflateOptions& server : {keeping, DeflateOptions{}, client}) {
        const auto accepted = accept_deflate(parse_extensions(offer).value(), server);
        ASSERT_TRUE(accepted);
        const auto agreed = check_deflate_response(accepted->response, client);
        ASSERT_TRUE(agreed && *agreed) << offer << " -> " << accepted->response;
        const DeflateParameters& one = **agreed;
        const DeflateParameters& other = accepted->parameters;
        EXPECT_EQ(one.server_no_context_takeover, other.server_no_context_takeover);
        EXPECT_EQ(one.client_no_context_takeover, other.client_no_context_takeover);
        EXPECT_EQ(one.server_max_window_bits, other.server_max_window_bits);
        EXPECT_EQ(one.client_max_window_bits, other.client_max_window_bits);
      }
    }
  }
}

bool is_refused(std::string_view field, const DeflateOptions& options) {
  const auto agreed = check_deflate_response(field, options);
  return !agreed && agreed.error().code() == Errc::MalformedField;
}

TEST(CheckDeflateResponse, RefusesWhatWasNotOffered) {
  if (!is_deflate_available()) GTEST_SKIP() << "built without zlib";
  EXPECT_FALSE(check_deflate_response("", keeping).value());
  EXPECT_TRUE(check_deflate_response("permessage-deflate", keeping).value());
  EXPECT_TRUE(is_refused("foo", keeping));
  EXPECT_TRUE(is_refused("permessage-deflate, permessage-deflate", keeping));
  EXPECT_TRUE(is_refused("permessage-deflate; foo", keeping));
  EXPECT_TRUE(is_refused("permessage-deflate; client_max_window_bits", keeping));
  EXPECT_TRUE(is_refused("permessage-deflate;", keeping));
  EXPECT_TRUE(is_refused("permessage-deflate", {}));  // it keeps its context
  DeflateOptions small = keeping;
  small.window_bits = 10;
  small.peer_window_bits = 10;
  EXPECT_TRUE(is_refused("permessage-deflate", small));
  EXPECT_TRUE(is_refused("permessage-deflate; server_max_window_bits=11", small));
  EXPECT_TRUE(is_refused("permessage-deflate; server_max_window_bits=10; client_max_window_bits=11",
                         small));
  const auto agreed = check_deflate_response(
      "permessage-deflate; server_max_window_bits=9; client_max_window_bits=8", small);
  const DeflateParameters parameters = agreed.value().value_or(DeflateParameters{});
  EXPECT_EQ(parameters.server_max_window_bits, 9);
  EXPECT_EQ(parameters.client_max_window_bits, 8);
}

}  // namespace
}  // namespace skua::ws
