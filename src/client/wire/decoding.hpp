// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "coding/coding.hpp"
#include "http/message/field.hpp"
#include "skua/error.hpp"

namespace skua::client {

/// The most codings that may be nested; more are refused.
inline constexpr std::size_t max_codings = 4;

/// Returns the Accept-Encoding value for the codings that this build decodes, best first; may be
/// empty. Omits deflate: it is decoded, but implementations disagree on its format.
[[nodiscard]] std::string accepted_codings();

/// Decodes a response's content incrementally.
///
/// The limits apply to each coding and to all of them together, so that a bomb inside a bomb is
/// caught just as early. An unknown coding is an error, not passed through: callers would mistake
/// the coded bytes for the content. Content of zero bytes is valid whatever its codings: servers
/// name codings for it, as they do in responses to HEAD.
///
/// RFC:       9110 §8.4
class ContentDecoder final {
 public:
  /// Creates a decoder for a head's Content-Encoding field lines; identity is ignored.
  ///
  /// Ends with: Unsupported if this build does not know a coding, or if there are too many;
  ///            MalformedField if a coding's name is malformed; OutOfMemory.
  static Result<ContentDecoder> create(const http::Head& head, coding::DecodeLimits limits = {});
  /// Like the above, for the value of one field line.
  static Result<ContentDecoder> create(std::string_view codings, coding::DecodeLimits limits = {});

  /// Reports whether there is no coding: read() only copies, and no limit applies.
  [[nodiscard]] bool is_identity() const noexcept { return stages_.empty(); }

  /// Consumes the front of the input and returns how many bytes of the room were filled. Zero means
  /// that all input was consumed and more is needed, or that the content has ended.
  ///
  /// Ends with: MalformedCoding, also for data after the end of a coding; BodyTooLong;
  ///            OutOfMemory. Errors are permanent.
  Result<std::size_t> read(std::string_view& input, std::span<char> room) noexcept;

  /// Checks that the content is complete. Call it at the end of input, once read() returns zero.
  ///
  /// Ends with: MalformedCoding if a coding is incomplete; an earlier error, if there was one.
  [[nodiscard]] Result<void> finish() const noexcept;

 private:
  /// One coding, and its input from the coding around it.
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
