// SPDX-License-Identifier: MIT
// In: the completions of a turn. Out: calls to the handles, and operations that are armed again.
//
// A multishot operation is over when a completion lacks IORING_CQE_F_MORE: for lack of buffers
// or of room for completions, by cancellation, or at its end. Whether it is armed again depends
// on what the owner wants by then, so starting may overtake a cancellation in flight. A callback
// may close or start anything; only on_closed, when nothing is in flight, ends a handle.
#include "loop/uring/backend.hpp"

#if defined(SKUA_HAS_IO_URING)

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <span>
#include <utility>

namespace skua::loop {
namespace {

bool is_passing(int result) noexcept {
  return result == -EINTR || result == -EAGAIN || result == -ECANCELED;
}

Error error_of(int result, const char* context) noexcept {
  return result < 0 ? Error::from_system(-result, context) : Error(Errc::None);
}

}  // namespace

void UringBackend::turn(Duration timeout) {
  if (!is_wake_armed_) arm_wake();
  if (fed_count_ != 0) find_missed_ends();
  if (has_closed_in_queue_) sweep_queue();
  ++calls_.waits;
  ring_.wait(timeout);
  if (!was_abandoned_) [[likely]] {
    Completion completion;
    const std::uint32_t end = ring_.completions_end();
    received_bytes_ = 0;
    while (received_bytes_ < much_input_bytes && ring_.next_completion(end, completion)) {
      complete(completion);
    }
    if (queue_.first() != nullptr && ring_.is_drained(end)) receive_in_turn();
    buffers_.publish();
    taken_bytes_ += received_bytes_;
  }
  if (ring_.is_abandoned()) finish_abandoned();
}

// Nothing completes any more, so all closing handles are closed.
void UringBackend::finish_abandoned() {
  fed_count_ = 0;
  was_abandoned_ = true;
  do {
    if (has_closed_in_queue_) sweep_queue();
    while (closing_.first() != nullptr) finish_close(*closing_.first());
  } while (has_closed_in_queue_);  // on_closed() may have closed others
}

void UringBackend::finish_close(Handle& handle) {
  closing_.remove(handle);
  handle.descriptor_ = -1;
  handle.closing_ = false;
  handle.on_closed();
}

void UringBackend::complete(const Completion& completion) {
  const auto purpose = static_cast<Purpose>(completion.user_data & purpose_mask);
  if (purpose == Purpose::Wake) return woken(completion);
  auto& handle = *reinterpret_cast<Handle*>(completion.user_data & ~purpose_mask);
  if ((completion.flags & IORING_CQE_F_MORE) == 0) --handle.in_flight_;
  switch (purpose) {
    case Purpose::Receive: received(handle, completion); break;
    case Purpose::Send: sent(handle, completion.result); break;
    case Purpose::SendFile: file_sent(handle); break;
    case Purpose::Accept: may_accept(handle, completion.result); break;
    case Purpose::Connect: connected(handle, completion.result); break;
    case Purpose::Cancel:
    case Purpose::Close:
    case Purpose::Wake: break;
  }
  if (handle.closing_ && handle.in_flight_ == 0) [[unlikely]] {
    finish_close(handle);
  }
}

void UringBackend::received(Handle& handle, const Completion& completion) {
  const bool is_over = (completion.flags & IORING_CQE_F_MORE) == 0;
  if (is_over) clear(handle, receive_armed | receive_ending);
  if ((completion.flags & IORING_CQE_F_BUFFER) != 0) [[likely]] {
    const auto buffer = static_cast<std::uint16_t>(completion.flags >> IORING_CQE_BUFFER_SHIFT);
    const auto count = static_cast<std::size_t>(std::max(completion.result, 0));
    const std::span<char> bytes = buffers_.received(buffer, count);
    received_bytes_ += count;
    if (!bytes.empty() && !handle.closing_) {
      if (!handle.receiving_) cancel_receive(handle);
      handle.on_receive(bytes);
    }
    buffers_.release(buffer, count, completion.flags);
    const bool is_read_up = (completion.flags & IORING_CQE_F_SOCK_NONEMPTY) == 0;
    if (!is_over && is_read_up && !handle.closing_) {
      if (fed_count_ == max_fed) find_missed_ends();
      fed_[fed_count_++] = &handle;
    }
  }
  if (is_over) receive_ended(handle, completion);
}

// A multishot receive that delivers bytes while a reset arrives may never be woken again (seen with
// Linux 6.18, in every few hundred such resets). So those that have delivered are looked at once,
// by the next turn, unless they have begun to send: see send_failed(). The cancelled receive is
// armed again, and then finds what has happened.
void UringBackend::find_missed_ends() noexcept {
  std::array<pollfd, max_fed> polls;
  std::size_t count = 0;
  for (Handle* const handle : std::span(fed_).first(std::exchange(fed_count_, 0))) {
    if (!handle->is_open() || handle->sending_ || !has(*handle, receive_armed)) continue;
    polls[count] = {.fd = handle->descriptor_, .events = POLLRDHUP, .revents = 0};
    fed_[count++] = handle;
  }
  if (count == 0) return;
  ++calls_.others;
  const bool is_known = ::poll(polls.data(), count, 0) >= 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (!is_known || polls[i].revents != 0) cancel_receive(*fed_[i]);
  }
}

void UringBackend::receive_ended(Handle& handle, const Completion& completion) {
  if (handle.closing_) return;
  int result = completion.result;
  if (has(handle, reset_held)) {
    if (!handle.receiving_) return;
    clear(handle, reset_held);
    result = -ECONNRESET;
  }
  if (result > 0 || result == -ENOBUFS || is_passing(result)) {
    if (result == -ENOBUFS) buffers_.grow();
    if (!handle.receiving_ || has(handle, receive_armed)) return;
    const bool has_more = (completion.flags & IORING_CQE_F_SOCK_NONEMPTY) != 0;
    if (result == -ENOBUFS || has_more) return queue_receive(handle);
    arm_receive(handle);
  } else if (handle.receiving_) {
    handle.receiving_ = false;
    handle.on_receive_end(error_of(result, "recv"));
  } else if (result < 0) {
    set(handle, reset_held);  // the socket reports an end again, but not an error
  }
}

void UringBackend::may_accept(Handle& handle, int result) {
  clear(handle, accept_armed | accept_ending);
  if (result >= 0) {
    accept_waiting(handle);
  } else if (!is_passing(result) && handle.accepting_) {
    handle.accepting_ = false;
    handle.on_accept_failed(error_of(result, "poll"));
  }
  if (handle.accepting_ && !has(handle, accept_armed)) arm_accept(handle);
}

void UringBackend::connected(Handle& handle, int result) {
  handle.connecting_ = false;
  release_operation(handle);
  if (!handle.closing_) handle.on_connect(error_of(result, "connect"));
}

void UringBackend::sent(Handle& handle, int result) {
  handle.sending_ = false;
  if (handle.slot_ != 0) release_operation(handle);
  if (handle.closing_) return;
  if (result >= 0) [[likely]] {
    handle.on_sent(static_cast<std::size_t>(result));
  } else if (is_passing(result)) {
    handle.on_sent(0);
  } else {
    send_failed(handle, error_of(result, "send"));
  }
  if (has(handle, shutdown_wanted)) finish_shutdown(handle);
}

void UringBackend::file_sent(Handle& handle) {
  handle.sending_ = false;
  clear(handle, file_pending);
  Error failure(Errc::None);
  if (handle.slot_ != 0) {
    failure = operations_[handle.slot_].failure;
    release_operation(handle);
  }
  if (handle.closing_) return;
  if (failure.code() == Errc::None) {
    handle.on_sent(0);
  } else {
    send_failed(handle, failure);
  }
  if (has(handle, shutdown_wanted)) finish_shutdown(handle);
}

// The receive may have missed the reset that ended the sending. Its owner waits for the end.
void UringBackend::send_failed(Handle& handle, Error failure) {
  cancel_receive(handle);
  handle.on_send_failed(failure);
}

// The owner may have sent the rest of its bytes; the shutdown comes after those.
void UringBackend::finish_shutdown(Handle& handle) noexcept {
  if (handle.sending_ || handle.closing_) return;
  clear(handle, shutdown_wanted);
  shutdown_write(handle);
}

void UringBackend::release_operation(Handle& handle) noexcept {
  operations_.give_back(handle.slot_);
  handle.slot_ = 0;
}

// The eventfd is never read: the multishot poll completes once per write, whatever its level.
void UringBackend::arm_wake() noexcept {
  is_wake_armed_ = true;
  io_uring_sqe* const entry = submission();
  io_uring_prep_poll_multishot(entry, wake_descriptor_, POLLIN);
  entry->user_data = static_cast<std::uint64_t>(Purpose::Wake);
}

// Cleared before the loop looks for work, so that a later wake() is not lost.
void UringBackend::woken(const Completion& completion) noexcept {
  if ((completion.flags & IORING_CQE_F_MORE) == 0) is_wake_armed_ = false;
  is_woken_.exchange(false, std::memory_order_acq_rel);
}

}  // namespace skua::loop

#endif
