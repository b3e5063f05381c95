// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "http/boundary.hpp"
#include "skua/config.hpp"
#include "skua/error.hpp"
#include "skua/form.hpp"

namespace skua::http {

/// More: content, if any; go on with the rest of the input, else with more of it. Part: the head of
/// a part is there. PartEnd: its content is over. Done: there are no more parts. Failed: see
/// error().
enum class MultipartStatus : std::uint8_t { More, Part, PartEnd, Done, Failed };

/// One field line of a part, without the white space around its value.
struct PartField {
  std::string_view name{};
  std::string_view value{};
};

/// Takes the parts out of multipart content as it arrives: form-data, related, mixed, any other.
///
/// ```
/// for (;;) {
///   const auto step = parser.step(input);
///   input.remove_prefix(step.consumed_bytes);
///   use(step.data);                                // of the part that is open
///   if (step.status == MultipartStatus::More && input.empty()) break;  // go on with more input
///   ...
/// }
/// ```
/// Memory is constant: a part's head, and as much of a boundary as the last input ended with.
/// RFC:       2046 §5.1, 7578, 2387
class MultipartParser {
 public:
  struct Step {
    std::size_t consumed_bytes = 0;
    /// With More: content of the open part. A view of the input, or of a delimiter's beginning.
    std::string_view data{};
    MultipartStatus status = MultipartStatus::More;
  };

  explicit MultipartParser(const Boundary& boundary, const MultipartLimits& limits = {}) noexcept;
  MultipartParser(const MultipartParser&) = delete;
  MultipartParser& operator=(const MultipartParser&) = delete;
  ~MultipartParser() = default;

  /// Consumes at most one piece of content, or up to the next status. What comes out is the same
  /// however the input is split. Done consumes what follows: it means nothing.
  Step step(std::string_view input) noexcept;

  /// There is no more input. Ends with: TruncatedBody unless Done was reached.
  Result<void> end_of_input() noexcept;

  /// Why step() answered Failed: MalformedMultipart, TooManyParts, PartHeadTooLong.
  [[nodiscard]] Errc error() const noexcept { return error_; }

  /// How many field lines the open part has.
  [[nodiscard]] std::size_t field_count() const noexcept { return field_count_; }
  /// One of them. Lifetime: until the step after PartEnd.
  [[nodiscard]] PartField field(std::size_t index) const noexcept SKUA_LIFETIMEBOUND;
  /// The value of the first with this name, whatever the case of its letters.
  [[nodiscard]] std::optional<std::string_view> find(std::string_view name) const noexcept
      SKUA_LIFETIMEBOUND;

 private:
  static constexpr std::size_t most_fields = 64;

  enum class State : std::uint8_t {
    Preamble,
    AfterDelimiter,
    Padding,
    DelimiterLf,
    LastDash,
    // the head of a part
    Begin,
    Line,
    Name,
    Value,
    ValueLf,
    HeadLf,
    Content,
    Done,
    Failed,
  };

  struct Line {
    std::uint32_t name_begin = 0;
    std::uint32_t name_end = 0;
    std::uint32_t value_end = 0;
  };

  void expect_delimiter(State state) noexcept;
  std::string_view take_content(std::string_view input, std::size_t& at) noexcept;
  MultipartStatus take_delimiter(char c) noexcept;
  MultipartStatus take_head(char c) noexcept;
  MultipartStatus begin_part() noexcept;
  MultipartStatus begin_line(char c) noexcept;
  MultipartStatus end_part(State next) noexcept;
  MultipartStatus fail(Errc error) noexcept;

  Boundary boundary_;
  MultipartLimits limits_;
  std::unique_ptr<char[]> head_;  // the field lines of the open part
  std::array<Line, most_fields> lines_;
  std::size_t head_bytes_ = 0;
  std::size_t field_count_ = 0;
  std::size_t part_count_ = 0;
  std::size_t matched_bytes_ = 0;  // of the delimiter, seen at the end of the last input
  std::size_t foreign_bytes_ = 0;  // of these, those that are no content in any case
  State state_ = State::Preamble;
  Errc error_ = Errc::None;
  bool in_part_ = false;
};

}  // namespace skua::http
