// SPDX-License-Identifier: MIT
// In: slices or a file. Out: pieces that fill records.
#include "tls/plain_source.hpp"

#include <algorithm>
#include <cstring>
#include <memory>

#include "base/file_io.hpp"
#include "base/thread_object.hpp"

namespace skua::tls {
namespace {

constexpr std::size_t read_bytes = 3 * Engine::record_bytes;  // of a file at a time

constexpr bool fills_records(const net::Slice& slice) noexcept {
  return slice.size_bytes != 0 && slice.size_bytes % Engine::record_bytes == 0;
}

// Holds a piece of a file.
struct FileRoom {
  std::unique_ptr<char[]> bytes = std::make_unique_for_overwrite<char[]>(read_bytes);
};

}  // namespace

SliceSource::SliceSource(std::span<const net::Slice> slices) noexcept : slices_(slices) {
  for (const net::Slice& slice : slices) left_bytes_ += slice.size_bytes;
}

Result<std::span<const char>> SliceSource::next(Scratch scratch, std::size_t max_bytes) {
  while (!slices_.empty() && used_bytes_ == slices_.front().size_bytes) take(0);
  if (slices_.empty()) return std::span<const char>();
  const std::size_t here = slices_.front().size_bytes - used_bytes_;
  if (here == left_bytes_) return take(std::min(here, max_bytes));
  const std::size_t record_bytes = std::min(scratch.size(), max_bytes);
  if (here >= record_bytes) return take(std::min(here, max_bytes) / record_bytes * record_bytes);
  std::size_t count = 0;
  while (count < record_bytes && left_bytes_ > 0) {
    if (count != 0 && used_bytes_ == 0 && fills_records(slices_.front())) break;
    const std::span<const char> piece = take(record_bytes - count);
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

// Several records are read at once, into memory that the thread's streams share.
Result<std::span<const char>> FileSource::next(Scratch /*scratch*/, std::size_t max_bytes) {
  const FileRoom& room = base::thread_object<FileRoom>();
  const std::span<char> bytes(room.bytes.get(), std::min({left_bytes_, max_bytes, read_bytes}));
  const Result<std::size_t> count = base::read_at(file_, offset_, bytes);
  if (!count) return count.error();
  if (*count == 0) return Error(Errc::TruncatedBody, "file");
  offset_ += *count;
  left_bytes_ -= *count;
  return std::span<const char>(bytes.first(*count));
}

}  // namespace skua::tls
