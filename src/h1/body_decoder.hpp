// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string_view>

#include "h1/framing.hpp"
#include "http/message/field.hpp"
#include "skua/bytes.hpp"
#include "skua/config.hpp"
#include "skua/error.hpp"

namespace skua::h1 {

inline constexpr std::uint64_t unlimited_bytes = std::numeric_limits<std::uint64_t>::max();

/// Limits on a message body.
struct BodyLimits {
  std::uint64_t body_bytes = unlimited_bytes;  ///< content without chunk framing; else BodyTooLong
  std::uint64_t extension_bytes = 4_KiB;       ///< over all chunks; else ChunkExtensionTooLong
  std::uint64_t trailer_bytes = 8_KiB;         ///< else TrailerTooLong
  std::uint16_t trailer_fields = 64;           ///< else TrailerTooLong
};

/// More: call step() with the rest of the input, or with new input if none is left. Done: the
/// message ends here. Failed: see error().
enum class BodyStatus : std::uint8_t { More, Done, Failed };

/// Decodes a message body in place, as it arrives.
///
/// ```
/// decoder.start(framing, limits);
/// do {
///   const auto step = decoder.step(input);
///   input.remove_prefix(step.consumed_bytes);
///   use(step.data);
///   if (step.status != BodyStatus::More) break;
/// } while (!input.empty());
/// ```
/// A body of kind None is done before the first step: see is_done().
/// RFC:       9112 §6.3, §7.1
class BodyDecoder {
 public:
  struct Step {
    std::size_t consumed_bytes = 0;
    std::string_view data{};  ///< content, a view into the input; may be empty
    BodyStatus status = BodyStatus::More;
  };

  BodyDecoder() noexcept;
  BodyDecoder(const BodyDecoder&) = delete;
  BodyDecoder& operator=(const BodyDecoder&) = delete;
  ~BodyDecoder();

  /// Prepares for the body of a message. Fails with BodyTooLong if its declared length is over the
  /// limit. is_done() already holds afterwards if there is no body.
  Result<void> start(const Framing& framing, const BodyLimits& limits) noexcept;

  /// Consumes at most one piece of content and the framing around it. Any status may carry data:
  /// content before an error is delivered however the input is split.
  Step step(std::string_view input) noexcept;

  /// Signals the end of input. Ends with: TruncatedBody unless the end of input ends the body.
  Result<void> end_of_input() noexcept;

  [[nodiscard]] bool is_done() const noexcept { return state_ == State::Done; }
  /// The reason that step() returned Failed.
  [[nodiscard]] Errc error() const noexcept { return error_; }
  /// The number of content bytes delivered so far.
  [[nodiscard]] std::uint64_t content_bytes() const noexcept { return content_bytes_; }

  /// The trailer fields, without those that are not allowed in trailers. Empty before Done.
  ///
  /// Lifetime:  until the next start().
  /// RFC:       9110 §6.5.1
  [[nodiscard]] const http::Head& trailers() const noexcept SKUA_LIFETIMEBOUND;

 private:
  struct Trailers;
  enum class State : std::uint8_t {
    Done,
    Failed,
    Length,      // content up to left_bytes_, then the end
    UntilClose,  // content until the end of input
    // Chunks. RFC 9112 §7.1
    Size,
    SizeRest,
    BeforeExtension,
    ExtensionName,
    ExtensionNameRest,
    AfterExtensionName,
    ExtensionValue,
    ExtensionValueRest,
    QuotedText,
    QuotedPair,
    AfterQuotedText,
    SizeLf,
    Data,
    DataCr,
    DataLf,
    TrailerBegin,
    TrailerEndLf,
    TrailerFields,
  };

  std::string_view take_content(std::string_view input) noexcept;
  SKUA_COLD std::size_t take_trailers(std::string_view input) noexcept;
  void take_framing(char c) noexcept;
  SKUA_COLD void take_extension(char c) noexcept;
  void take_size_digit(char c) noexcept;
  void end_size_line() noexcept;
  void fail(Errc error) noexcept;

  State state_ = State::Done;
  std::uint8_t digit_count_ = 0;  // of the current chunk size
  Errc error_ = Errc::None;
  std::uint64_t extension_bytes_ = 0;
  std::uint64_t left_bytes_ = 0;  // of the body or the chunk
  std::uint64_t content_bytes_ = 0;
  BodyLimits limits_;
  std::unique_ptr<Trailers> trailers_;  // created when a trailer field arrives
};

}  // namespace skua::h1
