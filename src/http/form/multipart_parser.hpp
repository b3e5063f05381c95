// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "skua/config.hpp"
#include "skua/error.hpp"
#include "skua/form.hpp"

namespace skua::http {

/// The boundary that separates the parts of multipart content.
///
/// RFC:       2046 §5.1.1
class Boundary {
 public:
  static constexpr std::size_t max_bytes = 70;

  /// Accepts 1 to 70 letters, digits, spaces and `'()+_,-./:=?`, not ending in a space; returns
  /// nullopt for anything else.
  static std::optional<Boundary> make(std::string_view text) noexcept;
  /// Returns an unpredictable boundary, so that no content contains it.
  static Boundary random();

  [[nodiscard]] std::string_view text() const noexcept SKUA_LIFETIMEBOUND {
    return delimiter().substr(4);
  }
  /// The boundary with CRLF and two dashes in front, as it separates parts.
  [[nodiscard]] std::string_view delimiter() const noexcept SKUA_LIFETIMEBOUND {
    return {delimiter_.data(), size_bytes_};
  }

 private:
  explicit Boundary(std::string_view text) noexcept;

  std::array<char, max_bytes + 4> delimiter_{'\r', '\n', '-', '-'};
  std::uint8_t size_bytes_ = 4;
};

/// Parses the boundary of a Content-Type.
///
/// Ends with: UnsupportedMediaType if it is not `multipart/...`; MalformedMultipart if the boundary
///            is missing, repeated or invalid.
/// RFC:       2046 §5.1.1
Result<Boundary> parse_boundary(std::string_view content_type) noexcept;

/// The result of a step. More: content, if any; continue with the rest of the input or with more.
/// Part: the head of a part is complete. PartEnd: its content is complete. Done: there are no more
/// parts. Failed: see error().
enum class MultipartStatus : std::uint8_t { More, Part, PartEnd, Done, Failed };

/// One field line of a part; the value has no surrounding white space.
struct PartField {
  std::string_view name{};
  std::string_view value{};
};

/// An incremental parser for multipart content: form-data, related, mixed or any other.
///
/// ```
/// for (;;) {
///   const auto step = parser.step(input);
///   input.remove_prefix(step.consumed_bytes);
///   use(step.data);                                // content of the open part
///   if (step.status == MultipartStatus::More && input.empty()) break;  // wait for more input
///   ...
/// }
/// ```
/// Uses constant memory: the head of one part, and the boundary.
/// RFC:       2046 §5.1, 7578, 2387
class MultipartParser {
 public:
  struct Step {
    std::size_t consumed_bytes = 0;
    /// With More: content of the open part, a view of the input or of the parser's delimiter.
    std::string_view data{};
    MultipartStatus status = MultipartStatus::More;
  };

  explicit MultipartParser(const Boundary& boundary, const MultipartLimits& limits = {}) noexcept;
  MultipartParser(const MultipartParser&) = delete;
  MultipartParser& operator=(const MultipartParser&) = delete;
  ~MultipartParser() = default;

  /// Consumes at most one piece of content, or up to the next status. The parts do not depend on
  /// how the input is split. After Done, all input is consumed and ignored.
  Step step(std::string_view input) noexcept;

  /// Signals the end of the input. Ends with: TruncatedBody unless Done was reached.
  Result<void> end_of_input() noexcept;

  /// The reason for Failed: MalformedMultipart, TooManyParts, PartHeadTooLong, OutOfMemory.
  [[nodiscard]] Errc error() const noexcept { return error_; }

  /// The number of field lines of the open part.
  [[nodiscard]] std::size_t field_count() const noexcept { return field_count_; }
  /// Returns one field line. Lifetime: until the step after PartEnd.
  [[nodiscard]] PartField field(std::size_t index) const noexcept SKUA_LIFETIMEBOUND;
  /// Returns the value of the first field with this name, ignoring case.
  [[nodiscard]] std::optional<std::string_view> find(std::string_view name) const noexcept
      SKUA_LIFETIMEBOUND;

 private:
  static constexpr std::size_t max_fields = 64;

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
  std::array<Line, max_fields> lines_;
  std::size_t head_bytes_ = 0;
  std::size_t field_count_ = 0;
  std::size_t part_count_ = 0;
  std::size_t matched_bytes_ = 0;  // of the delimiter, at the end of the last input
  std::size_t implied_bytes_ = 0;  // how many of these can never be content
  State state_ = State::Preamble;
  Errc error_ = Errc::None;
  bool in_part_ = false;
};

}  // namespace skua::http
