// SPDX-License-Identifier: MIT
// In: bytes that a test feeds, and what the code under test sends. Out: a real stream's calls,
// in an order that depends only on the test: sends first, then bytes, the end, and on_closed.
#include "support/memory_stream.hpp"

#include <algorithm>
#include <utility>

#include "base/file_io.hpp"

namespace skua::net {
namespace {

std::string joined(std::span<const Slice> slices) {
  std::string bytes;
  for (const Slice& slice : slices) bytes.append(slice.data, slice.size_bytes);
  return bytes;
}

}  // namespace

MemoryStream::~MemoryStream() {
  if (is_destroyed_ != nullptr) *is_destroyed_ = true;
}

void MemoryStream::feed(std::string_view bytes, std::size_t piece_bytes) {
  while (!bytes.empty()) {
    const std::size_t count = std::min(piece_bytes, bytes.size());
    pieces_.emplace_back(bytes.substr(0, count));
    bytes.remove_prefix(count);
  }
}

void MemoryStream::take_at_most(std::size_t count_bytes, SendStyle style) noexcept {
  max_bytes_ = count_bytes;
  style_ = style;
}

bool MemoryStream::pump_once() {
  if (has_closed_) return false;
  if (is_closing_) {
    has_closed_ = true;
    tell_closed();
    return true;
  }
  return pump_send() || pump_receive();
}

std::size_t MemoryStream::pump() {
  bool is_destroyed = false;
  bool* const outer = std::exchange(is_destroyed_, &is_destroyed);
  std::size_t calls = 0;
  while (!is_destroyed && pump_once()) ++calls;
  if (!is_destroyed) {
    is_destroyed_ = outer;
  } else if (outer != nullptr) {
    *outer = true;
  }
  return calls;
}

bool MemoryStream::pump_send() {
  if (!is_sending_) return false;
  if (send_error_) {
    is_sending_ = false;
    pending_.clear();
    const Error error = *send_error_;
    send_error_.reset();
    sink().on_send_failed(error);
    return true;
  }
  if (max_bytes_ == 0) return false;
  is_sending_ = false;
  std::size_t count = 0;
  if (style_ == SendStyle::Completion) {
    count = std::min(max_bytes_, pending_.size());
    output_.append(pending_, 0, count);
  }
  pending_.clear();
  sink().on_sent(count);
  return true;
}

bool MemoryStream::pump_receive() {
  if (!is_receiving_) return false;
  if (!pieces_.empty()) {
    std::string piece = std::move(pieces_.front());
    pieces_.pop_front();
    sink().on_receive(piece);
    return true;
  }
  if (!end_) return false;
  is_receiving_ = false;
  const Error end = *end_;
  end_.reset();
  sink().on_receive_end(end);
  return true;
}

void MemoryStream::start_receive() {
  SKUA_ASSERT(!is_closing_);
  is_receiving_ = true;
}

void MemoryStream::stop_receive() { is_receiving_ = false; }

std::size_t MemoryStream::send(std::span<const Slice> slices) { return begin_send(joined(slices)); }

Sent MemoryStream::try_send(std::span<const Slice> slices) {
  SKUA_ASSERT(!is_closing_ && !is_sending_ && !is_write_shut_);
  ++send_count_;
  if (send_error_) return {};  // the next send() reports it
  const std::string bytes = joined(slices);
  const std::size_t count = std::min(max_bytes_, bytes.size());
  output_.append(bytes, 0, count);
  is_sending_ = holds_tries_;
  return {.bytes = count, .is_pending = holds_tries_};
}

std::size_t MemoryStream::send_file(int file, std::uint64_t offset, std::size_t size_bytes) {
  std::string bytes(size_bytes, '\0');
  const std::size_t have = base::read_at(file, offset, bytes).value_or(0U);
  if (have < size_bytes) send_error_ = Error(Errc::TruncatedBody, "file");
  return begin_send(std::string_view(bytes).substr(0, have));
}

std::size_t MemoryStream::begin_send(std::string_view bytes) {
  SKUA_ASSERT(!is_closing_ && !is_sending_ && !is_write_shut_);
  ++send_count_;
  const std::size_t count = send_error_ ? 0 : std::min(max_bytes_, bytes.size());
  output_.append(bytes, 0, count);
  if (count < bytes.size() || send_error_) {
    is_sending_ = true;
    pending_ = bytes.substr(count);
  }
  return count;
}

void MemoryStream::shutdown_write() {
  SKUA_ASSERT(!is_closing_ && !is_sending_);
  is_write_shut_ = true;
}

void MemoryStream::close() {
  is_closing_ = true;
  is_receiving_ = is_sending_ = false;
  pending_.clear();
}

}  // namespace skua::net
