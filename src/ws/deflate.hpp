// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/pool.hpp"
#include "skua/error.hpp"

namespace skua::ws {

/// Whether zlib was there when skua was built. Without it nothing is negotiated, and what is below
/// ends with Unsupported.
bool is_deflate_available() noexcept;

class InflateState;

/// Memory for decompressing that nobody uses now: one for each thread.
class InflatePool final {
 public:
  explicit InflatePool(std::size_t kept = 4);
  InflatePool(const InflatePool&) = delete;
  InflatePool& operator=(const InflatePool&) = delete;
  ~InflatePool();

  /// How much its inflaters have made of what they were given.
  [[nodiscard]] std::uint64_t made_bytes() const noexcept { return made_bytes_; }

 private:
  friend class Inflater;
  base::Pool<InflateState> states_;
  std::uint64_t made_bytes_ = 0;
};

/// Decompresses the messages of one peer, piece by piece.
///
/// Each connection has one, because a message may be interrupted in its middle. It is a few words
/// long until a message begins; then it takes about 7 KiB and a window from `pool` or the heap,
/// which it gives back with the message's end unless it keeps the context. Whoever has no message
/// in progress thus shares with all others.
/// RFC:       7692 §7.2.2
class Inflater final {
 public:
  struct Step {
    std::size_t taken = 0;  ///< bytes of input
    std::size_t made = 0;   ///< bytes of output
    bool is_done = false;   ///< all is taken, and all that could come of it is out
  };

  /// `window_bits`: 8 to 15, what the peer compresses with. `pool`, if any, outlives it.
  Inflater(int window_bits, bool keeps_context, InflatePool* pool = nullptr) noexcept;
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  ~Inflater();

  /// Goes on with a message; to be called with the rest of the input until it is done. The room
  /// bounds what a hostile input can make of itself.
  ///
  /// Ends with: MalformedCoding, OutOfMemory; the same again until abandon().
  Result<Step> inflate(std::string_view input, std::span<char> room);
  /// Brings out the rest of the message after its last byte; to be called until it is done.
  ///
  /// Ends with: as inflate(), also where the message stops in the middle of a block.
  Result<Step> finish(std::span<char> room);
  /// Forgets the message and the context.
  void abandon() noexcept;

  /// What it holds now, beside itself.
  [[nodiscard]] std::size_t memory_bytes() const noexcept;

 private:
  Result<void> begin();
  void release() noexcept;

  InflatePool* pool_;
  std::unique_ptr<InflateState> state_;
  std::uint8_t window_bits_;
  std::uint8_t tail_taken_ = 0;  // of the bytes that the sender left out
  bool keeps_context_;
};

/// Compresses whole messages. One without context may serve all connections of a thread that agreed
/// on its window or a larger one.
///
/// RFC:       7692 §7.2.1
class Deflater final {
 public:
  static constexpr int fast_level = 1;

  /// `window_bits`: 8 to 15. Memory is taken with the first message: at 15 about 160 KiB, half of
  /// it with each bit less.
  Deflater(int window_bits, bool keeps_context, int level = fast_level) noexcept;
  Deflater(const Deflater&) = delete;
  Deflater& operator=(const Deflater&) = delete;
  ~Deflater();

  /// Appends the payload of a compressed message to `out`, which is as before where it fails.
  ///
  /// Ends with: OutOfMemory.
  Result<void> deflate(std::string_view message, std::string& out);

  /// What it holds now, beside itself.
  [[nodiscard]] std::size_t memory_bytes() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
  std::uint8_t window_bits_;
  std::int8_t level_;
  bool keeps_context_;
};

}  // namespace skua::ws
