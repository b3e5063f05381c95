// SPDX-License-Identifier: MIT
// In: pieces of content. Out: as many bytes as a frame has room for.
#include "body/content_queue.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <span>
#include <utility>

#include "base/file_io.hpp"

namespace skua::body {
namespace {

constexpr std::size_t head_bytes = 9;                       // of a frame of HTTP/2, RFC 9113 §4.1
constexpr std::size_t read_bytes = 16 * 1024 - head_bytes;  // of a file at a time

}  // namespace

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

std::size_t ContentQueue::frame_bytes(std::size_t max_bytes) const noexcept {
  const auto most = static_cast<std::size_t>(std::min<std::uint64_t>(max_bytes, size_bytes_));
  if (first_.file() == nullptr) return most;
  const std::size_t ahead = ahead_.text().size() - ahead_used_;
  return std::min(most, ahead == 0 ? read_bytes : ahead);
}

bool ContentQueue::move_to(net::OutputQueue& output, std::string_view head,
                           std::size_t size_bytes) {
  size_bytes_ -= size_bytes;
  bool is_whole = true;
  while (size_bytes != 0) {
    if (first_.kind() == Body::Kind::None && rest_.front().file >= 0) {
      first_ = rest_.take_file();
      first_used_ = 0;
    }
    const bool is_first = first_.kind() != Body::Kind::None;
    const std::uint64_t left =
        is_first ? first_.size_bytes() - first_used_ : rest_.front().size_bytes;
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(size_bytes, left));
    if (first_.file() != nullptr) {
      is_whole = move_file(output, head, count) && is_whole;
    } else {
      output.append(head);
      if (is_first) {
        output.append_part(first_, static_cast<std::size_t>(first_used_), count);
        first_used_ += count;
      } else {
        rest_.move_front(output, count);
      }
    }
    head = {};
    if (is_first && count == left) drop_first();
    size_bytes -= count;
  }
  return is_whole;
}

bool ContentQueue::move_file(net::OutputQueue& output, std::string_view head,
                             std::size_t size_bytes) {
  bool is_whole = true;
  while (size_bytes != 0) {
    if (ahead_used_ == ahead_.text().size()) {
      const FileRange& range = *first_.file();
      const auto left = static_cast<std::size_t>(
          std::min<std::uint64_t>(range.size_bytes - first_used_, read_bytes));
      const auto room = std::make_shared_for_overwrite<char[]>(head_bytes + left);
      ahead_ = Body(SharedText{room, {room.get(), head_bytes + left}});
      ahead_used_ = head_bytes;
      const std::span<char> piece(room.get() + head_bytes, left);
      const auto got = base::read_at(range.file, range.offset + first_used_, piece).value_or(0U);
      std::memset(piece.data() + got, 0, left - got);
      is_whole = is_whole && got == left;
    }
    std::size_t begin = ahead_used_;
    if (begin == head_bytes && head.size() == head_bytes) {
      // The memory was not constant when it was made.
      head.copy(const_cast<char*>(ahead_.text().data()), head_bytes);
      begin = 0;
    } else {
      output.append(head);
    }
    head = {};
    const std::size_t count = std::min(size_bytes, ahead_.text().size() - ahead_used_);
    ahead_used_ += count;
    first_used_ += count;
    size_bytes -= count;
    output.append_part(ahead_, begin, ahead_used_ - begin);
  }
  return is_whole;
}

void ContentQueue::drop_first() noexcept {
  first_ = Body();
  if (ahead_used_ == 0) return;
  ahead_ = Body();
  ahead_used_ = 0;
}

void ContentQueue::clear() noexcept {
  if (empty()) return;
  drop_first();
  rest_.clear();
  size_bytes_ = 0;
}

}  // namespace skua::body
