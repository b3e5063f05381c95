// SPDX-License-Identifier: MIT
// In: slices or a file. Out: pieces of at most one record.
#include "tls/plain_source.hpp"

#include <algorithm>
#include <cstring>

#include "base/file_io.hpp"

namespace skua::tls {

SliceSource::SliceSource(std::span<const net::Slice> slices) noexcept : slices_(slices) {
  for (const net::Slice& slice : slices) left_bytes_ += slice.size_bytes;
}

Result<std::span<const char>> SliceSource::next(std::span<char> scratch) {
  while (!slices_.empty() && used_bytes_ == slices_.front().size_bytes) take(0);
  if (slices_.empty()) return std::span<const char>();
  const std::size_t here = slices_.front().size_bytes - used_bytes_;
  if (here >= scratch.size() || here == left_bytes_) return take(std::min(here, scratch.size()));
  std::size_t count = 0;
  while (count < scratch.size() && left_bytes_ > 0) {
    const std::span<const char> piece = take(scratch.size() - count);
    std::memcpy(scratch.data() + count, piece.data(), piece.size());
    count += piece.size();
  }
  return std::span<const char>(scratch.first(count));
}

// Takes at most that many bytes from the first slice, and drops the slice once it is used up.
std::span<const char> SliceSource::take(std::size_t count_bytes) noexcept {
  const net::Slice& front = slices_.front();
  const std::size_t count = std::min(count_bytes, front.size_bytes - used_bytes_);
  const std::span<const char> piece(front.data + used_bytes_, count);
  used_bytes_ += count;
  left_bytes_ -= count;
  if (used_bytes_ == front.size_bytes) {
    slices_ = slices_.subspan(1);
    used_bytes_ = 0;
  }
  return piece;
}

Result<std::span<const char>> FileSource::next(std::span<char> scratch) {
  const std::size_t wanted = std::min(left_bytes_, scratch.size());
  const Result<std::size_t> count = base::read_at(file_, offset_, scratch.first(wanted));
  if (!count) return count.error();
  if (*count == 0) return Error(Errc::TruncatedBody, "file");
  offset_ += *count;
  left_bytes_ -= *count;
  return std::span<const char>(scratch.first(*count));
}

}  // namespace skua::tls
