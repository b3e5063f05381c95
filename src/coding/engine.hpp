// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "skua/error.hpp"

namespace skua::coding {

/// The result of one library call.
struct Step {
  std::size_t taken = 0;  ///< bytes of input
  std::size_t made = 0;   ///< bytes of output
  bool is_done = false;   ///< encoding: all requested output is out; decoding: at an end
};

/// How much an encoder must output: what it likes, everything, or everything and the end.
enum class Drive : std::uint8_t { Push, Flush, Finish };

/// The common interface of the three libraries' encoders.
class EncodeEngine {
 public:
  EncodeEngine() = default;
  EncodeEngine(const EncodeEngine&) = delete;
  EncodeEngine& operator=(const EncodeEngine&) = delete;
  virtual ~EncodeEngine() = default;

  /// Consumes input and fills `room`; call again with the same `drive` until done.
  virtual Result<Step> run(std::string_view input, std::span<char> room, Drive drive) noexcept = 0;
  /// Starts a new encoding, reusing memory. Returns false if that takes a new engine.
  virtual bool restart() noexcept = 0;
};

/// The common interface of the three libraries' decoders.
class DecodeEngine {
 public:
  DecodeEngine() = default;
  DecodeEngine(const DecodeEngine&) = delete;
  DecodeEngine& operator=(const DecodeEngine&) = delete;
  virtual ~DecodeEngine() = default;

  /// Consumes input and fills `room`. The step is done when the input may end; after that only
  /// codings that allow concatenation accept more.
  virtual Result<Step> run(std::string_view input, std::span<char> room) noexcept = 0;
};

/// The wrapper of a deflate stream: RFC 1952, RFC 1950, or the latter or none (RFC 1951).
enum class DeflateForm : std::uint8_t { Gzip, Zlib, ZlibOrRaw };

// Return null if memory runs out. Each is defined only in builds with its library.
std::unique_ptr<EncodeEngine> make_zlib_encoder(bool is_gzip, int level);
std::unique_ptr<DecodeEngine> make_zlib_decoder(DeflateForm form);
std::unique_ptr<EncodeEngine> make_brotli_encoder(int level);
std::unique_ptr<DecodeEngine> make_brotli_decoder();
std::unique_ptr<EncodeEngine> make_zstd_encoder(int level);
std::unique_ptr<DecodeEngine> make_zstd_decoder();

}  // namespace skua::coding
