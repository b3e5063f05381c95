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

/// Bytes `first` to `last`, both inclusive, as on the wire. RFC 9110 §14.1.2.
struct ByteRange {
  std::uint64_t first = 0;
  std::uint64_t last = 0;

  [[nodiscard]] constexpr std::uint64_t size_bytes() const noexcept { return last - first + 1; }
  friend constexpr bool operator==(ByteRange, ByteRange) noexcept = default;
};

/// The ranges that a `Range` field requests of a representation of known size.
class RangeSet {
 public:
  /// If more ranges than this are left after joining, the whole representation is sent.
  static constexpr std::size_t max_ranges = 16;

  enum class Kind : std::uint8_t {
    Whole,          ///< ignore the field: it is malformed, has too many ranges or another unit
    Partial,        ///< at least one range is satisfiable
    Unsatisfiable,  ///< no range is satisfiable: 416
  };

  [[nodiscard]] Kind kind() const noexcept { return kind_; }
  /// The ranges in request order, joined where they touch; empty unless Partial.
  [[nodiscard]] std::span<const ByteRange> ranges() const noexcept SKUA_LIFETIMEBOUND {
    return {ranges_.data(), count_};
  }
  /// The total size of the ranges.
  [[nodiscard]] std::uint64_t total_bytes() const noexcept;

 private:
  friend RangeSet parse_ranges(std::string_view field, std::uint64_t size_bytes) noexcept;
  bool add(ByteRange range) noexcept;
  static RangeSet of(Kind kind) noexcept;

  std::array<ByteRange, max_ranges> ranges_{};
  std::size_t count_ = 0;
  Kind kind_ = Kind::Whole;
};

/// Parses a `Range` field for a representation of `size_bytes`.
///
/// Positions past 2^64 saturate, so no field can make arithmetic overflow.
/// RFC:       9110 §14.1.2, §14.2
RangeSet parse_ranges(std::string_view field, std::uint64_t size_bytes) noexcept;

/// Formats Content-Range for one part: `bytes 0-99/1234`. RFC 9110 §14.4.
std::string content_range(ByteRange range, std::uint64_t size_bytes);

/// Formats Content-Range for a 416: `bytes */1234`. RFC 9110 §14.4.
std::string unsatisfied_range(std::uint64_t size_bytes);

}  // namespace skua::http
