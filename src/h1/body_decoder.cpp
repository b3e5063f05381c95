// SPDX-License-Identifier: MIT
// In: the bytes after a head. Out: pieces of content, as views into the input. Chunk framing is
// parsed byte by byte, so it may be split anywhere; content is never inspected.
#include "h1/body_decoder.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <new>
#include <optional>
#include <utility>

#include "base/ascii.hpp"
#include "h1/head_parser.hpp"
#include "http/message/trailers.hpp"

namespace skua::h1 {
namespace {

constexpr std::size_t max_trailer_fields = 64;
constexpr std::uint64_t longest_section = std::uint64_t{1} << 30U;  // the head parser's limit
constexpr std::size_t first_capacity = 512;
constexpr http::Head no_trailers{};

/// Maps a head parser's error to the trailer error that is reported.
constexpr Errc trailer_error(Errc error) noexcept {
  return error == Errc::MalformedField ? Errc::MalformedTrailer : Errc::TrailerTooLong;
}

}  // namespace

/// A copy of the trailer section, which may arrive in pieces and outlives the input.
struct BodyDecoder::Trailers {
  explicit Trailers(const BodyLimits& limits) noexcept
      : parser(HeadKind::Trailers,
               {.field_line_bytes = bytes_at_most(limits),
                .head_bytes = bytes_at_most(limits),
                .fields = limits.trailer_fields},
               lines),
        max_bytes(bytes_at_most(limits) + 1) {}  // one more reveals an overlong section

  static std::size_t bytes_at_most(const BodyLimits& limits) noexcept {
    return static_cast<std::size_t>(std::min<std::uint64_t>(limits.trailer_bytes, longest_section));
  }

  /// Copies as much of the input as the limit allows. Returns nullopt if memory runs out.
  std::optional<std::size_t> append(std::string_view input) noexcept {
    const std::size_t taken = std::min(input.size(), max_bytes - size_bytes);
    if (size_bytes + taken > capacity) {
      const std::size_t larger =
          std::min(max_bytes, std::max({first_capacity, 2 * capacity, size_bytes + taken}));
      std::unique_ptr<char[]> moved(new (std::nothrow) char[larger]);
      if (moved == nullptr) return std::nullopt;
      if (size_bytes != 0) std::memcpy(moved.get(), bytes.get(), size_bytes);
      bytes = std::move(moved);
      capacity = larger;
    }
    if (taken != 0) std::memcpy(bytes.get() + size_bytes, input.data(), taken);
    size_bytes += taken;
    return taken;
  }

  /// Drops fields that are not allowed in trailers.
  void filter() noexcept {
    kept = parser.head();
    kept.known = 0;
    std::size_t count = 0;
    for (const http::FieldLine& line : kept.fields) {
      if (!http::is_allowed_in_trailers(line.name, kept.name(line))) continue;
      kept.known |= std::uint64_t{1} << static_cast<unsigned>(line.name);
      lines[count++] = line;
    }
    kept.fields = std::span(lines).first(count);
  }

  std::array<http::FieldLine, max_trailer_fields> lines;
  HeadParser parser;
  http::Head kept;
  std::size_t max_bytes;
  std::size_t capacity = 0;
  std::size_t size_bytes = 0;
  std::unique_ptr<char[]> bytes;
};

BodyDecoder::BodyDecoder() noexcept = default;
BodyDecoder::~BodyDecoder() = default;

Result<void> BodyDecoder::start(const Framing& framing, const BodyLimits& limits) noexcept {
  limits_ = limits;
  error_ = Errc::None;
  extension_bytes_ = 0;
  content_bytes_ = 0;
  left_bytes_ = 0;
  if (trailers_) trailers_.reset();
  switch (framing.body) {
    case BodyKind::None: state_ = State::Done; break;
    case BodyKind::Chunked: state_ = State::Size; break;
    case BodyKind::UntilClose:
      state_ = State::UntilClose;
      left_bytes_ = limits.body_bytes;
      break;
    case BodyKind::Length:
      state_ = State::Length;
      left_bytes_ = framing.length_bytes;
      if (left_bytes_ > limits.body_bytes) {
        fail(Errc::BodyTooLong);
        return error_;
      }
      break;
  }
  return {};
}

Result<void> BodyDecoder::end_of_input() noexcept {
  if (state_ == State::UntilClose) state_ = State::Done;  // RFC 9112 §6.3 rule 8
  if (state_ == State::Done) return {};
  if (state_ != State::Failed) fail(Errc::TruncatedBody);  // RFC 9112 §8
  return error_;
}

const http::Head& BodyDecoder::trailers() const noexcept {
  return trailers_ && state_ == State::Done ? trailers_->kept : no_trailers;
}

void BodyDecoder::fail(Errc error) noexcept {
  state_ = State::Failed;
  error_ = error;
}

BodyDecoder::Step BodyDecoder::step(std::string_view input) noexcept {
  Step step;
  std::size_t& at = step.consumed_bytes;
  for (;;) {
    switch (state_) {
      case State::Done: step.status = BodyStatus::Done; return step;
      case State::Failed: step.status = BodyStatus::Failed; return step;
      default: break;
    }
    if (at == input.size()) return step;
    switch (state_) {
      case State::Length:
      case State::UntilClose:
      case State::Data:
        if (!step.data.empty()) return step;  // one piece per step
        step.data = take_content(input.substr(at));
        at += step.data.size();
        break;
      case State::TrailerFields: at += take_trailers(input.substr(at)); break;
      default:
        take_framing(input[at]);
        // A trailer field's first byte belongs to its section.
        if (state_ != State::TrailerFields) ++at;
        break;
    }
  }
}

std::string_view BodyDecoder::take_content(std::string_view input) noexcept {
  const std::string_view data = input.substr(0, std::min<std::uint64_t>(input.size(), left_bytes_));
  left_bytes_ -= data.size();
  content_bytes_ += data.size();
  if (state_ == State::UntilClose) {
    if (data.empty()) fail(Errc::BodyTooLong);
  } else if (left_bytes_ == 0) {
    state_ = state_ == State::Length ? State::Done : State::DataCr;
  }
  return data;
}

/// Consumes one byte of chunk framing. RFC 9112 §7.1
void BodyDecoder::take_framing(char c) noexcept {
  switch (state_) {
    case State::Size:
      left_bytes_ = 0;
      digit_count_ = 0;
      if (!ascii::is_hex(c)) return fail(Errc::MalformedChunk);
      state_ = State::SizeRest;
      return take_size_digit(c);
    case State::SizeRest:
      if (ascii::is_hex(c)) return take_size_digit(c);
      if (c == '\r') {
        state_ = State::SizeLf;
        return;
      }
      state_ = State::BeforeExtension;
      return take_extension(c);
    case State::SizeLf: return c == '\n' ? end_size_line() : fail(Errc::MalformedChunk);
    case State::DataCr:
      state_ = State::DataLf;
      return c == '\r' ? void() : fail(Errc::MalformedChunk);
    case State::DataLf:
      state_ = State::Size;
      return c == '\n' ? void() : fail(Errc::MalformedChunk);
    case State::TrailerBegin:
      state_ = c == '\r' ? State::TrailerEndLf : State::TrailerFields;
      return;
    case State::TrailerEndLf:
      state_ = State::Done;
      return c == '\n' ? void() : fail(Errc::MalformedTrailer);
    default: return take_extension(c);
  }
}

/// Sixteen digits fill 64 bits. More are rejected: implementations disagree on overflow.
void BodyDecoder::take_size_digit(char c) noexcept {
  if (++digit_count_ > 16) return fail(Errc::MalformedChunk);
  left_bytes_ = left_bytes_ << 4 | ascii::hex_value(c);
}

void BodyDecoder::end_size_line() noexcept {
  if (left_bytes_ == 0) {
    state_ = State::TrailerBegin;
    return;
  }
  if (left_bytes_ > limits_.body_bytes - content_bytes_) return fail(Errc::BodyTooLong);
  state_ = State::Data;
}

/// RFC 9112 §7.1.1: *( BWS ";" BWS name [ BWS "=" BWS ( token / quoted-string ) ] ). Extensions are
/// checked and discarded. The grammar allows no white space before the CR.
void BodyDecoder::take_extension(char c) noexcept {
  const bool may_end = state_ == State::ExtensionNameRest || state_ == State::ExtensionValueRest ||
                       state_ == State::AfterQuotedText;
  if (c == '\r' && may_end) {
    state_ = State::SizeLf;
    return;
  }
  if (++extension_bytes_ > limits_.extension_bytes) return fail(Errc::ChunkExtensionTooLong);
  const State before = state_;
  state_ = State::Failed;  // unless the byte fits
  switch (before) {
    case State::BeforeExtension:
    case State::AfterQuotedText:
      if (c == ';') state_ = State::ExtensionName;
      if (ascii::is_ows(c)) state_ = State::BeforeExtension;
      break;
    case State::ExtensionName:
      if (ascii::is_token(c)) state_ = State::ExtensionNameRest;
      if (ascii::is_ows(c)) state_ = State::ExtensionName;
      break;
    case State::ExtensionNameRest:
    case State::AfterExtensionName:
      if (ascii::is_token(c) && before == State::ExtensionNameRest) state_ = before;
      if (ascii::is_ows(c)) state_ = State::AfterExtensionName;
      if (c == ';') state_ = State::ExtensionName;
      if (c == '=') state_ = State::ExtensionValue;
      break;
    case State::ExtensionValue:
      if (ascii::is_token(c)) state_ = State::ExtensionValueRest;
      if (ascii::is_ows(c)) state_ = State::ExtensionValue;
      if (c == '"') state_ = State::QuotedText;
      break;
    case State::ExtensionValueRest:
      if (ascii::is_token(c)) state_ = State::ExtensionValueRest;
      if (ascii::is_ows(c)) state_ = State::BeforeExtension;
      if (c == ';') state_ = State::ExtensionName;
      break;
    case State::QuotedText:
      if (ascii::is_field_value(c)) state_ = State::QuotedText;
      if (c == '"') state_ = State::AfterQuotedText;
      if (c == '\\') state_ = State::QuotedPair;
      break;
    case State::QuotedPair:
      if (ascii::is_field_value(c)) state_ = State::QuotedText;
      break;
    default: break;
  }
  if (state_ == State::Failed) error_ = Errc::MalformedChunk;
}

/// Copies the input to the trailer buffer and parses it there. Returns the bytes consumed.
std::size_t BodyDecoder::take_trailers(std::string_view input) noexcept {
  if (!trailers_) {
    trailers_.reset(new (std::nothrow) Trailers(limits_));
  }
  const std::size_t before = trailers_ ? trailers_->size_bytes : 0;
  const std::optional<std::size_t> taken = trailers_ ? trailers_->append(input) : std::nullopt;
  if (!taken) {
    fail(Errc::OutOfMemory);
    return 0;
  }
  Trailers& t = *trailers_;
  switch (t.parser.parse({t.bytes.get(), t.size_bytes})) {
    case ParseStatus::NeedMore: return *taken;
    case ParseStatus::Failed: fail(trailer_error(t.parser.error())); return *taken;
    case ParseStatus::Complete: break;
  }
  t.filter();
  state_ = State::Done;
  return t.parser.head().size_bytes - before;
}

}  // namespace skua::h1
