// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace skua::client {

/// A Content-Range: `bytes 0-99/1234`, `bytes 0-99/*` or, in a 416, `bytes */1234`.
struct ContentRange {
  std::optional<std::uint64_t> first{};  ///< absent in a 416
  std::optional<std::uint64_t> last{};
  std::optional<std::uint64_t> total{};

  bool operator==(const ContentRange&) const noexcept = default;
};

/// Returns nullopt if the value is malformed.
///
/// RFC:       9110 §14.4
std::optional<ContentRange> parse_content_range(std::string_view field) noexcept;

/// The fields of a response that identify its content, if present.
struct Validators {
  std::optional<std::string_view> etag{};
  std::optional<std::string_view> last_modified{};
  std::optional<std::string_view> date{};
};

/// Returns the validator for a later If-Range: a strong ETag, or a date that is old enough to count
/// as strong; empty if there is neither.
///
/// RFC:       9110 §8.8.2.2, §13.1.5
std::string strong_validator(const Validators& validators);

/// Reports whether a part's own validators, if any, agree with this strong validator: a server that
/// does not know If-Range sends parts of whatever it has now.
///
/// RFC:       9110 §15.3.7.3
bool may_belong(std::string_view validator, const Validators& part) noexcept;

/// A response's description of the bytes in it.
struct PartialAnswer {
  unsigned status = 0;
  ContentRange range{};
  Validators validators{};
};

/// The part of the content that is already there.
struct KnownPart {
  std::uint64_t size_bytes = 0;
  std::string_view validator{};                ///< of the whole content
  std::optional<std::uint64_t> total_bytes{};  ///< of the whole content
  bool is_all = false;                         ///< more bytes would belong to other content
};

/// The action for a response to a request for the rest, or for the whole.
enum class Verdict : std::uint8_t {
  Append,   ///< it continues our part
  Restart,  ///< it is the whole
  Whole,    ///< nothing follows: our part is complete
  Again,    ///< it does not match our part: ask for the whole
  Refuse,   ///< there is nothing to save
};
/// Judges a response. `asked_from` is the part whose rest was requested; null if the whole was.
///
/// RFC:       9110 §14.2, §15.3.7, §15.5.17
Verdict judge(const PartialAnswer& answer, const KnownPart* asked_from) noexcept;

}  // namespace skua::client
