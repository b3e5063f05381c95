// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "net/output_queue.hpp"
#include "skua/body.hpp"

namespace skua::body {

/// Content that a protocol asks for in frames of its own choice: HTTP/2's DATA.
class ContentQueue final {
 public:
  explicit ContentQueue(net::OutputQueue::Blocks& blocks) noexcept : rest_(blocks) {}

  void append(Body&& piece);
  void append(std::string_view text);
  [[nodiscard]] bool empty() const noexcept { return size_bytes_ == 0; }
  [[nodiscard]] std::uint64_t size_bytes() const noexcept { return size_bytes_; }
  /// As OutputQueue::pressure_bytes().
  [[nodiscard]] std::uint64_t pressure_bytes() const noexcept;
  /// Moves the first bytes, of which there are so many, to the end of an output. Long texts are not
  /// copied; files are read, up to 64 KiB ahead.
  ///
  /// Ends with: false if a file has become shorter: there are zeros for what could not be read.
  [[nodiscard]] bool move_to(net::OutputQueue& output, std::size_t size_bytes);
  void clear() noexcept;

 private:
  bool move_first(net::OutputQueue& output, std::size_t size_bytes);
  bool move_file(net::OutputQueue& output, std::size_t size_bytes);
  bool read_ahead(const FileRange& range);
  void drop_first() noexcept;

  Body first_;                    // most content is one piece
  std::uint64_t first_used_ = 0;  // of its bytes
  Body ahead_;                    // what comes next of a file
  std::size_t ahead_used_ = 0;
  net::OutputQueue rest_;
  std::uint64_t size_bytes_ = 0;
};

}  // namespace skua::body
