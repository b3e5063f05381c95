// SPDX-License-Identifier: MIT
// In: a Content-Type. Out: its boundary, checked. It is stored with the CRLF and dashes in front,
// because that is what a parser searches for.
#include "http/form/multipart_parser.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <string>
#include <utility>

#include "base/ascii.hpp"
#include "crypto/random.hpp"
#include "http/message/media_type.hpp"

namespace skua::http {
namespace {

constexpr bool is_boundary(char c) noexcept {
  constexpr std::string_view marks = "'()+_,-./:=? ";
  return ascii::is_digit(c) || ascii::is_alpha(c) || marks.find(c) != marks.npos;
}

}  // namespace

Boundary::Boundary(std::string_view text) noexcept {
  std::copy(text.begin(), text.end(), delimiter_.begin() + 4);
  size_bytes_ = static_cast<std::uint8_t>(4 + text.size());
}

std::optional<Boundary> Boundary::make(std::string_view text) noexcept {
  if (text.empty() || text.size() > max_bytes || text.back() == ' ') return std::nullopt;
  if (!std::all_of(text.begin(), text.end(), is_boundary)) return std::nullopt;
  return Boundary(text);
}

Boundary Boundary::random() { return Boundary("skua-" + crypto::random_token().value()); }

Result<Boundary> parse_boundary(std::string_view content_type) noexcept {
  constexpr Error malformed(Errc::MalformedMultipart, "Content-Type");
  const auto media = parse_media_type(content_type);
  if (!media || !ascii::equals_ignoring_case(media->type, "multipart")) {
    return Error(Errc::UnsupportedMediaType, "Content-Type");
  }
  std::optional<Parameter> found;
  Parameters parameters(media->parameters);
  while (const auto parameter = parameters.next()) {
    if (!ascii::equals_ignoring_case(parameter->name, "boundary")) continue;
    if (found) return malformed;
    found = parameter;
  }
  if (!found || parameters.is_malformed()) return malformed;
  const auto boundary = Boundary::make(found->value);
  if (!boundary) return malformed;
  return *boundary;
}

// In: multipart content. Out: parts, with their content as views of the input. The only content
// that cannot be returned at once is at the end of an input and may begin a delimiter; it equals
// the first bytes of the delimiter, so counting them is enough.
//
//   preamble CRLF --boundary padding CRLF head CRLF content CRLF --boundary-- epilogue
//            ^^^^^^^^^^^^^^^                             ^^^^^^^^^^^^^^^
//
// A delimiter contains one CR, its first byte. So a failed comparison continues where it failed,
// and no byte is inspected more than twice.

MultipartParser::MultipartParser(const Boundary& boundary, const MultipartLimits& limits) noexcept
    : boundary_(boundary), limits_(limits) {
  limits_.part_fields = std::min(limits_.part_fields, max_fields);
  limits_.part_head_bytes = std::min(limits_.part_head_bytes, 1_GiB);
  expect_delimiter(State::Preamble);
}

// The content may begin with a delimiter, as if a CRLF preceded it: in RFC 2046 §5.1.1, neither an
// empty preamble nor an empty part has a CRLF of its own.
void MultipartParser::expect_delimiter(State state) noexcept {
  state_ = state;
  matched_bytes_ = 2;
  implied_bytes_ = 2;
}

MultipartStatus MultipartParser::fail(Errc error) noexcept {
  state_ = State::Failed;
  error_ = error;
  return MultipartStatus::Failed;
}

Result<void> MultipartParser::end_of_input() noexcept {
  if (state_ == State::Done) return {};
  if (state_ != State::Failed) fail(Errc::TruncatedBody);
  return Error(error_, "multipart");
}

MultipartParser::Step MultipartParser::step(std::string_view input) noexcept {
  Step step;
  std::size_t& at = step.consumed_bytes;
  while (step.status == MultipartStatus::More) {
    if (state_ == State::Done) return {input.size(), {}, MultipartStatus::Done};
    if (state_ == State::Failed) return {at, {}, MultipartStatus::Failed};
    if (at == input.size()) return step;
    switch (state_) {
      case State::Preamble: take_content(input, at); break;
      case State::Content:
        step.data = take_content(input, at);
        if (!step.data.empty()) return step;
        break;
      case State::AfterDelimiter:
      case State::Padding:
      case State::DelimiterLf:
      case State::LastDash: step.status = take_delimiter(input[at++]); break;
      default: step.status = take_head(input[at++]); break;
    }
  }
  return step;
}

// Returns the next piece of content, without bytes that may begin a delimiter.
std::string_view MultipartParser::take_content(std::string_view input, std::size_t& at) noexcept {
  const std::string_view delimiter = boundary_.delimiter();
  if (matched_bytes_ != 0) {
    const std::string_view rest = delimiter.substr(matched_bytes_);
    const std::string_view next = input.substr(at, rest.size());
    const std::size_t same = static_cast<std::size_t>(
        std::mismatch(next.begin(), next.end(), rest.begin()).first - next.begin());
    at += same;
    matched_bytes_ += same;
    if (same == rest.size()) {
      state_ = State::AfterDelimiter;
      return {};
    }
    if (at == input.size()) return {};
    // Not a delimiter after all: the held bytes are content.
    const std::string_view held = delimiter.substr(implied_bytes_, matched_bytes_ - implied_bytes_);
    matched_bytes_ = 0;
    if (!held.empty()) return held;
  }
  const std::size_t begin = at;
  for (;;) {
    const std::size_t cr = std::min(input.find('\r', at), input.size());
    const std::string_view next = input.substr(cr, delimiter.size());
    const std::size_t same = static_cast<std::size_t>(
        std::mismatch(next.begin(), next.end(), delimiter.begin()).first - next.begin());
    at = cr + same;
    if (same == delimiter.size()) {
      state_ = State::AfterDelimiter;
    } else if (at == input.size()) {
      matched_bytes_ = same;
      implied_bytes_ = 0;
    } else {
      continue;
    }
    return input.substr(begin, cr - begin);
  }
}

// Takes a byte after a delimiter: padding and CRLF, or two dashes. RFC 2046 §5.1.1 forbids the
// delimiter within content, and readers disagree on a line that only begins with it: it is refused.
MultipartStatus MultipartParser::take_delimiter(char c) noexcept {
  const State before = state_;
  if (before == State::LastDash) {
    return c == '-' ? end_part(State::Done) : fail(Errc::MalformedMultipart);
  }
  if (before == State::DelimiterLf) {
    return c == '\n' ? end_part(State::Begin) : fail(Errc::MalformedMultipart);
  }
  if (c == '-' && before == State::AfterDelimiter) {
    state_ = State::LastDash;
  } else if (ascii::is_ows(c)) {
    state_ = State::Padding;
  } else if (c == '\r') {
    state_ = State::DelimiterLf;
  } else {
    return fail(Errc::MalformedMultipart);
  }
  return MultipartStatus::More;
}

// The first delimiter does not end a part.
MultipartStatus MultipartParser::end_part(State next) noexcept {
  state_ = next;
  if (std::exchange(in_part_, false)) return MultipartStatus::PartEnd;
  return next == State::Done ? MultipartStatus::Done : MultipartStatus::More;
}

MultipartStatus MultipartParser::begin_part() noexcept {
  if (part_count_ == limits_.parts) return fail(Errc::TooManyParts);
  ++part_count_;
  if (!head_) head_.reset(new (std::nothrow) char[limits_.part_head_bytes]);
  if (!head_) return fail(Errc::OutOfMemory);
  head_bytes_ = 0;
  field_count_ = 0;
  state_ = State::Line;
  return MultipartStatus::More;
}

// Takes a byte of a part's head and copies it: the fields are needed while the content arrives.
MultipartStatus MultipartParser::take_head(char c) noexcept {
  if (state_ == State::Begin && begin_part() == MultipartStatus::Failed) {
    return MultipartStatus::Failed;
  }
  if (head_bytes_ == limits_.part_head_bytes) return fail(Errc::PartHeadTooLong);
  const auto at = static_cast<std::uint32_t>(head_bytes_);
  head_[head_bytes_++] = c;
  switch (state_) {
    case State::Line: return begin_line(c);
    case State::Name:
      if (ascii::is_token(c)) return MultipartStatus::More;
      if (c != ':') return fail(Errc::MalformedMultipart);
      lines_[field_count_ - 1].name_end = at;
      state_ = State::Value;
      return MultipartStatus::More;
    case State::Value:
      if (ascii::is_field_value(c)) return MultipartStatus::More;
      if (c != '\r') return fail(Errc::MalformedMultipart);
      lines_[field_count_ - 1].value_end = at;
      state_ = State::ValueLf;
      return MultipartStatus::More;
    case State::ValueLf:
      if (c != '\n') return fail(Errc::MalformedMultipart);
      state_ = State::Line;
      return MultipartStatus::More;
    default:
      if (c != '\n') return fail(Errc::MalformedMultipart);
      in_part_ = true;
      expect_delimiter(State::Content);
      return MultipartStatus::Part;
  }
}

MultipartStatus MultipartParser::begin_line(char c) noexcept {
  if (c == '\r') {
    state_ = State::HeadLf;
  } else if (ascii::is_ows(c) && field_count_ != 0) {
    // RFC 5322 §2.2.3: the line is folded; its CRLF becomes white space in the value.
    head_[head_bytes_ - 2] = ' ';
    head_[head_bytes_ - 3] = ' ';
    state_ = State::Value;
  } else if (!ascii::is_token(c)) {
    return fail(Errc::MalformedMultipart);
  } else if (field_count_ == limits_.part_fields) {
    return fail(Errc::PartHeadTooLong);
  } else {
    lines_[field_count_++].name_begin = static_cast<std::uint32_t>(head_bytes_ - 1);
    state_ = State::Name;
  }
  return MultipartStatus::More;
}

PartField MultipartParser::field(std::size_t index) const noexcept {
  const Line& line = lines_[index];
  const std::string_view head(head_.get(), head_bytes_);
  const std::size_t value_begin = line.name_end + std::size_t{1};
  return {head.substr(line.name_begin, line.name_end - line.name_begin),
          ascii::trim_ows(head.substr(value_begin, line.value_end - value_begin))};
}

std::optional<std::string_view> MultipartParser::find(std::string_view name) const noexcept {
  for (std::size_t i = 0; i < field_count_; ++i) {
    if (ascii::equals_ignoring_case(field(i).name, name)) return field(i).value;
  }
  return std::nullopt;
}

}  // namespace skua::http
