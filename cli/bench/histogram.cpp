// SPDX-License-Identifier: MIT
// In: durations. Out: their distribution, to three significant digits.
// A duration in microseconds keeps its upper eleven bits; their position and value are its bucket:
//
//   0 .. 2047           bucket = value                      1 us wide
//   2^(10+n) .. 2^(11+n)  bucket = 1024 * n + (value >> n)    2^n us wide, n = 1 ..
#include "bench/histogram.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace skua::base {
namespace {

using Microseconds = std::chrono::duration<std::uint64_t, std::micro>;

constexpr unsigned kept_bits = 11;
constexpr std::uint64_t half = 1U << (kept_bits - 1);

constexpr std::size_t bucket_of(std::uint64_t value) noexcept {
  const auto bits = static_cast<unsigned>(std::bit_width(value));
  const unsigned shift = bits > kept_bits ? bits - kept_bits : 0;
  return shift * half + (value >> shift);
}

constexpr unsigned shift_of(std::size_t bucket) noexcept {
  return bucket < 2 * half ? 0 : static_cast<unsigned>(bucket / half - 1);
}

// The smallest value of a bucket.
constexpr std::uint64_t first_of(std::size_t bucket) noexcept {
  const unsigned shift = shift_of(bucket);
  return (bucket - shift * half) << shift;
}

constexpr std::uint64_t last_of(std::size_t bucket) noexcept {
  return first_of(bucket) + (std::uint64_t{1} << shift_of(bucket)) - 1;
}

constexpr std::uint64_t longest_value =
    std::chrono::duration_cast<Microseconds>(Histogram::longest).count();
constexpr std::size_t bucket_count = bucket_of(longest_value) + 1;

static_assert(bucket_of(2047) == 2047 && bucket_of(2048) == 2048 && bucket_of(2049) == 2048);
static_assert(bucket_of(4095) == 3071 && bucket_of(4096) == 3072 && first_of(3072) == 4096);
static_assert(last_of(2048) == 2049 && first_of(bucket_of(longest_value)) <= longest_value);
static_assert(bucket_count * sizeof(std::uint64_t) <= 184 * 1024);

constexpr Duration duration_of(std::uint64_t value) noexcept {
  return std::chrono::duration_cast<Duration>(Microseconds(value));
}

}  // namespace

Histogram::Histogram() : buckets_(bucket_count) {}

void Histogram::record(Duration duration) noexcept {
  const Duration counted = std::clamp(duration, Duration(0), longest);
  const auto nanoseconds = static_cast<std::uint64_t>(counted.count());
  const std::uint64_t value = std::max<std::uint64_t>((nanoseconds + 500) / 1000, 1);
  ++buckets_[bucket_of(value)];
  ++count_;
  total_nanoseconds_ += nanoseconds;
  min_ = std::min(min_, counted);
  max_ = std::max(max_, counted);
}

void Histogram::merge(const Histogram& other) noexcept {
  for (std::size_t i = 0; i < bucket_count; ++i) buckets_[i] += other.buckets_[i];
  count_ += other.count_;
  total_nanoseconds_ += other.total_nanoseconds_;
  min_ = std::min(min_, other.min_);
  max_ = std::max(max_, other.max_);
}

void Histogram::clear() noexcept {
  std::fill(buckets_.begin(), buckets_.end(), 0);
  count_ = total_nanoseconds_ = 0;
  min_ = Duration::max();
  max_ = Duration(0);
}

Duration Histogram::min() const noexcept { return count_ == 0 ? Duration(0) : min_; }

Duration Histogram::mean() const noexcept {
  return Duration(count_ == 0 ? 0 : static_cast<Duration::rep>(total_nanoseconds_ / count_));
}

Duration Histogram::deviation() const noexcept {
  if (count_ == 0) return Duration(0);
  const double middle = std::chrono::duration<double, std::micro>(mean()).count();
  double squares = 0;
  for (std::size_t i = 0; i < bucket_count; ++i) {
    if (buckets_[i] == 0) continue;
    const double value = static_cast<double>(first_of(i) + last_of(i)) / 2;
    squares += static_cast<double>(buckets_[i]) * (value - middle) * (value - middle);
  }
  const double deviation = std::sqrt(squares / static_cast<double>(count_));
  return Duration(static_cast<Duration::rep>(deviation * 1000));
}

Duration Histogram::percentile(double percent) const noexcept {
  if (count_ == 0) return Duration(0);
  const double share = std::clamp(percent, 0.0, 100.0) / 100 * static_cast<double>(count_);
  const std::uint64_t wanted =
      std::max<std::uint64_t>(1, std::min(count_, static_cast<std::uint64_t>(std::ceil(share))));
  std::uint64_t seen = 0;
  std::size_t bucket = 0;
  while ((seen += buckets_[bucket]) < wanted) ++bucket;
  return std::clamp(duration_of(last_of(bucket)), min_, max_);
}

}  // namespace skua::base
