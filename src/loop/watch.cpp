// SPDX-License-Identifier: MIT
// In: requests to wait for a descriptor. Out: wake-ups. Each wait asks the back end once: until
// somebody waits again, a descriptor that stays ready costs nothing.
#include "loop/watch.hpp"

#include <utility>

#include "loop/timed_wait.hpp"

namespace skua::loop {

std::shared_ptr<Watch> Watch::open(Loop& loop, int descriptor) {
  std::shared_ptr<Watch> watch(new Watch(loop));
  watch->self_ = watch;
  loop.backend().open(*watch, descriptor);
  return watch;
}

Task<Result<void>> Watch::readable(std::shared_ptr<Watch> self, Duration patience) {
  if (self->begins_wait(self->reading_)) self->loop_.backend().watch_readable(*self);
  const Result<void> ended = co_await self->wait(self->reading_, patience);
  co_return ended;
}

Task<Result<void>> Watch::writable(std::shared_ptr<Watch> self, Duration patience) {
  if (self->begins_wait(self->writing_)) self->loop_.backend().watch_writable(*self);
  const Result<void> ended = co_await self->wait(self->writing_, patience);
  co_return ended;
}

/// Whether the back end has to be asked: a wait that timed out leaves its request behind.
bool Watch::begins_wait(Direction& direction) noexcept {
  return is_open() && !std::exchange(direction.is_awaited, true);
}

Task<Result<void>> Watch::wait(Direction& direction, Duration patience) {
  const Instant deadline = later(loop_.now(), patience);
  while (direction.is_awaited) {
    const Duration left = deadline - loop_.now();
    if (left <= Duration(0)) co_return Error(Errc::TimedOut, "poll");
    co_await TimedWait(loop_, direction.waiters, left);
  }
  if (failure_.code() != Errc::None) co_return failure_;
  if (!is_open()) co_return Error(Errc::Closed, "poll");
  co_return Result<void>();
}

void Watch::on_readable(std::function<void()> callback) {
  if (!callback) {
    callback_.reset();
    if (is_open() && !reading_.is_awaited) loop_.backend().unwatch_readable(*this);
    return;
  }
  callback_ = std::make_shared<const std::function<void()>>(std::move(callback));
  if (is_open()) loop_.backend().watch_readable(*this);
}

void Watch::close() noexcept {
  callback_.reset();
  loop_.backend().close(*this);
  end_wait(reading_);
  end_wait(writing_);
}

int Watch::release() {
  const int descriptor = loop_.backend().release(*this);
  if (descriptor >= 0) self_.reset();
  return descriptor;
}

void Watch::end_wait(Direction& direction) noexcept {
  direction.is_awaited = false;
  direction.waiters.wake_all();
}

void Watch::on_readable() {
  end_wait(reading_);
  const auto callback = callback_;
  if (callback == nullptr) return loop_.backend().unwatch_readable(*this);
  loop_.call_user(*callback);
}

void Watch::on_sent(std::size_t /*count*/) { end_wait(writing_); }

void Watch::on_send_failed(Error error) {
  failure_ = error;
  end_wait(writing_);
}

void Watch::on_accept_failed(Error error) {
  failure_ = error;
  end_wait(reading_);
}

}  // namespace skua::loop
