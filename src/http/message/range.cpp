// SPDX-License-Identifier: MIT
// In: a Range field and the size of the representation. Out: the bytes to send, or that there are
// none. Ranges that overlap, or whose gap is smaller than a part's head, are joined while they are
// read, so thousands of tiny ranges cost nothing and never ask for more bytes than exist.
#include "http/message/range.hpp"

#include "base/ascii.hpp"

#include <algorithm>
#include <limits>
#include <optional>

namespace skua::http {
namespace {

constexpr std::uint64_t max_position = std::numeric_limits<std::uint64_t>::max();

// The approximate overhead of a part in a multipart response. RFC 9110 §15.3.7.2 allows joining
// ranges with a smaller gap.
constexpr std::uint64_t joined_gap_bytes = 80;

// Parses digits and saturates; returns nullopt if the text is empty or not all digits.
std::optional<std::uint64_t> parse_position(std::string_view digits) noexcept {
  if (digits.empty()) return std::nullopt;
  std::uint64_t value = 0;
  for (const char c : digits) {
    if (!ascii::is_digit(c)) return std::nullopt;
    const auto digit = static_cast<std::uint64_t>(c - '0');
    value = value > (max_position - digit) / 10 ? max_position : value * 10 + digit;
  }
  return value;
}

// Returns the field after `bytes=`; range unit names are case-insensitive (RFC 9110 §14.1).
std::optional<std::string_view> after_unit(std::string_view field) noexcept {
  constexpr std::string_view unit = "bytes=";
  if (!ascii::equals_ignoring_case(field.substr(0, unit.size()), unit)) return std::nullopt;
  return field.substr(unit.size());
}

enum class Spec : std::uint8_t { Satisfiable, Unsatisfiable, Malformed };

// Parses one range-spec: `first-last`, `first-` or `-suffix`.
Spec parse_spec(std::string_view spec, std::uint64_t size_bytes, ByteRange& range) noexcept {
  const std::size_t dash = spec.find('-');
  if (dash == std::string_view::npos) return Spec::Malformed;
  const std::string_view first_text = spec.substr(0, dash);
  const std::string_view last_text = spec.substr(dash + 1);
  if (first_text.empty()) {
    const auto suffix = parse_position(last_text);
    if (!suffix) return Spec::Malformed;
    if (*suffix == 0 || size_bytes == 0) return Spec::Unsatisfiable;
    range = {*suffix >= size_bytes ? 0 : size_bytes - *suffix, size_bytes - 1};
    return Spec::Satisfiable;
  }
  const auto first = parse_position(first_text);
  const auto last = last_text.empty() ? std::optional(max_position) : parse_position(last_text);
  // RFC 9110 §14.1.1: a last position below the first makes the whole field invalid.
  if (!first || !last || *last < *first) return Spec::Malformed;
  if (*first >= size_bytes) return Spec::Unsatisfiable;
  range = {*first, std::min(*last, size_bytes - 1)};
  return Spec::Satisfiable;
}

// Reports whether two ranges overlap or are close enough to join.
bool touches(ByteRange a, ByteRange b) noexcept {
  const ByteRange low = a.first <= b.first ? a : b;
  const ByteRange high = a.first <= b.first ? b : a;
  return high.first <= low.last || high.first - low.last <= joined_gap_bytes;
}

}  // namespace

RangeSet RangeSet::of(Kind kind) noexcept {
  RangeSet set;
  set.kind_ = kind;
  return set;
}

// Joins `range` with all ranges that it touches; the result takes the place of the first of them.
// Returns false if there are too many ranges.
bool RangeSet::add(ByteRange range) noexcept {
  std::size_t place = count_;
  for (std::size_t i = 0; i < count_;) {
    if (!touches(ranges_[i], range)) {
      ++i;
      continue;
    }
    range = {std::min(range.first, ranges_[i].first), std::max(range.last, ranges_[i].last)};
    place = std::min(place, i);
    std::move(ranges_.begin() + static_cast<std::ptrdiff_t>(i) + 1,
              ranges_.begin() + static_cast<std::ptrdiff_t>(count_),
              ranges_.begin() + static_cast<std::ptrdiff_t>(i));
    --count_;
    i = 0;  // the grown range may touch an earlier one
  }
  if (count_ == max_ranges) return false;
  place = std::min(place, count_);
  const auto at = ranges_.begin() + static_cast<std::ptrdiff_t>(place);
  const auto end = ranges_.begin() + static_cast<std::ptrdiff_t>(count_);
  std::move_backward(at, end, end + 1);
  *at = range;
  ++count_;
  return true;
}

std::uint64_t RangeSet::total_bytes() const noexcept {
  std::uint64_t total = 0;
  for (const ByteRange& range : ranges()) total += range.size_bytes();
  return total;
}

RangeSet parse_ranges(std::string_view field, std::uint64_t size_bytes) noexcept {
  const auto list = after_unit(ascii::trim_ows(field));
  if (!list) return RangeSet::of(RangeSet::Kind::Whole);
  RangeSet set;
  bool any = false;
  for (std::string_view rest = *list; !rest.empty();) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    const std::string_view spec = ascii::trim_ows(rest.substr(0, comma));
    rest.remove_prefix(std::min(comma + 1, rest.size()));
    if (spec.empty()) continue;  // RFC 9110 §5.6.1.2
    any = true;
    ByteRange range;
    const Spec result = parse_spec(spec, size_bytes, range);
    if (result == Spec::Malformed) return RangeSet::of(RangeSet::Kind::Whole);
    if (result == Spec::Satisfiable && !set.add(range)) return RangeSet::of(RangeSet::Kind::Whole);
  }
  // Content-Range cannot describe an empty representation: send it whole.
  if (!any || size_bytes == 0) return RangeSet::of(RangeSet::Kind::Whole);
  set.kind_ = set.count_ == 0 ? RangeSet::Kind::Unsatisfiable : RangeSet::Kind::Partial;
  return set;
}

std::string content_range(ByteRange range, std::uint64_t size_bytes) {
  return "bytes " + std::to_string(range.first) + "-" + std::to_string(range.last) + "/" +
         std::to_string(size_bytes);
}

std::string unsatisfied_range(std::uint64_t size_bytes) {
  return "bytes */" + std::to_string(size_bytes);
}

}  // namespace skua::http
