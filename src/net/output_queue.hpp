// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "base/pool.hpp"
#include "net/stream.hpp"
#include "skua/body.hpp"

namespace skua::net {

/// A piece of output: memory, or a range of a file.
struct Segment {
  virtual ~Segment() = default;
  std::unique_ptr<Segment> next{};
  const char* data = nullptr;
  std::uint64_t size_bytes = 0;  ///< what is left of it
  std::uint64_t offset = 0;      ///< in the file
  int file = -1;
  bool is_block = false;
};

/// A piece of output into which heads and small bodies are written one after the other; from a
/// worker's pool.
struct OutputBlock final : Segment {
  std::array<char, 6 * 1024 - 192> bytes;
  std::size_t used = 0;  ///< from the front; what was sent is not used again
};

/// What a connection still has to send, in order.
///
/// Blocks go back to the pool once sent, so a connection that has nothing to send owns no buffer.
/// Memory stays where it is until consume() has passed it: sends in flight refer to it.
class OutputQueue {
 public:
  using Blocks = base::Pool<OutputBlock>;

  explicit OutputQueue(Blocks& blocks) noexcept : blocks_(&blocks) {}
  OutputQueue(const OutputQueue&) = delete;
  OutputQueue& operator=(const OutputQueue&) = delete;
  ~OutputQueue() { clear(); }

  [[nodiscard]] bool empty() const noexcept { return head_ == nullptr; }
  /// All that waits; looks at each piece of it.
  [[nodiscard]] std::uint64_t size_bytes() const noexcept;
  /// What back-pressure counts: the bytes that wait in memory, and file_pressure_bytes for each
  /// file.
  [[nodiscard]] std::uint64_t pressure_bytes() const noexcept { return pressure_bytes_; }
  /// A file costs a descriptor, of which a process has few: a peer that asks for many and reads
  /// none must not get hold of all.
  static constexpr std::uint64_t file_pressure_bytes = 256 * 1024;

  /// Room for `size_bytes` (at most max_reserve) in one piece, to be filled and committed.
  char* reserve(std::size_t size_bytes);
  void commit(std::size_t size_bytes) noexcept;
  static constexpr std::size_t max_reserve = std::tuple_size_v<decltype(OutputBlock::bytes)>;

  /// Copies text.
  void append(std::string_view text);
  /// Takes over a body and sends it from where it is: for those that are too large to copy.
  void append_body(Body&& body);

  /// Takes over a piece of any size: short texts are copied, as that is cheaper than a slice.
  void append_piece(Body&& piece);

  /// Adds a part of a text. A long one is not copied: the body shares its text from then on.
  void append_part(Body& body, std::size_t offset, std::size_t size_bytes);
  /// Moves the first bytes of the segment at the front, which is memory, to the end of another
  /// queue.
  void move_front(OutputQueue& to, std::size_t size_bytes);
  /// Takes out the file at the front, of which nothing was consumed.
  Body take_file() noexcept;

  /// The slices at the front up to the first file range: as many as `slices` holds.
  std::size_t gather(std::span<Slice> slices) const noexcept;
  /// The segment at the front; not to be called when empty.
  [[nodiscard]] const Segment& front() const noexcept { return *head_; }
  /// These many bytes have been sent.
  void consume(std::uint64_t size_bytes) noexcept;
  /// The segment at the front, which is memory, has been sent.
  void drop_memory() noexcept;
  /// Drops everything.
  void clear() noexcept;

 private:
  void push(std::unique_ptr<Segment> segment) noexcept;
  void pop() noexcept;

  Blocks* blocks_;
  std::unique_ptr<Segment> head_;
  Segment* tail_ = nullptr;
  std::uint64_t pressure_bytes_ = 0;
};

/// What a stream has taken.
struct Sent {
  std::uint64_t bytes = 0;
  bool is_pending = false;  ///< it takes more later, and tells on_sent
};

/// Sends what is queued until nothing is left, or the stream cannot take more now; what was taken
/// is gone from the queue. Not while a send is pending.
Sent send_queued(OutputQueue& queue, Stream& stream);

}  // namespace skua::net
