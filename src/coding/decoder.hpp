// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "coding/coding.hpp"
#include "coding/engine.hpp"
#include "skua/bytes.hpp"
#include "skua/error.hpp"

namespace skua::coding {

/// How much may come out of a decoder; the excess is BodyTooLong.
struct DecodeLimits {
  std::uint64_t output_bytes = 64_MiB;  ///< in all
  std::uint64_t ratio = 100;            ///< bytes of output for each of input; zero: any number
  std::uint64_t free_bytes = 1_MiB;     ///< up to here the ratio does not matter

  /// Whether so much may have come of so much.
  [[nodiscard]] constexpr bool is_within_ratio(std::uint64_t input_bytes,
                                               std::uint64_t made_bytes) const noexcept {
    if (ratio == 0 || made_bytes <= free_bytes) return true;
    // Divided, so that no ratio can make it wrap round.
    return (made_bytes - free_bytes) / ratio <= input_bytes;
  }
};

/// Whether deflate may lack the wrapping that its name stands for (RFC 9110 §8.4.1.2): some servers
/// have always sent it so, and browsers read it.
enum class RawDeflate : std::uint8_t { Refused, Taken };

/// Decodes in pieces, within limits. What is cut off or goes on after its end is an error.
///
/// gzip members and zstd frames may follow each other, as their standards say.
class Decoder final {
 public:
  /// Ends with: Unsupported where this build does not know the coding, OutOfMemory.
  static Result<Decoder> create(Coding coding, DecodeLimits limits = {},
                                RawDeflate raw = RawDeflate::Refused);

  /// Takes from the front of the input and fills the room; how much of it was filled. Zero: all of
  /// the input was taken, and more is needed or there is no more.
  ///
  /// Ends with: MalformedCoding, BodyTooLong, OutOfMemory; from then on always.
  Result<std::size_t> read(std::string_view& input, std::span<char> room) noexcept;
  /// Takes all of the input and appends what it decodes to.
  Result<void> push(std::string_view input, std::string& output);
  /// Says that the input has ended.
  ///
  /// Ends with: MalformedCoding where the coding has not; the earlier error, if there was one.
  [[nodiscard]] Result<void> finish() const noexcept;

 private:
  Decoder(std::unique_ptr<DecodeEngine> engine, DecodeLimits limits) noexcept
      : engine_(std::move(engine)), limits_(limits) {}
  Result<std::size_t> step(std::string_view& input, std::span<char> room) noexcept;

  std::unique_ptr<DecodeEngine> engine_;
  DecodeLimits limits_;
  std::uint64_t taken_bytes_ = 0;
  std::uint64_t made_bytes_ = 0;
  Error error_{Errc::None};
  bool is_full_ = false;  // the room was: there may be more without more input
  bool is_at_end_ = false;
};

}  // namespace skua::coding
