// SPDX-License-Identifier: MIT
// In: a size and a Range field, a date, or the preconditions of a request. Checked: ranges lie
// within the representation, parsed dates survive being formatted and parsed, and preconditions are
// evaluated consistently.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "base/http_date.hpp"
#include "h1/head_parser.hpp"
#include "http/message/conditional.hpp"
#include "http/message/range.hpp"

namespace {

constexpr std::chrono::sys_seconds now{std::chrono::seconds(1'700'000'000)};

void check(bool holds) {
  if (!holds) std::abort();
}

void ranges(std::string_view field, std::uint64_t size_bytes) {
  const skua::http::RangeSet set = skua::http::parse_ranges(field, size_bytes);
  check((set.kind() == skua::http::RangeSet::Kind::Partial) == !set.ranges().empty());
  std::uint64_t total = 0;
  for (const skua::http::ByteRange range : set.ranges()) {
    check(range.first <= range.last && range.last < size_bytes);
    total += range.size_bytes();
  }
  check(total == set.total_bytes() && total <= size_bytes);
}

void dates(std::string_view text) {
  const auto time = skua::parse_http_date(text, now);
  if (!time) return;
  char formatted[skua::http_date_bytes];
  skua::format_http_date(*time, formatted);
  // A leap second at the very end of the year 9999 cannot be formatted.
  constexpr std::chrono::sys_seconds last{std::chrono::seconds(253'402'300'799)};
  check(skua::parse_http_date({formatted, sizeof formatted}, now) == std::min(*time, last));
}

void conditions(std::string_view fields) {
  const std::string bytes = "GET / HTTP/1.1\r\n" + std::string(fields) + "\r\n\r\n";
  std::array<skua::http::FieldLine, 128> lines;
  skua::h1::HeadParser parser(skua::h1::HeadKind::Request, {}, lines);
  if (parser.parse(bytes) != skua::h1::ParseStatus::Complete) return;
  const skua::http::Validators current{.etag = "\"abc\"", .modified = now - std::chrono::hours(1)};
  const auto first = skua::http::check_preconditions(parser.head(), current, now);
  check(first == skua::http::check_preconditions(parser.head(), current, now));
  static_cast<void>(skua::http::range_applies(parser.head(), current, now));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::uint64_t size_bytes = 0;
  if (size < sizeof size_bytes) return 0;
  std::memcpy(&size_bytes, data, sizeof size_bytes);
  const std::string text(reinterpret_cast<const char*>(data + sizeof size_bytes),
                         size - sizeof size_bytes);
  ranges(text, size_bytes);
  ranges(text, size_bytes % 1000);
  dates(text);
  conditions(text);
  return 0;
}
