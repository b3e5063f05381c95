// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "base/memory.hpp"
#include "net/stream.hpp"
#include "skua/body.hpp"

namespace skua::loop {
class Loop;
}

namespace skua::net {

/// A segment of output: memory, or a range of a file.
struct Segment {
  virtual ~Segment() = default;
  std::unique_ptr<Segment> next{};
  const char* data = nullptr;
  std::uint64_t size_bytes = 0;  ///< still to be sent
  std::uint64_t offset = 0;      ///< in the file
  // Facts about the whole queue, in its first segment only, so that an empty queue is small.
  Segment* last = nullptr;
  std::uint64_t pressure_bytes = 0;
  int file = -1;
  bool is_block = false;
};

/// A segment that collects heads and small bodies one after the other; from a worker's pool.
struct OutputBlock final : Segment {
  std::array<char, 6 * 1024 - 192> bytes;
  std::size_t used = 0;  ///< from the front; the room of sent bytes is not reused
};

/// A segment that refers to memory or a file of `owner`; from a worker's pool, too.
struct OutputReference final : Segment {
  std::shared_ptr<const void> owner{};
};

/// The blocks and references of the queues of one thread.
class OutputBlocks final : public base::Pool<OutputBlock> {
 public:
  explicit OutputBlocks(std::size_t kept) : Pool(kept), references_(kept * references_per_block) {}

 private:
  friend class OutputQueue;
  friend class StreamPump;
  // As many as a publication to numerous sockets takes; they are small.
  static constexpr std::size_t references_per_block = 4;

  base::Pool<OutputReference> references_;
  loop::Loop* loop_ = nullptr;  // of its pumps, so that none has to store it
};

/// The output that a connection still has to send, in order.
///
/// Blocks go back to the pool once sent, so a connection with nothing to send owns no buffer.
/// Memory does not move until it is consumed, because sends in flight refer to it.
class OutputQueue {
 public:
  using Blocks = OutputBlocks;

  explicit OutputQueue(Blocks& blocks) noexcept : blocks_(&blocks) {}
  OutputQueue(const OutputQueue&) = delete;
  OutputQueue& operator=(const OutputQueue&) = delete;
  ~OutputQueue() { clear(); }

  [[nodiscard]] bool empty() const noexcept { return head_ == nullptr; }
  [[nodiscard]] Blocks& blocks() const noexcept { return *blocks_; }
  /// The number of queued bytes; walks all segments.
  [[nodiscard]] std::uint64_t size_bytes() const noexcept;
  /// The measure for back-pressure: the queued bytes in memory, plus file_pressure_bytes per file.
  [[nodiscard]] std::uint64_t pressure_bytes() const noexcept {
    return head_ != nullptr ? head_->pressure_bytes : 0;
  }
  /// The charge for a file. Descriptors are scarce: a peer that requests many files and reads
  /// none must not exhaust them.
  static constexpr std::uint64_t file_pressure_bytes = 256 * 1024;

  /// Returns contiguous room for `size_bytes` (at most max_reserve), to be filled and committed.
  char* reserve(std::size_t size_bytes) {
    SKUA_ASSERT(size_bytes <= max_reserve);
    if (room_at_end() < size_bytes) return add_block();
    OutputBlock& block = last_block();
    return block.bytes.data() + block.used;
  }
  void commit(std::size_t size_bytes) noexcept {
    OutputBlock& block = last_block();
    block.used += size_bytes;
    block.size_bytes += size_bytes;
    head_->pressure_bytes += size_bytes;
  }
  static constexpr std::size_t max_reserve = std::tuple_size_v<decltype(OutputBlock::bytes)>;

  /// Appends a copy of the text.
  void append(std::string_view text);
  /// Appends a body without copying it; for bodies that are too large to copy.
  SKUA_COLD void append_body(Body&& body);

  /// Appends a piece of any size. Short texts are copied, which is cheaper than a slice.
  void append_piece(Body&& piece);

  /// Appends a part of a body's text. A long part is not copied: the body then shares its text.
  void append_part(Body& body, std::size_t offset, std::size_t size_bytes);
  /// Moves the first bytes of the front segment, which must be memory, to the end of `to`.
  void move_front(OutputQueue& to, std::size_t size_bytes);
  /// Removes and returns the file at the front, of which nothing must have been consumed.
  SKUA_COLD Body take_file() noexcept;

  /// Fills `slices` from the front up to the first file range, and returns their number.
  std::size_t gather(std::span<Slice> slices) const noexcept;
  /// The front segment. The queue must not be empty.
  [[nodiscard]] const Segment& front() const noexcept { return *head_; }
  /// Removes this many bytes, which have been sent, from the front.
  void consume(std::uint64_t size_bytes) noexcept;
  /// Removes the front segment, which must be memory and has been sent.
  void drop_memory() noexcept { pop(); }
  /// Removes everything.
  SKUA_COLD void clear() noexcept;

 private:
  [[nodiscard]] OutputBlock& last_block() noexcept {
    return static_cast<OutputBlock&>(*head_->last);
  }
  [[nodiscard]] std::size_t room_at_end() noexcept {
    return head_ == nullptr || !head_->last->is_block ? 0 : max_reserve - last_block().used;
  }
  char* add_block();
  void append_shared(SharedText&& text);
  [[nodiscard]] std::unique_ptr<OutputReference> reference(std::shared_ptr<const void>&& owner);
  void push(std::unique_ptr<Segment> segment) noexcept;
  void pop() noexcept;

  Blocks* blocks_;
  std::unique_ptr<Segment> head_;
};
static_assert(sizeof(OutputQueue) == 2 * sizeof(void*));

/// Sends queued output until none is left or the stream cannot take more, and removes what was
/// taken. Must not be called while a send is pending.
Sent send_queued(OutputQueue& queue, Stream& stream);

}  // namespace skua::net
