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

/// What a response says of the bytes that it has.
struct PartialAnswer {
  unsigned status = 0;
  ContentRange range{};
  Validators validators{};
};

/// What is there already of the content.
struct KnownPart {
  std::uint64_t size_bytes = 0;
  std::string_view validator{};                ///< of all of the content
  std::optional<std::uint64_t> total_bytes{};  ///< of that
  bool is_all = false;                         ///< what follows is of another content
};

/// What to do with a response to a request for the rest, or for the whole.
enum class Verdict : std::uint8_t {
  Append,   ///< it goes on where we are
  Restart,  ///< it is the whole
  Whole,    ///< nothing follows: we have all of it
  Again,    ///< it does not belong to what we have: ask for the whole
  Refuse,   ///< it is nothing to save
};
/// `asked_from` is the part whose rest was asked for; null: the whole was.
///
/// RFC:       9110 §14.2, §15.3.7, §15.5.17
Verdict judge(const PartialAnswer& answer, const KnownPart* asked_from) noexcept;

}  // namespace skua::client
