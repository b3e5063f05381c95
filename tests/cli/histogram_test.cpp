// SPDX-License-Identifier: MIT
#include "bench/histogram.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

namespace skua::base {
namespace {

Duration exact_percentile(const std::vector<Duration>& sorted, double percent) {
  const double share = percent / 100 * static_cast<double>(sorted.size());
  const auto rank = static_cast<std::size_t>(std::ceil(share));
  return sorted[std::max<std::size_t>(rank, 1) - 1];
}

void expect_near(Duration found, Duration wanted, const char* what) {
  const double difference = std::abs(static_cast<double>((found - wanted).count()));
  // Three significant digits, but no finer than a microsecond.
  EXPECT_LE(difference, std::max(static_cast<double>(wanted.count()) * 0.001, 1000.0))
      << what << ": " << found.count() << " for " << wanted.count();
}

TEST(Histogram, KnowsNothingBeforeItHasSeenSomething) {
  const Histogram histogram;
  EXPECT_EQ(histogram.count(), 0U);
  for (const Duration none : {histogram.min(), histogram.max(), histogram.mean(),
                              histogram.deviation(), histogram.percentile(50)}) {
    EXPECT_EQ(none, Duration(0));
  }
}

TEST(Histogram, OneDurationIsEveryPercentile) {
  for (const Duration one : {Duration(1us), Duration(1ms), Duration(2048us), Duration(1s),
                             Duration(59min), Histogram::longest}) {
    Histogram histogram;
    histogram.record(one);
    for (const double percent : {0.0, 50.0, 99.9, 100.0}) {
      EXPECT_EQ(histogram.percentile(percent), one);
    }
    EXPECT_EQ(histogram.min(), one);
    EXPECT_EQ(histogram.max(), one);
    EXPECT_EQ(histogram.mean(), one);
    EXPECT_LE(histogram.deviation(), one / 1000);
  }
}

TEST(Histogram, WhatIsOutOfRangeCountsAsItsEnd) {
  Histogram histogram;
  histogram.record(-5ms);
  histogram.record(Duration(10));
  histogram.record(5h);
  EXPECT_EQ(histogram.count(), 3U);
  EXPECT_EQ(histogram.min(), Duration(0));
  EXPECT_EQ(histogram.max(), Histogram::longest);
  EXPECT_LE(histogram.percentile(60), Histogram::shortest);
}

TEST(Histogram, PercentilesAreThoseOfTheSortedDurations) {
  std::mt19937_64 random(20260101);
  std::lognormal_distribution<double> usual(12, 3);  // nanoseconds: 160 us, with a long tail
  std::uniform_int_distribution<std::int64_t> any(1000, 3'600'000'000'000);
  for (int round = 0; round < 20; ++round) {
    Histogram histogram;
    std::vector<Duration> all;
    for (int i = 0; i < 5000; ++i) {
      const bool is_usual = round < 15;
      const auto drawn =
          is_usual ? Duration(static_cast<std::int64_t>(usual(random))) : Duration(any(random));
      all.push_back(std::clamp<Duration>(drawn, Histogram::shortest, Histogram::longest));
      histogram.record(all.back());
    }
    std::sort(all.begin(), all.end());
    for (const double percent : {0.0, 1.0, 25.0, 50.0, 75.0, 90.0, 99.0, 99.9, 99.99, 100.0}) {
      expect_near(histogram.percentile(percent), exact_percentile(all, percent), "percentile");
    }
    double total = 0;
    for (const Duration one : all) total += static_cast<double>(one.count());
    const double mean = total / static_cast<double>(all.size());
    double squares = 0;
    for (const Duration one : all) squares += std::pow(static_cast<double>(one.count()) - mean, 2);
    const double deviation = std::sqrt(squares / static_cast<double>(all.size()));
    EXPECT_EQ(histogram.min(), all.front());
    EXPECT_EQ(histogram.max(), all.back());
    expect_near(histogram.mean(), Duration(static_cast<std::int64_t>(mean)), "mean");
    expect_near(histogram.deviation(), Duration(static_cast<std::int64_t>(deviation)), "deviation");
  }
}

TEST(Histogram, PercentilesNeverFall) {
  Histogram histogram;
  for (std::int64_t i = 1; i < 100'000; i += 7) histogram.record(Duration(i * i));
  Duration last{};
  for (double percent = 0; percent <= 100; percent += 0.1) {
    const Duration next = histogram.percentile(percent);
    EXPECT_GE(next, last);
    last = next;
  }
  EXPECT_LE(last, histogram.max());
}

TEST(Histogram, MergedPartsAreTheWhole) {
  Histogram whole;
  Histogram parts[3];
  Histogram merged;
  for (int i = 0; i < 3000; ++i) {
    const Duration one = i * 17us + 300ns;
    whole.record(one);
    parts[i % 3].record(one);
  }
  for (const Histogram& part : parts) merged.merge(part);
  merged.merge(Histogram());
  EXPECT_EQ(merged.count(), whole.count());
  EXPECT_EQ(merged.min(), whole.min());
  EXPECT_EQ(merged.max(), whole.max());
  EXPECT_EQ(merged.mean(), whole.mean());
  EXPECT_EQ(merged.deviation(), whole.deviation());
  for (const double percent : {1.0, 50.0, 99.0}) {
    EXPECT_EQ(merged.percentile(percent), whole.percentile(percent));
  }
}

TEST(Histogram, ForgetsWhatItIsToldTo) {
  Histogram histogram;
  histogram.record(5s);
  histogram.clear();
  EXPECT_EQ(histogram.count(), 0U);
  EXPECT_EQ(histogram.max(), Duration(0));
  histogram.record(1ms);
  EXPECT_EQ(histogram.percentile(100), Duration(1ms));
  EXPECT_EQ(histogram.min(), Duration(1ms));
}

}  // namespace
}  // namespace skua::base
