// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "net/output_queue.hpp"
#include "skua/body.hpp"

namespace skua::body {

/// A queue of content that a protocol takes in frames of any size, such as HTTP/2's DATA.
class ContentQueue final {
 public:
  explicit ContentQueue(net::OutputQueue::Blocks& blocks) noexcept : rest_(blocks) {}

  void append(Body&& piece);
  void append(std::string_view text);
  [[nodiscard]] bool empty() const noexcept { return size_bytes_ == 0; }
  [[nodiscard]] std::uint64_t size_bytes() const noexcept { return size_bytes_; }
  /// See OutputQueue::pressure_bytes().
  [[nodiscard]] std::uint64_t pressure_bytes() const noexcept;
  /// Returns how many bytes the next frame should have: at most `max_bytes`, and no more than
  /// there are. Frames of a file begin and end where the pieces do in which it is read.
  [[nodiscard]] std::size_t frame_bytes(std::size_t max_bytes) const noexcept;
  /// Writes the head of a frame to the end of an output, and moves the first `size_bytes` bytes,
  /// which must be there, behind it. Long texts are not copied; files are read, up to 16 KiB ahead,
  /// such that the head of a frame of HTTP/2 and its bytes are one piece of memory.
  ///
  /// Ends with: false if a file could not be read in full; zeros stand in for the missing bytes.
  [[nodiscard]] bool move_to(net::OutputQueue& output, std::string_view head,
                             std::size_t size_bytes);
  void clear() noexcept;

 private:
  bool move_file(net::OutputQueue& output, std::string_view head, std::size_t size_bytes);
  void drop_first() noexcept;

  Body first_;                    // most content is one piece
  std::uint64_t first_used_ = 0;  // bytes of it that were moved
  Body ahead_;                    // a piece of a file, behind room for the head of a frame
  std::size_t ahead_used_ = 0;
  net::OutputQueue rest_;
  std::uint64_t size_bytes_ = 0;
};

}  // namespace skua::body
