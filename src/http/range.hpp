// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "skua/config.hpp"

namespace skua::http {

/// Bytes `first` to `last`, both inclusive, as the wire counts them. RFC 9110 §14.1.2.
struct ByteRange {
  std::uint64_t first = 0;
  std::uint64_t last = 0;

  [[nodiscard]] constexpr std::uint64_t size_bytes() const noexcept { return last - first + 1; }
  friend constexpr bool operator==(ByteRange, ByteRange) noexcept = default;
};

/// What a `Range` field asks of a representation of a known size.
class RangeSet {
 public:
  /// More ranges than this, after those that touch were joined, are answered with the whole.
  static constexpr std::size_t max_ranges = 16;

  enum class Kind : std::uint8_t {
    Whole,          ///< the field is malformed, greedy or of another unit: as if it were not there
    Partial,        ///< at least one range can be satisfied
    Unsatisfiable,  ///< none can: 416
  };

  [[nodiscard]] Kind kind() const noexcept { return kind_; }
  /// The ranges, joined where they touch, in the order asked for; empty unless Partial.
  [[nodiscard]] std::span<const ByteRange> ranges() const noexcept SKUA_LIFETIMEBOUND {
    return {ranges_.data(), count_};
  }
  /// The sum of the sizes of the ranges.
  [[nodiscard]] std::uint64_t total_bytes() const noexcept;

 private:
  friend RangeSet parse_ranges(std::string_view field, std::uint64_t size_bytes) noexcept;
  bool add(ByteRange range) noexcept;
  static RangeSet of(Kind kind) noexcept;

  std::array<ByteRange, max_ranges> ranges_{};
  std::size_t count_ = 0;
  Kind kind_ = Kind::Whole;
};

/// Reads a `Range` field for a representation of `size_bytes`.
///
/// Positions past 2^64 saturate, so no field can make arithmetic wrap round.
/// RFC: 9110 §14.1.2, §14.2
RangeSet parse_ranges(std::string_view field, std::uint64_t size_bytes) noexcept;

/// The value of Content-Range for one part: `bytes 0-99/1234`. RFC 9110 §14.4.
std::string content_range(ByteRange range, std::uint64_t size_bytes);

/// The value of Content-Range for a 416: `bytes */1234`. RFC 9110 §14.4.
std::string unsatisfied_range(std::uint64_t size_bytes);

}  // namespace skua::http
