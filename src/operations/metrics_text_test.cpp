// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

#include "skua/metrics.hpp"

namespace skua {
namespace {

TEST(MetricsText, IsWrittenInBothFormats) {
  const auto text = [](MetricsFormat format) {
    MetricsText out(format);
    out.family("shop_orders", MetricType::Counter, "Orders placed.");
    out.sample({{"kind", "book"}}, 3U);
    out.sample({{"kind", "toy"}, {"paid", "yes"}}, 0.5);
    out.family("shop_open", MetricType::Gauge, "Whether it is open.");
    out.sample(1U);
    out.family("shop", MetricType::Info, "The shop.");
    out.sample({{"town", "Bergen"}}, 1U);
    return out.take();
  };
  EXPECT_EQ(text(MetricsFormat::Prometheus),
            "# HELP shop_orders_total Orders placed.\n"
            "# TYPE shop_orders_total counter\n"
            "shop_orders_total{kind=\"book\"} 3\n"
            "shop_orders_total{kind=\"toy\",paid=\"yes\"} 0.5\n"
            "# HELP shop_open Whether it is open.\n"
            "# TYPE shop_open gauge\n"
            "shop_open 1\n"
            "# HELP shop_info The shop.\n"
            "# TYPE shop_info gauge\n"
            "shop_info{town=\"Bergen\"} 1\n");
  EXPECT_EQ(text(MetricsFormat::OpenMetrics),
            "# HELP shop_orders Orders placed.\n"
            "# TYPE shop_orders counter\n"
            "shop_orders_total{kind=\"book\"} 3\n"
            "shop_orders_total{kind=\"toy\",paid=\"yes\"} 0.5\n"
            "# HELP shop_open Whether it is open.\n"
            "# TYPE shop_open gauge\n"
            "shop_open 1\n"
            "# HELP shop The shop.\n"
            "# TYPE shop info\n"
            "shop_info{town=\"Bergen\"} 1\n"
            "# EOF\n");
}

TEST(MetricsText, OfHistogramsAddsUpBuckets) {
  MetricsText out(MetricsFormat::Prometheus);
  out.family("wait_seconds", MetricType::Histogram, "Waits.");
  const std::array<double, 2> bounds{0.25, 10};
  const std::array<std::uint64_t, 3> counts{1, 0, 4};
  out.histogram({{"at", "door"}}, bounds, counts, 99.5);
  EXPECT_EQ(out.take(),
            "# HELP wait_seconds Waits.\n"
            "# TYPE wait_seconds histogram\n"
            "wait_seconds_bucket{at=\"door\",le=\"0.25\"} 1\n"
            "wait_seconds_bucket{at=\"door\",le=\"10\"} 1\n"
            "wait_seconds_bucket{at=\"door\",le=\"+Inf\"} 5\n"
            "wait_seconds_sum{at=\"door\"} 99.5\n"
            "wait_seconds_count{at=\"door\"} 5\n");
}

TEST(MetricsText, EscapesTexts) {
  MetricsText out(MetricsFormat::OpenMetrics);
  out.family("a", MetricType::Gauge, "one\ntwo \\ \"three\"");
  out.sample({{"b", "c\"d\\e\nf"}}, 1U);
  EXPECT_EQ(out.take(),
            "# HELP a one\\ntwo \\\\ \\\"three\\\"\n"
            "# TYPE a gauge\n"
            "a{b=\"c\\\"d\\\\e\\nf\"} 1\n"
            "# EOF\n");
}

TEST(MetricsText, WritesNumbersThatAreNone) {
  MetricsText out(MetricsFormat::Prometheus);
  out.family("a", MetricType::Gauge, "b");
  out.sample(std::numeric_limits<double>::infinity());
  out.sample(-std::numeric_limits<double>::infinity());
  out.sample(std::nan(""));
  out.sample(-3);
  out.sample(0.0001);
  out.sample(268435456.0);
  out.sample(1e300);
  const std::string text = out.take();
  EXPECT_NE(text.find("a +Inf\na -Inf\na NaN\na -3\na 0.0001\na 268435456\na 1e+300\n"),
            std::string::npos)
      << text;
}

TEST(MetricsText, RefusesWhatNoCollectorReads) {
  MetricsText out(MetricsFormat::Prometheus);
  for (const std::string_view name : {"", "1a", "a-b", "a b", "\xC3\xA4"}) {
    EXPECT_THROW(out.family(name, MetricType::Gauge, "b"), std::invalid_argument) << name;
  }
  out.family("a:b", MetricType::Gauge, "b");
  for (const std::string_view name : {"", "1a", "a-b", "a:b"}) {
    EXPECT_THROW(out.sample({{name, "x"}}, 1U), std::invalid_argument) << name;
  }
  const std::array<double, 1> bounds{1};
  const std::array<std::uint64_t, 1> counts{1};
  EXPECT_THROW(out.histogram({}, bounds, counts, 1), std::invalid_argument);
}

}  // namespace
}  // namespace skua
