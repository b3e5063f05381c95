// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "skua/error.hpp"

namespace skua::coding {

/// What one call of a library did.
struct Step {
  std::size_t taken = 0;  ///< bytes of input
  std::size_t made = 0;   ///< bytes of output
  bool is_done = false;   ///< encoding: all that was asked for is out; decoding: at an end
};

/// What is to come out of an encoder: what it likes, all it has, or all it has and the end.
enum class Drive : std::uint8_t { Push, Flush, Finish };

/// What the encoders of three libraries have in common.
class EncodeEngine {
 public:
  EncodeEngine() = default;
  EncodeEngine(const EncodeEngine&) = delete;
  EncodeEngine& operator=(const EncodeEngine&) = delete;
  virtual ~EncodeEngine() = default;

  /// Takes from the input and fills the room; to be called again with the same `drive` until it is
  /// done.
  virtual Result<Step> run(std::string_view input, std::span<char> room, Drive drive) noexcept = 0;
  /// Begins anew with the memory that is there. False where a new engine has to be made.
  virtual bool restart() noexcept = 0;
};

/// What the decoders of three libraries have in common.
class DecodeEngine {
 public:
  DecodeEngine() = default;
  DecodeEngine(const DecodeEngine&) = delete;
  DecodeEngine& operator=(const DecodeEngine&) = delete;
  virtual ~DecodeEngine() = default;

  /// Takes from the input and fills the room. It is done where the input may end; after that only a
  /// coding that may be concatenated takes more.
  virtual Result<Step> run(std::string_view input, std::span<char> room) noexcept = 0;
};

/// What stands around a deflate stream: RFC 1952, RFC 1950, or that or nothing (RFC 1951).
enum class DeflateForm : std::uint8_t { Gzip, Zlib, ZlibOrRaw };

// Null where memory ran out. Each is there where its library is.
std::unique_ptr<EncodeEngine> make_zlib_encoder(bool is_gzip, int level);
std::unique_ptr<DecodeEngine> make_zlib_decoder(DeflateForm form);
std::unique_ptr<EncodeEngine> make_brotli_encoder(int level);
std::unique_ptr<DecodeEngine> make_brotli_decoder();
std::unique_ptr<EncodeEngine> make_zstd_encoder(int level);
std::unique_ptr<DecodeEngine> make_zstd_decoder();

}  // namespace skua::coding
