// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "coding/engine.hpp"
#include "skua/bytes.hpp"
#include "skua/error.hpp"

namespace skua::coding {

/// A content coding, not necessarily available in this build. RFC 9110 §8.4.1, 7932, 8878
enum class Coding : std::uint8_t { Gzip, Deflate, Brotli, Zstd };

/// Returns the name in Content-Encoding: `gzip`, `deflate`, `br`, `zstd`.
std::string_view name(Coding coding) noexcept;

/// Finds a coding by name, ignoring case; `x-gzip` is gzip (RFC 9110 §8.4.1.3).
std::optional<Coding> find_coding(std::string_view name) noexcept;

/// Reports whether skua was built with the library for it.
bool is_available(Coding coding) noexcept;

/// Limits on a decoder's output; exceeding them ends with BodyTooLong.
struct DecodeLimits {
  std::uint64_t output_bytes = 64_MiB;  ///< in total
  std::uint64_t ratio = 100;            ///< output bytes per input byte; zero means no limit
  std::uint64_t free_bytes = 1_MiB;     ///< output that is exempt from the ratio

  /// Reports whether that much output from that much input is within the ratio.
  [[nodiscard]] constexpr bool is_within_ratio(std::uint64_t input_bytes,
                                               std::uint64_t made_bytes) const noexcept {
    if (ratio == 0 || made_bytes <= free_bytes) return true;
    // Divides instead of multiplying, which could overflow.
    return (made_bytes - free_bytes) / ratio <= input_bytes;
  }
};

/// Whether to accept deflate without its zlib wrapper (RFC 9110 §8.4.1.2): some servers have always
/// sent that, and browsers accept it.
enum class RawDeflate : std::uint8_t { Refused, Taken };

/// An incremental decoder with limits. Truncated input and bytes after the end are errors.
///
/// Consecutive gzip members and zstd frames are accepted, as their standards require.
class Decoder final {
 public:
  /// Ends with: Unsupported if this build lacks the coding, OutOfMemory.
  static Result<Decoder> create(Coding coding, DecodeLimits limits = {},
                                RawDeflate raw = RawDeflate::Refused);

  /// Consumes input from the front and fills `room`; returns the bytes written. Zero means that all
  /// input was consumed, and that the output so far is complete.
  ///
  /// Ends with: MalformedCoding, BodyTooLong, OutOfMemory; every later call repeats the error.
  Result<std::size_t> read(std::string_view& input, std::span<char> room) noexcept;
  /// Consumes all input and appends the decoded output.
  Result<void> push(std::string_view input, std::string& output);
  /// Checks that the input may end here.
  ///
  /// Ends with: MalformedCoding if the input is truncated; the earlier error, if there was one.
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
  bool is_full_ = false;  // the last room was filled, so more output may come without input
  bool is_at_end_ = false;
};

/// A coding's compression levels, from `fastest` to `smallest`; `usual` suits encoding on the fly.
struct Levels {
  int fastest = 1;
  int smallest = 9;
  int usual = 6;
};
Levels levels(Coding coding) noexcept;

/// An incremental encoder; each call appends its output.
class Encoder final {
 public:
  /// Ends with: Unsupported if this build lacks the coding, OutOfMemory;
  ///            std::invalid_argument for a level that the coding does not have.
  static Result<Encoder> create(Coding coding, int level);

  /// Consumes all input; the encoder may hold back much of the output.
  Result<void> push(std::string_view input, std::string& output);
  /// Outputs everything pushed so far, so that the peer can decode it.
  Result<void> flush(std::string& output);
  /// Consumes the last piece and ends the output; only restart() may follow.
  Result<void> finish(std::string_view input, std::string& output);
  /// Starts a new encoding, reusing memory if the library can.
  Result<void> restart();

 private:
  Encoder(std::unique_ptr<EncodeEngine> engine, Coding coding, int level) noexcept
      : engine_(std::move(engine)), level_(level), coding_(coding) {}
  Result<void> run(std::string_view input, std::string& output, Drive drive);

  std::unique_ptr<EncodeEngine> engine_;
  int level_;
  Coding coding_;
};

}  // namespace skua::coding
