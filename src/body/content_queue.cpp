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

constexpr std::size_t read_bytes = 64 * 1024;  // of a file at a time

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

bool ContentQueue::move_to(net::OutputQueue& output, std::size_t size_bytes) {
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
    if (is_first) {
      is_whole = move_first(output, count) && is_whole;
      if (count == left) drop_first();
    } else {
      rest_.move_front(output, count);
    }
    size_bytes -= count;
  }
  return is_whole;
}

bool ContentQueue::move_first(net::OutputQueue& output, std::size_t size_bytes) {
  if (first_.file() != nullptr) return move_file(output, size_bytes);
  output.append_part(first_, static_cast<std::size_t>(first_used_), size_bytes);
  first_used_ += size_bytes;
  return true;
}

bool ContentQueue::move_file(net::OutputQueue& output, std::size_t size_bytes) {
  bool is_whole = true;
  while (size_bytes != 0) {
    if (ahead_used_ == ahead_.size_bytes()) is_whole = read_ahead(*first_.file()) && is_whole;
    const auto count = std::min(size_bytes, ahead_.text().size() - ahead_used_);
    output.append_part(ahead_, ahead_used_, count);
    ahead_used_ += count;
    first_used_ += count;
    size_bytes -= count;
  }
  return is_whole;
}

// Reports whether the range could be read in full.
bool ContentQueue::read_ahead(const FileRange& range) {
  const std::uint64_t left = range.size_bytes - first_used_;
  const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(left, read_bytes));
  const auto room = std::make_shared_for_overwrite<char[]>(count);
  const std::span<char> bytes(room.get(), count);
  ahead_ = Body(SharedText{room, {bytes.data(), count}});
  ahead_used_ = 0;
  const std::size_t got = base::read_at(range.file, range.offset + first_used_, bytes).value_or(0U);
  std::memset(bytes.data() + got, 0, count - got);
  return got == count;
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
