// SPDX-License-Identifier: MIT
// In: operations on handles. Out: submissions, which reach the kernel with the system call in
// which the next turn waits, so the responses of a turn to all connections cost one call. The
// exceptions are files (io_uring has no sendfile), shutdowns (io_uring would use a thread), and
// closing while a send is pending: close() cancels that send before it returns, because its
// memory may go away then.
#include "loop/backends.hpp"

#if defined(SKUA_HAS_IO_URING)

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/sendfile.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "loop/sockets.hpp"
#include "loop/uring/backend.hpp"
#include "skua/config.hpp"

namespace skua::loop {
namespace {

constexpr std::size_t max_send_bytes = std::size_t{1} << 30;  // a submission's length has 32 bits
constexpr std::size_t max_file_bytes = std::size_t{1} << 20;  // then others get their turn

// Like sendfile(2), but also for files that it refuses because they cannot be mapped.
ssize_t send_piece(int socket, int file, off_t offset, std::size_t size_bytes) noexcept {
  off_t position = offset;
  const ssize_t count = ::sendfile(socket, file, &position, size_bytes);
  if (count >= 0 || (errno != EINVAL && errno != ENOSYS)) return count;
  std::array<char, 16384> piece;
  const ssize_t available = ::pread(file, piece.data(), std::min(size_bytes, piece.size()), offset);
  if (available <= 0) return available;
  return ::send(socket, piece.data(), static_cast<std::size_t>(available),
                bsd::no_signal | MSG_DONTWAIT);
}

}  // namespace

// Operations in flight end with the ring. All handles that close get their on_closed here.
UringBackend::~UringBackend() {
  ring_.abandon();
  finish_abandoned();
  ring_.abandon();
  if (wake_descriptor_ >= 0) ::close(wake_descriptor_);
}

Result<void> UringBackend::create(const UringOptions& options) {
  if (const auto made = ring_.create(options); !made) return made;
  if (const auto made = buffers_.create(ring_.raw(), options); !made) return made;
  wake_descriptor_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (wake_descriptor_ < 0) return Error::from_system(errno, "eventfd");
  return {};
}

void UringBackend::open(Handle& handle, int descriptor) {
  handle.descriptor_ = descriptor;
  handle.closing_ = handle.receiving_ = handle.accepting_ = false;
  handle.connecting_ = handle.sending_ = false;
  handle.armed_ = 0;
  handle.in_flight_ = 0;
  handle.slot_ = 0;
}

io_uring_sqe* UringBackend::submission_after_flush() noexcept {
  flush();
  return ring_.submission();
}

void UringBackend::flush() noexcept {
  buffers_.publish();  // otherwise a submitted receive would end for lack of buffers
  ++calls_.waits;
  ring_.submit();
}

// Completes with -ENOENT, which is harmless, if the operation has ended by itself. Later
// submissions are not affected: the kernel takes them in order.
void UringBackend::cancel(Handle& handle, Purpose purpose) noexcept {
  io_uring_sqe* const entry = submission();
  io_uring_prep_cancel64(entry, user_data(handle, purpose), 0);
  track(entry, handle, Purpose::Cancel);
}

// Accepting --------------------------------------------------------------------------------------

void UringBackend::start_accept(Handle& handle) {
  if (!handle.is_open()) return;
  handle.accepting_ = true;
  if (!has(handle, accept_armed)) arm_accept(handle);
}

// Only polls: the kernel would accept all waiting connections, even if few are wanted.
void UringBackend::arm_accept(Handle& handle) noexcept {
  io_uring_sqe* const entry = submission();
  io_uring_prep_poll_add(entry, handle.descriptor_, POLLIN);
  track(entry, handle, Purpose::Accept);
  set(handle, accept_armed);
}

void UringBackend::stop_accept(Handle& handle) {
  handle.accepting_ = false;
  if (!has(handle, accept_armed) || has(handle, accept_ending)) return;
  set(handle, accept_ending);
  cancel(handle, Purpose::Accept);
}

// Connecting -------------------------------------------------------------------------------------

void UringBackend::connect(Handle& handle, const sockaddr* address, std::uint32_t address_bytes) {
  if (!handle.is_open()) return;
  handle.slot_ = operations_.take();
  handle.connecting_ = true;
  sockaddr_storage& copy = operations_[handle.slot_].address;
  std::memcpy(&copy, address, std::min<std::size_t>(address_bytes, sizeof(copy)));
  io_uring_sqe* const entry = submission();
  io_uring_prep_connect(entry, handle.descriptor_, reinterpret_cast<const sockaddr*>(&copy),
                        address_bytes);
  track(entry, handle, Purpose::Connect);
}

// Receiving --------------------------------------------------------------------------------------

void UringBackend::start_receive(Handle& handle) {
  if (!handle.is_open()) return;
  handle.receiving_ = true;
  if (!has(handle, receive_armed)) arm_receive(handle);
}

// Receives that begin while others wait for buffers wait behind these.
void UringBackend::arm_receive(Handle& handle) noexcept {
  if (queue_.first() != nullptr) [[unlikely]]
    return queue_receive(handle);
  submit_receive(handle, 0);
}

void UringBackend::queue_receive(Handle& handle) noexcept {
  if (has(handle, receive_queued)) return;
  set(handle, receive_queued);
  queue_.push(handle);
}

void UringBackend::leave_queue(Handle& handle) noexcept {
  if (!has(handle, receive_queued)) return;
  clear(handle, receive_queued);
  queue_.remove(handle);
}

// Those that were closed leave together: the queue may be long, and all of it closed at once.
void UringBackend::sweep_queue() noexcept {
  has_closed_in_queue_ = false;
  for (Handle* handle = queue_.take_all(); handle != nullptr;) {
    Handle* const next = handle->next_;
    if (handle->closing_) {
      clear(*handle, receive_queued);
      closing_.push(*handle);
    } else {
      queue_.push(*handle);
    }
    handle = next;
  }
}

// No more than there is room for: others would only end for lack of buffers, in every turn. At
// least one, and then the next turn does not wait, so that the queue moves even if those at its
// head have nothing to receive.
void UringBackend::receive_in_turn() noexcept {
  if (has_closed_in_queue_) sweep_queue();
  std::size_t left = std::max<std::size_t>(buffers_.free_pieces(), 1);
  for (; left != 0 && queue_.first() != nullptr; --left) {
    Handle& handle = *queue_.first();
    leave_queue(handle);
    if (handle.receiving_) submit_receive(handle, buffers_.piece_bytes());
  }
  if (queue_.first() != nullptr) wake();
}

// Receives one piece, or any number of any size (0).
void UringBackend::submit_receive(Handle& handle, std::size_t piece_bytes) noexcept {
  io_uring_sqe* const entry = submission();
  if (has(handle, reset_held)) [[unlikely]] {
    io_uring_prep_nop(entry);  // the socket has reported its error and would now report "end"
  } else {
    if (piece_bytes == 0) [[likely]] {
      io_uring_prep_recv_multishot(entry, handle.descriptor_, nullptr, 0, 0);
    } else {
      io_uring_prep_recv(entry, handle.descriptor_, nullptr, piece_bytes, 0);
    }
    entry->flags |= IOSQE_BUFFER_SELECT;
    entry->buf_group = UringBuffers::group;
  }
  track(entry, handle, Purpose::Receive);
  set(handle, receive_armed);
}

// The cancellation is delayed until unwanted bytes arrive: most callers start again before that,
// and pay nothing. Until it takes effect, one batch may come: at most 32 receives, and no more
// than the buffers hold.
void UringBackend::stop_receive(Handle& handle) { handle.receiving_ = false; }

void UringBackend::cancel_receive(Handle& handle) noexcept {
  if (!has(handle, receive_armed) || has(handle, receive_ending)) return;
  set(handle, receive_ending);
  cancel(handle, Purpose::Receive);
}

// Sending ----------------------------------------------------------------------------------------

std::size_t UringBackend::send(Handle& handle, std::span<const Slice> slices) {
  if (!handle.is_open()) return 0;
  while (!slices.empty() && slices.front().size_bytes == 0) slices = slices.subspan(1);
  if (slices.empty()) return 0;  // nothing to send
  SKUA_ASSERT(!handle.sending_);
  if (slices.size() > 1) {
    send_gathered(handle, slices);
    return 0;
  }
  handle.sending_ = true;
  const Slice& slice = slices.front();
  io_uring_sqe* const entry = submission();
  io_uring_prep_send(entry, handle.descriptor_, slice.data,
                     std::min(slice.size_bytes, max_send_bytes), bsd::no_signal);
  track(entry, handle, Purpose::Send);
  return 0;
}

// Slices that do not fit are left to the next send, like other bytes that were not taken.
void UringBackend::send_gathered(Handle& handle, std::span<const Slice> slices) {
  handle.slot_ = operations_.take();
  handle.sending_ = true;
  UringOperation& operation = operations_[handle.slot_];
  operation.gather(slices);
  io_uring_sqe* const entry = submission();
  io_uring_prep_sendmsg(entry, handle.descriptor_, &operation.message, bsd::no_signal);
  track(entry, handle, Purpose::Send);
}

std::size_t UringBackend::try_send(Handle& handle, std::span<const Slice> slices) {
  if (!handle.is_open() || handle.sending_) return 0;
  UringOperation operation;
  operation.gather(slices);
  ++calls_.sends;
  const ssize_t count =
      ::sendmsg(handle.descriptor_, &operation.message, bsd::no_signal | MSG_DONTWAIT);
  return count > 0 ? static_cast<std::size_t>(count) : 0;
}

std::size_t UringBackend::send_file(Handle& handle, int file, std::uint64_t offset,
                                    std::size_t size_bytes) {
  if (!handle.is_open() || size_bytes == 0) return 0;
  SKUA_ASSERT(!handle.sending_);
  if (!blocks_sigpipe_) bsd::block_sigpipe();
  blocks_sigpipe_ = true;
  ++calls_.sends;
  const ssize_t count = send_piece(handle.descriptor_, file, static_cast<off_t>(offset),
                                   std::min(size_bytes, max_file_bytes));
  if (count == 0) {
    fail_send(handle, Error(Errc::TruncatedBody, "sendfile"));
  } else if (count < 0 && errno != EAGAIN && errno != EINTR) {
    fail_send(handle, Error::from_system(errno, "sendfile"));
  } else if (count < 0 || static_cast<std::size_t>(count) < size_bytes) {
    await_writable(handle);
  }
  return count > 0 ? static_cast<std::size_t>(count) : 0;
}

void UringBackend::watch_writable(Handle& handle) {
  if (!handle.is_open()) return;
  SKUA_ASSERT(!handle.sending_);
  await_writable(handle);
}

void UringBackend::await_writable(Handle& handle) noexcept {
  handle.sending_ = true;
  set(handle, file_pending);
  io_uring_sqe* const entry = submission();
  io_uring_prep_poll_add(entry, handle.descriptor_, POLLOUT);
  track(entry, handle, Purpose::SendFile);
}

// Reports the failure in the next turn, because operations do not call back.
void UringBackend::fail_send(Handle& handle, Error failure) {
  handle.slot_ = operations_.take();
  handle.sending_ = true;
  set(handle, file_pending);
  operations_[handle.slot_].failure = failure;
  io_uring_sqe* const entry = submission();
  io_uring_prep_nop(entry);
  track(entry, handle, Purpose::SendFile);
}

// Ending -----------------------------------------------------------------------------------------

void UringBackend::shutdown_write(Handle& handle) {
  if (!handle.is_open()) return;
  if (handle.sending_) return set(handle, shutdown_wanted);
  ++calls_.others;
  ::shutdown(handle.descriptor_, SHUT_WR);
}

void UringBackend::close(Handle& handle) {
  if (!handle.is_open()) return;
  handle.closing_ = true;
  handle.receiving_ = false;
  if (has(handle, receive_queued)) {
    has_closed_in_queue_ = true;
  } else {
    closing_.push(handle);
  }
  cancel_receive(handle);
  stop_accept(handle);
  if (handle.connecting_) cancel(handle, Purpose::Connect);
  const bool lends_memory = handle.sending_ && !has(handle, file_pending);
  if (handle.sending_) cancel(handle, lends_memory ? Purpose::Send : Purpose::SendFile);
  // All uses of the descriptor were submitted before this, so its number may be reused after it.
  io_uring_sqe* const entry = submission();
  io_uring_prep_close(entry, handle.descriptor_);
  track(entry, handle, Purpose::Close);
  if (lends_memory) flush();
}

int UringBackend::release(Handle& handle) {
  if (!handle.is_open()) return -1;
  handle.receiving_ = false;
  leave_queue(handle);
  if (fed_count_ != 0) find_missed_ends();  // which may name the handle
  cancel_receive(handle);
  stop_accept(handle);
  if (handle.in_flight_ != 0) return -1;
  return std::exchange(handle.descriptor_, -1);
}

void UringBackend::submit() noexcept {
  if (!is_wake_armed_) arm_wake();
  if (fed_count_ != 0) find_missed_ends();
  flush();
}

void UringBackend::wake() noexcept {
  if (is_woken_.exchange(true, std::memory_order_acq_rel)) return;
  const int saved = errno;
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(wake_descriptor_, &one, sizeof(one));
  errno = saved;
}

Result<std::unique_ptr<Backend>> make_uring_backend(const UringOptions& options) {
  auto backend = std::make_unique<UringBackend>();
  if (const auto made = backend->create(options); !made) return made.error();
  return std::unique_ptr<Backend>(std::move(backend));
}

}  // namespace skua::loop

#else

namespace skua::loop {

Result<std::unique_ptr<Backend>> make_uring_backend(const UringOptions& /*options*/) {
  return Error(Errc::Unsupported, "built without io_uring");
}

}  // namespace skua::loop

#endif

namespace skua::loop {

Result<std::unique_ptr<Backend>> make_uring_backend() { return make_uring_backend(UringOptions{}); }

}  // namespace skua::loop
