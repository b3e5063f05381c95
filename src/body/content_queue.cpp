// SPDX-License-Identifier: MIT
// Pieces in, the bytes that a frame has room for out.
#include "body/content_queue.hpp"

#include <algorithm>
#include <utility>

#include "net/append_file.hpp"

namespace skua::body {

void ContentQueue::append(Body&& piece) {
  const std::uint64_t piece_bytes = piece.size_bytes();
  if (piece_bytes == 0) return;
  if (!empty()) {
    rest_.append_piece(std::move(piece));
    size_bytes_ += piece_bytes;
    return;
  }
  size_bytes_ = piece_bytes;
  first_ = std::move(piece);
  first_used_ = 0;
}

void ContentQueue::append(std::string_view text) {
  rest_.append(text);
  size_bytes_ += text.size();
}

std::uint64_t ContentQueue::pressure_bytes() const noexcept {
  if (first_.kind() == Body::Kind::None) return rest_.pressure_bytes();
  const bool is_file = first_.file() != nullptr;
  return rest_.pressure_bytes() +
         (is_file ? net::OutputQueue::file_pressure_bytes : first_.size_bytes() - first_used_);
}

bool ContentQueue::move_to(net::OutputQueue& output, std::size_t size_bytes) {
  size_bytes_ -= size_bytes;
  bool is_whole = true;
  if (first_.kind() != Body::Kind::None) {
    const std::uint64_t left = first_.size_bytes() - first_used_;
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(size_bytes, left));
    is_whole = move_first(output, count);
    size_bytes -= count;
    if (count == left) first_ = Body();
  }
  while (size_bytes != 0) {
    const net::Segment& front = rest_.front();
    const auto count =
        static_cast<std::size_t>(std::min<std::uint64_t>(size_bytes, front.size_bytes));
    if (front.file < 0) {
      rest_.move_front(output, count);
    } else {
      is_whole = net::append_file(output, front.file, front.offset, count) && is_whole;
      rest_.consume(count);
    }
    size_bytes -= count;
  }
  return is_whole;
}

bool ContentQueue::move_first(net::OutputQueue& output, std::size_t size_bytes) {
  const std::uint64_t offset = std::exchange(first_used_, first_used_ + size_bytes);
  if (const FileRange* const range = first_.file()) {
    return net::append_file(output, range->file, range->offset + offset, size_bytes);
  }
  output.append_part(first_, static_cast<std::size_t>(offset), size_bytes);
  return true;
}

void ContentQueue::clear() noexcept {
  first_ = Body();
  rest_.clear();
  size_bytes_ = 0;
}

}  // namespace skua::body
