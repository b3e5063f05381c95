// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "coding/decoder.hpp"
#include "http/field.hpp"
#include "skua/error.hpp"

namespace skua::client {

/// More codings than this, one in the other, are refused.
inline constexpr std::size_t most_codings = 4;

/// The value of Accept-Encoding that asks for what this build decodes, the best first; empty where
/// that is nothing. deflate is left out: it is decoded, but nobody agrees on what it is.
[[nodiscard]] std::string accepted_codings();

/// Takes the codings off a response's content, in pieces.
///
/// The limits hold for each coding by itself and for all of them together, so that a bomb inside a
/// bomb goes off no later. A coding that is not known is an error and not passed on: whoever asks
/// for the content would take the coded bytes for it. Content without a single byte is empty
/// whatever its codings say, as servers send it with HEAD in mind.
///
/// RFC:       9110 §8.4
class ContentDecoder final {
 public:
  /// For the codings that the Content-Encoding lines of a head name; identity is none.
  ///
  /// Ends with: Unsupported for codings that this build does not know, and for too many of them;
  ///            MalformedField for what is no coding's name; OutOfMemory.
  static Result<ContentDecoder> create(const http::Head& head, coding::DecodeLimits limits = {});
  /// The same for one line.
  static Result<ContentDecoder> create(std::string_view codings, coding::DecodeLimits limits = {});

  /// Whether there is no coding: read() would only copy, and no limit holds.
  [[nodiscard]] bool is_identity() const noexcept { return stages_.empty(); }

  /// Takes from the front of the input and fills the room; how much of it was filled. Zero: all of
  /// the input was taken, and more is needed or there is no more.
  ///
  /// Ends with: MalformedCoding, also for what follows the end of a coding; BodyTooLong;
  ///            OutOfMemory; from then on always.
  Result<std::size_t> read(std::string_view& input, std::span<char> room) noexcept;

  /// Says that the input has ended, after read() has come to zero.
  ///
  /// Ends with: MalformedCoding where a coding has not ended; the earlier error, if there was one.
  [[nodiscard]] Result<void> finish() const noexcept;

 private:
  /// One coding, and what the one outside it has given it to decode.
  struct Stage {
    coding::Decoder decoder;
    std::vector<char> buffer{};
    std::string_view pending{};
  };

  ContentDecoder(std::vector<Stage> stages, coding::DecodeLimits limits) noexcept
      : limits_(limits), stages_(std::move(stages)) {}
  static Result<ContentDecoder> create(const std::vector<coding::Coding>& codings,
                                       coding::DecodeLimits limits);
  Result<std::size_t> pull(std::string_view& input, std::span<char> room) noexcept;

  coding::DecodeLimits limits_;
  std::vector<Stage> stages_;  // the outermost coding first
  std::uint64_t taken_bytes_ = 0;
  std::uint64_t made_bytes_ = 0;
  Error error_{Errc::None};
};

}  // namespace skua::client
