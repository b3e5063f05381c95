// SPDX-License-Identifier: MIT
// In: slices of memory or a range of a file. Out: what the system took at once.
// What it did not take is the owner's to send again when on_sent(0) says that there is room, so a
// pending send costs one bit and no memory.
#include "loop/backend_readiness.hpp"

#include "loop/socket_calls.hpp"

#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>
#if defined(__linux__)
#include <sys/sendfile.h>
#endif

#include <algorithm>
#include <array>
#include <cerrno>

namespace skua::loop {
namespace {

constexpr std::size_t slices_per_call = 64;
// A fast reader must not keep a turn from ending: a long file goes out in pieces of this size.
constexpr std::size_t file_piece_bytes = 1024 * 1024;
constexpr std::size_t copy_piece_bytes = 16 * 1024;

#if defined(MSG_NOSIGNAL)
constexpr int send_flags = MSG_NOSIGNAL;
#else
constexpr int send_flags = 0;
#endif

std::size_t total_bytes(std::span<const Slice> slices) noexcept {
  std::size_t total = 0;
  for (const Slice& slice : slices) total += slice.size_bytes;
  return total;
}

}  // namespace

std::size_t ReadinessBackend::send(Handle& handle, std::span<const Slice> slices) {
  SKUA_ASSERT(handle.is_open() && !handle.sending_);
  if (slices.size() == 1) {
    const Slice& slice = slices.front();
    ++calls_.sends;
    const ssize_t count = send_bytes(handle.descriptor_, slice.data, slice.size_bytes, send_flags);
    if (count == static_cast<ssize_t>(slice.size_bytes)) return slice.size_bytes;
    if (count >= 0)
      return finish_send(handle, {static_cast<std::size_t>(count), 0}, slice.size_bytes);
    return finish_send(handle, {0, would_block(errno) ? 0 : errno}, slice.size_bytes);
  }
  return finish_send(handle, send_some(handle.descriptor_, slices), total_bytes(slices));
}

std::size_t ReadinessBackend::try_send(Handle& handle, std::span<const Slice> slices) {
  if (!handle.is_open() || handle.sending_) return 0;
  return send_some(handle.descriptor_, slices).count;
}

ReadinessBackend::SendOutcome ReadinessBackend::send_some(int descriptor,
                                                          std::span<const Slice> slices) noexcept {
  std::size_t sent = 0;
  while (!slices.empty()) {
    const auto batch = slices.first(std::min(slices.size(), slices_per_call));
    std::array<iovec, slices_per_call> pieces;
    for (std::size_t i = 0; i < batch.size(); ++i) {
      pieces[i] = {const_cast<char*>(batch[i].data), batch[i].size_bytes};
    }
    msghdr message{};
    message.msg_iov = pieces.data();
    message.msg_iovlen = batch.size();
    ++calls_.sends;
    const ssize_t count = ::sendmsg(descriptor, &message, send_flags);
    if (count < 0) return {sent, would_block(errno) ? 0 : errno};
    sent += static_cast<std::size_t>(count);
    if (static_cast<std::size_t>(count) < total_bytes(batch)) break;  // the socket is full
    slices = slices.subspan(batch.size());
  }
  return {sent, 0};
}

std::size_t ReadinessBackend::send_file(Handle& handle, int file, std::uint64_t offset,
                                        std::size_t size_bytes) {
  SKUA_ASSERT(handle.is_open() && !handle.sending_);
  if (!blocks_sigpipe_) {
    block_sigpipe();
    blocks_sigpipe_ = true;
  }
  if (size_bytes == 0) return 0;
  return finish_send(handle, send_piece(handle.descriptor_, file, offset, size_bytes), size_bytes);
}

ReadinessBackend::SendOutcome ReadinessBackend::send_piece(int descriptor, int file,
                                                           std::uint64_t offset,
                                                           std::size_t size_bytes) noexcept {
#if defined(__linux__)
  off_t position = static_cast<off_t>(offset);
  ++calls_.sends;
  const ssize_t direct =
      ::sendfile(descriptor, file, &position, std::min(size_bytes, file_piece_bytes));
  if (direct > 0) return {static_cast<std::size_t>(direct), 0};
  if (direct == 0) return {0, truncated_file};
  // EINVAL: a file that cannot be mapped, as in some file systems; copy it.
  if (errno != EINVAL && errno != ENOSYS) return {0, would_block(errno) ? 0 : errno};
#endif
  std::array<char, copy_piece_bytes> piece;
  const ssize_t available =
      ::pread(file, piece.data(), std::min(size_bytes, piece.size()), static_cast<off_t>(offset));
  if (available < 0) return {0, errno == EINTR ? 0 : errno};
  if (available == 0) return {0, truncated_file};
  ++calls_.sends;
  const ssize_t count =
      ::send(descriptor, piece.data(), static_cast<std::size_t>(available), send_flags);
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
