// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace skua::client {

/// A Content-Range: `bytes 0-99/1234`, `bytes 0-99/*` or, of a 416, `bytes */1234`.
struct ContentRange {
  std::optional<std::uint64_t> first{};  ///< absent: of a 416
  std::optional<std::uint64_t> last{};
  std::optional<std::uint64_t> total{};

  bool operator==(const ContentRange&) const noexcept = default;
};

/// Nothing where it is malformed.
///
/// RFC:       9110 §14.4
std::optional<ContentRange> parse_content_range(std::string_view field) noexcept;

/// What a response says of its content, where it says it.
struct Validators {
  std::optional<std::string_view> etag{};
  std::optional<std::string_view> last_modified{};
  std::optional<std::string_view> date{};
};

/// What If-Range may say later about that content: a strong ETag, or a date that is old enough to
/// be one; empty where there is neither.
///
/// RFC:       9110 §8.8.2.2, §13.1.5
std::string strong_validator(const Validators& validators);

/// Whether a part is, as far as it says, one of the content that this strong validator is of: a
/// server that knows no If-Range sends parts of whatever it has now.
///
/// RFC:       9110 §15.3.7.3
bool may_belong(std::string_view validator, const Validators& part) noexcept;

}  // namespace skua::client
