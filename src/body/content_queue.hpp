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
  /// Moves the first `size_bytes` bytes, which must be there, to the end of an output. Long texts
  /// are not copied; files are read, up to 64 KiB ahead.
  ///
  /// Ends with: false if a file could not be read in full; zeros stand in for the missing bytes.
  [[nodiscard]] bool move_to(net::OutputQueue& output, std::size_t size_bytes);
  void clear() noexcept;

 private:
  bool move_first(net::OutputQueue& output, std::size_t size_bytes);
  bool move_file(net::OutputQueue& output, std::size_t size_bytes);
  bool read_ahead(const FileRange& range);
  void drop_first() noexcept;

  Body first_;                    // most content is one piece
  std::uint64_t first_used_ = 0;  // bytes of it that were moved
  Body ahead_;                    // read ahead from a file
  std::size_t ahead_used_ = 0;
  net::OutputQueue rest_;
  std::uint64_t size_bytes_ = 0;
};

}  // namespace skua::body
