// SPDX-License-Identifier: MIT
// In: "this descriptor is ready". Out: completions for the handles.
// Operations are tried at once. Readiness is requested only when one has to wait, and a stopped
// receive is withdrawn only when bytes arrive: both save system calls.
// No operation calls back. Its failure or closing goes into a list that settle() processes at
// the end of the turn. Then an owner may destroy its handle: forget() has dropped its events.
// Bytes that a send does not take stay with the owner, which sends them again after on_sent(0),
// so a pending send costs one bit and no memory.
#include "loop/readiness.hpp"

#include "base/file_io.hpp"
#include "loop/sockets.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

namespace skua::loop {
namespace {

// The room for a receive: long messages come in one piece, but one that the CPU caches still hold,
// with the system's copies of it, when it is sent on.
constexpr std::size_t receive_bytes = 112 * 1024;
constexpr std::size_t receive_buffer_bytes = 2 * receive_bytes;
constexpr std::size_t brief_receive_bytes = 16 * 1024;
// This much is delivered before the next receive, while it is still in the CPU caches.
constexpr ssize_t handed_over_at_once_bytes = 16 * 1024;
// Arrivals are aligned so that a vector load does not cross a cache line.
constexpr std::size_t receive_alignment = 64;

// A long file goes out in pieces of this size, so that a fast reader cannot prolong a turn.
constexpr std::size_t file_piece_bytes = 1024 * 1024;
constexpr std::size_t copy_piece_bytes = 16 * 1024;

// Whether the system cannot send this file, or no file, without copying it into the program.
constexpr bool needs_copy(int error) noexcept {
  switch (error) {
    case EINVAL:
    case ENOSYS:
    case ENOTSUP:
#if EOPNOTSUPP != ENOTSUP
    case EOPNOTSUPP:
#endif
      return true;
    default: return false;
  }
}

}  // namespace

ReadinessBackend::ReadinessBackend()
    : buffer_(std::make_unique_for_overwrite<Page[]>(receive_buffer_bytes / page_bytes)) {}

void ReadinessBackend::open(Handle& handle, int descriptor) {
  SKUA_ASSERT(handle.descriptor_ < 0 && descriptor >= 0);
  handle.descriptor_ = descriptor;
  handle.closing_ = false;
  handle.armed_ = 0;
  handle.in_flight_ = 0;
}

void ReadinessBackend::want(Handle& handle, std::uint8_t bits) {
  if ((handle.armed_ & bits) == bits) return;
  const auto wanted = static_cast<std::uint8_t>((handle.armed_ & interest_bits) | bits);
  const int error = set_interest(handle, wanted);
  if (error != 0) fail_later(handle, Unwatched, error);
}

void ReadinessBackend::start_accept(Handle& handle) {
  SKUA_ASSERT(handle.is_open());
  handle.accepting_ = true;
  want(handle, Readable);
}

void ReadinessBackend::stop_accept(Handle& handle) { handle.accepting_ = false; }

void ReadinessBackend::start_receive(Handle& handle) {
  SKUA_ASSERT(handle.is_open());
  handle.receiving_ = true;
  want(handle, Readable);
}

void ReadinessBackend::stop_receive(Handle& handle) { handle.receiving_ = false; }

void ReadinessBackend::connect(Handle& handle, const sockaddr* address,
                               std::uint32_t address_bytes) {
  SKUA_ASSERT(handle.is_open());
  handle.connecting_ = true;
  ++calls_.others;
  const int result = bsd::connect(handle.descriptor_, address, address_bytes);
  if (result == 0) {
    handle.armed_ |= Connected;
    list(handle);
  } else if (errno == EINPROGRESS || errno == EINTR) {
    want(handle, Writable);
  } else {
    fail_later(handle, Failed, errno);
  }
}

void ReadinessBackend::shutdown_write(Handle& handle) {
  SKUA_ASSERT(handle.is_open());
  ++calls_.others;
  bsd::shutdown(handle.descriptor_, SHUT_WR);  // fails only if the connection has ended already
}

void ReadinessBackend::close(Handle& handle) {
  if (!handle.is_open()) return;
  handle.closing_ = true;
  handle.receiving_ = handle.accepting_ = handle.connecting_ = handle.sending_ = false;
  list(handle);
}

int ReadinessBackend::release(Handle& handle) {
  handle.receiving_ = handle.accepting_ = false;
  const bool is_busy = handle.sending_ || (handle.armed_ & Listed) != 0 || arrival_count_ != 0;
  if (!handle.is_open() || is_busy) return -1;
  forget(handle);
  return std::exchange(handle.descriptor_, -1);
}

void ReadinessBackend::watch_writable(Handle& handle) {
  SKUA_ASSERT(handle.is_open() && !handle.sending_);
  handle.sending_ = true;
  want(handle, Writable);
}

void ReadinessBackend::list(Handle& handle) noexcept {
  if ((handle.armed_ & Listed) != 0) return;
  handle.armed_ |= Listed;
  handle.next_ = nullptr;
  *last_ = &handle;
  last_ = &handle.next_;
}

void ReadinessBackend::fail_later(Handle& handle, std::uint8_t how, int error) noexcept {
  handle.armed_ |= how;
  handle.in_flight_ = static_cast<std::uint16_t>(error);
  list(handle);
}

void ReadinessBackend::dispatch_rare(Handle& handle, std::uint8_t ready, bool is_broken) {
  bool is_wanted = false;
  if ((ready & Writable) != 0 || is_broken) {
    if (handle.connecting_) {
      is_wanted = true;
      finish_connect(handle);
    } else if (handle.sending_) {
      is_wanted = true;
      if ((handle.armed_ & Failed) == 0) {
        handle.sending_ = false;
        handle.on_sent(0);
      }
    }
    if (handle.closing_) return;
  }
  if ((ready & Readable) != 0 || is_broken) {
    if (handle.receiving_) {
      is_wanted = true;
      receive(handle);
    } else if (handle.accepting_) {
      is_wanted = true;
      accept_waiting(handle);
    }
    if (handle.closing_) return;
  }
  const bool is_done_writing = (ready & Writable) != 0 && !handle.sending_ && !handle.connecting_;
  if (is_wanted && !is_done_writing) return;
  // The system is level-triggered: it would report the event in every turn from now on.
  const int wanted = (handle.receiving_ || handle.accepting_ ? Readable : 0) |
                     (handle.sending_ || handle.connecting_ ? Writable : 0);
  const int error = set_interest(handle, static_cast<std::uint8_t>(wanted));
  if (error != 0) fail_later(handle, Unwatched, error);
}

void ReadinessBackend::finish_connect(Handle& handle) {
  if ((handle.armed_ & (Failed | Connected)) != 0) return;  // settle() will report it
  int error = 0;
  socklen_t size_bytes = sizeof error;
  ++calls_.others;
  bsd::getsockopt(handle.descriptor_, SOL_SOCKET, SO_ERROR, &error, &size_bytes);
  handle.connecting_ = false;
  handle.on_connect(Error::from_system(error, "connect"));
}

// A batch receives from all connections before it delivers: kernel and program alternate once
// per batch instead of once per connection, and each finds its code in the caches. Long input is
// delivered at once, because then cached data matters more than cached code.
void ReadinessBackend::receive(Handle& handle) {
  if (arrival_count_ == arrivals_.size() || receive_buffer_bytes - used_bytes_ < receive_bytes) {
    deliver();
    if (!handle.receiving_) return;
  }
  ++calls_.receives;
  char* const bytes = reinterpret_cast<char*>(buffer_.get()) + used_bytes_;
  const std::size_t room = handle.brief_ ? brief_receive_bytes : receive_bytes;
  const ssize_t count = bsd::receive_bytes(handle.descriptor_, bytes, room);
  const int error = count < 0 ? errno : 0;
  if (count < 0 && would_block(error)) return;
  arrivals_[arrival_count_++] = {&handle, bytes, count, error};
  if (count > 0) {
    used_bytes_ += (static_cast<std::size_t>(count) + receive_alignment - 1) / receive_alignment *
                   receive_alignment;
  }
  if (count >= handed_over_at_once_bytes) deliver();
}

void ReadinessBackend::deliver() {
  for (std::size_t i = 0; i < arrival_count_; ++i) {
    const Arrival arrival = arrivals_[i];
    Handle& handle = *arrival.handle;
    if (handle.closing_) continue;  // closed by a callback earlier in this batch
    if (arrival.count > 0) {
      handle.on_receive({arrival.bytes, static_cast<std::size_t>(arrival.count)});
      continue;
    }
    handle.receiving_ = false;
    handle.on_receive_end(arrival.count == 0 ? Error(Errc::None)
                                             : Error::from_system(arrival.error, "recv"));
  }
  arrival_count_ = 0;
  delivered_bytes_ += used_bytes_;
  taken_bytes_ += used_bytes_;
  used_bytes_ = 0;
}

void ReadinessBackend::settle() {
  Handle* handle = first_;  // handles listed from here on are settled in the next turn
  first_ = nullptr;
  last_ = &first_;
  while (handle != nullptr) {
    Handle* const next = handle->next_;
    settle(*handle);
    handle = next;
  }
}

void ReadinessBackend::settle_closed() {
  while (first_ != nullptr) {
    Handle* const handle = first_;
    first_ = handle->next_;
    if (first_ == nullptr) last_ = &first_;
    if (handle->closing_) {
      settle(*handle);
    } else {
      handle->armed_ &= static_cast<std::uint8_t>(~Listed);
    }
  }
}

void ReadinessBackend::settle(Handle& handle) {
  handle.armed_ &= static_cast<std::uint8_t>(~Listed);
  if (handle.closing_) {
    forget(handle);
    ++calls_.others;
    bsd::close(handle.descriptor_);
    handle.descriptor_ = -1;
    handle.closing_ = false;
    handle.on_closed();
  } else if ((handle.armed_ & (Failed | Unwatched)) != 0) {
    tell_failure(handle);
  } else if ((handle.armed_ & Connected) != 0) {
    handle.armed_ &= static_cast<std::uint8_t>(~Connected);
    handle.connecting_ = false;
    handle.on_connect(Errc::None);
  }
}

void ReadinessBackend::tell_failure(Handle& handle) {
  const bool is_unwatched = (handle.armed_ & Unwatched) != 0;
  const int code = handle.in_flight_;
  handle.armed_ &= static_cast<std::uint8_t>(~(Failed | Unwatched));
  handle.in_flight_ = 0;
  if (handle.connecting_) {
    handle.connecting_ = false;
    handle.on_connect(Error::from_system(code, "connect"));
  }
  if (handle.sending_) {
    handle.sending_ = false;
    handle.on_send_failed(send_error(code));
  }
  // Nothing more is reported about an unwatched descriptor, so nothing may wait for it.
  if (is_unwatched && handle.receiving_) {
    handle.receiving_ = false;
    handle.on_receive_end(Error::from_system(code, "watch"));
  }
  if (is_unwatched && handle.accepting_) {
    handle.accepting_ = false;
    handle.on_accept_failed(Error::from_system(code, "watch"));
  }
}

// Sending -----------------------------------------------------------------------------------------

std::size_t ReadinessBackend::send(Handle& handle, std::span<const Slice> slices) {
  SKUA_ASSERT(handle.is_open() && !handle.sending_);
  if (slices.size() == 1) {
    const Slice& slice = slices.front();
    ++calls_.sends;
    const ssize_t count =
        bsd::send_bytes(handle.descriptor_, slice.data, slice.size_bytes, bsd::no_signal);
    if (count == static_cast<ssize_t>(slice.size_bytes)) return slice.size_bytes;
    if (count >= 0)
      return finish_send(handle, {static_cast<std::size_t>(count), 0}, slice.size_bytes);
    return finish_send(handle, {0, would_block(errno) ? 0 : errno}, slice.size_bytes);
  }
  return finish_send(handle, send_slices(handle.descriptor_, slices, calls_.sends),
                     total_bytes(slices));
}

std::size_t ReadinessBackend::try_send(Handle& handle, std::span<const Slice> slices) {
  if (!handle.is_open() || handle.sending_) return 0;
  return send_slices(handle.descriptor_, slices, calls_.sends).count;
}

std::size_t ReadinessBackend::send_file(Handle& handle, int file, std::uint64_t offset,
                                        std::size_t size_bytes) {
  SKUA_ASSERT(handle.is_open() && !handle.sending_);
  if (!blocks_sigpipe_) {
    bsd::block_sigpipe();
    blocks_sigpipe_ = true;
  }
  if (size_bytes == 0) return 0;
  return finish_send(handle, send_piece(handle.descriptor_, file, offset, size_bytes), size_bytes);
}

SendOutcome ReadinessBackend::send_piece(int descriptor, int file, std::uint64_t offset,
                                         std::size_t size_bytes) noexcept {
  ++calls_.sends;
  const ssize_t direct =
      bsd::send_file(descriptor, file, offset, std::min(size_bytes, file_piece_bytes));
  if (direct > 0) return {static_cast<std::size_t>(direct), 0};
  if (direct == 0) return {0, truncated_file};
  if (!needs_copy(errno)) return {0, would_block(errno) ? 0 : errno};
  std::array<char, copy_piece_bytes> piece;
  const Result<std::size_t> available =
      base::read_at(file, offset, std::span(piece).first(std::min(size_bytes, piece.size())));
  if (!available) return {0, available.error().system_code()};
  if (*available == 0) return {0, truncated_file};
  ++calls_.sends;
  const ssize_t count = bsd::send_bytes(descriptor, piece.data(), *available, bsd::no_signal);
  if (count < 0) return {0, would_block(errno) ? 0 : errno};
  return {static_cast<std::size_t>(count), 0};
}

std::size_t ReadinessBackend::finish_send(Handle& handle, SendOutcome outcome,
                                          std::size_t size_bytes) {
  if (outcome.error != 0) {
    handle.sending_ = true;
    fail_later(handle, Failed, outcome.error);
  } else if (outcome.count < size_bytes) {
    handle.sending_ = true;
    want(handle, Writable);
  }
  return outcome.count;
}

}  // namespace skua::loop
