// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/memory.hpp"
#include "skua/error.hpp"

namespace skua::ws {

/// Reports whether skua was built with zlib. Without it, nothing is negotiated, and the functions
/// below end with Unsupported.
bool is_deflate_available() noexcept;

class InflateState;

/// A pool of unused memory for decompression, one per thread.
class InflatePool final {
 public:
  explicit InflatePool(std::size_t kept = 4);
  InflatePool(const InflatePool&) = delete;
  InflatePool& operator=(const InflatePool&) = delete;
  ~InflatePool();

  /// Adds the output of its inflaters, in bytes, to `made_bytes`, which must outlive the pool.
  void count_in(std::uint64_t& made_bytes) noexcept { made_bytes_ = &made_bytes; }

 private:
  friend class Inflater;
  base::Pool<InflateState> states_;
  std::uint64_t* made_bytes_ = nullptr;
};

/// Decompresses the messages of one peer, piece by piece.
///
/// Each connection has its own, because a message may arrive in pieces. It is a few words long
/// until a message begins; then it takes about 7 KiB and a window from `pool` or the heap, which it
/// returns at the end of the message unless it keeps the context. Connections without a message in
/// progress thus share memory.
/// RFC:       7692 §7.2.2
class Inflater final {
 public:
  struct Step {
    std::size_t taken = 0;  ///< bytes of input
    std::size_t made = 0;   ///< bytes of output
    bool is_done = false;   ///< all input is consumed and all its output delivered
  };

  /// `window_bits`: 8 to 15, as used by the peer. `pool`, if any, must outlive the inflater.
  Inflater(int window_bits, bool keeps_context, InflatePool* pool = nullptr) noexcept;
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  ~Inflater();

  /// Continues a message; called with the rest of the input until it is done. `room` bounds the
  /// expansion of hostile input.
  ///
  /// Ends with: MalformedCoding, OutOfMemory; the error persists until abandon().
  Result<Step> inflate(std::string_view input, std::span<char> room);
  /// Produces the rest of the message after its last byte; called until it is done.
  ///
  /// Ends with: the errors of inflate(), also if the message stops in the middle of a block.
  Result<Step> finish(std::span<char> room);
  /// Discards the message and the context.
  void abandon() noexcept;

  /// Memory in use, besides the object itself.
  [[nodiscard]] std::size_t memory_bytes() const noexcept;

 private:
  Result<void> begin();
  void release() noexcept;

  InflatePool* pool_;
  std::unique_ptr<InflateState> state_;
  [[maybe_unused]] std::uint8_t window_bits_;  // only with zlib
  std::uint8_t tail_taken_ = 0;                // of the bytes that the sender omitted
  [[maybe_unused]] bool keeps_context_;        // only with zlib
};

/// Compresses whole messages. A deflater without context may serve all connections of a thread that
/// agreed on its window or a larger one.
///
/// RFC:       7692 §7.2.1
class Deflater final {
 public:
  static constexpr int fast_level = 1;

  /// `window_bits`: 8 to 15. Allocates memory for the first message: about 160 KiB at 15, roughly
  /// halved by each bit less.
  Deflater(int window_bits, bool keeps_context, int level = fast_level) noexcept;
  Deflater(const Deflater&) = delete;
  Deflater& operator=(const Deflater&) = delete;
  ~Deflater();

  /// Appends the payload of a compressed message to `out`, which is unchanged on failure.
  ///
  /// Ends with: OutOfMemory.
  Result<void> deflate(std::string_view message, std::string& out);

  /// Memory in use, besides the object itself.
  [[nodiscard]] std::size_t memory_bytes() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
  [[maybe_unused]] std::uint8_t window_bits_;  // these only with zlib
  [[maybe_unused]] std::int8_t level_;
  [[maybe_unused]] bool keeps_context_;
};

}  // namespace skua::ws
