// SPDX-License-Identifier: MIT
#include "skua/trace_context.hpp"

#include <gtest/gtest.h>

namespace skua {
namespace {

constexpr std::string_view good = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

TEST(TraceContext, IsParsedAndWritten) {
  const auto parsed = TraceContext::parse(good, "congo=t61rcWkgMzE,rojo=00f067aa0ba902b7");
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->traceparent(), good);
  EXPECT_EQ(parsed->trace_id(), "0af7651916cd43dd8448eb211c80319c");
  EXPECT_EQ(parsed->span_id(), "b7ad6b7169203331");
  EXPECT_TRUE(parsed->is_sampled());
  EXPECT_EQ(parsed->tracestate(), "congo=t61rcWkgMzE,rojo=00f067aa0ba902b7");
}

TEST(TraceContext, KnowsOneFlag) {
  const std::string text(good.substr(0, 53));
  EXPECT_FALSE(TraceContext::parse(text + "00")->is_sampled());
  EXPECT_FALSE(TraceContext::parse(text + "fe")->is_sampled());
  EXPECT_TRUE(TraceContext::parse(text + "ff")->is_sampled());
  EXPECT_EQ(TraceContext::parse(text + "ff")->traceparent(), text + "01");
}

TEST(TraceContext, OfALaterVersionMayHaveMore) {
  const std::string later = "01" + std::string(good.substr(2));
  EXPECT_EQ(TraceContext::parse(later)->traceparent(), good);
  EXPECT_EQ(TraceContext::parse(later + "-what-follows")->traceparent(), good);
  EXPECT_FALSE(TraceContext::parse(later + "x"));
}

TEST(TraceContext, IsRefusedIfMalformed) {
  const auto with = [](std::size_t at, char c) {
    std::string text(good);
    text[at] = c;
    return text;
  };
  for (std::size_t size = 0; size < good.size(); ++size) {
    EXPECT_FALSE(TraceContext::parse(good.substr(0, size))) << size;
  }
  for (std::size_t at = 0; at < good.size(); ++at) {
    EXPECT_FALSE(TraceContext::parse(with(at, 'x'))) << at;
    EXPECT_FALSE(TraceContext::parse(with(at, 'A'))) << "upper case, or no dash, at " << at;
    EXPECT_FALSE(TraceContext::parse(with(at, ' '))) << at;
  }
  EXPECT_FALSE(TraceContext::parse(std::string(good) + "-00")) << "version 00 has no more";
  EXPECT_FALSE(TraceContext::parse("ff" + std::string(good.substr(2))));
  EXPECT_FALSE(TraceContext::parse("00-00000000000000000000000000000000-b7ad6b7169203331-01"));
  EXPECT_FALSE(TraceContext::parse("00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01"));
}

TEST(TraceContext, DropsAMalformedState) {
  const auto state = [](std::string_view text) {
    return TraceContext::parse(good, text)->tracestate();
  };
  std::string many;
  for (int i = 0; i < 32; ++i) many += "k" + std::to_string(i) + "=v,";
  for (const std::string_view text : {"", "a=b", "a=b,c=d", "a=b, c=d", "a=b,,c=d",
                                      "tenant@system=v w", "1a_-*/=~", "a@b@c=d", "1@=e"}) {
    EXPECT_EQ(state(text), text);
  }
  EXPECT_EQ(state(many), many);
  for (const std::string& text : {std::string("a"), std::string("A=b"), std::string("=b"),
                                  std::string("a=b=c"), std::string("a= "), std::string("a=\x01"),
                                  std::string("@a=b"), many + "z=v", "a=" + std::string(257, 'x'),
                                  "a=" + std::string(200, 'x') + ",b=" + std::string(256, 'x') +
                                      ",c=" + std::string(100, 'x')}) {
    EXPECT_EQ(state(text), "") << text;
  }
}

TEST(TraceContext, ContinuesATrace) {
  const TraceContext first = TraceContext::start(true);
  const TraceContext next = first.child();
  EXPECT_EQ(next.trace_id(), first.trace_id());
  EXPECT_NE(next.span_id(), first.span_id());
  EXPECT_TRUE(next.is_sampled());
  EXPECT_NE(TraceContext::start(false).trace_id(), first.trace_id());
  EXPECT_FALSE(TraceContext::start(false).is_sampled());
  EXPECT_TRUE(TraceContext::parse(first.traceparent()));
}

}  // namespace
}  // namespace skua
