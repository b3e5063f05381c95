// SPDX-License-Identifier: MIT
// In: descriptors of interest. Out: those that are ready, at most 64 per call.
// Level-triggered: input that is not read is reported again. So each connection gets one receive
// per call, and none can starve the others: what a turn that ends early has not handled comes
// first in the next, before epoll is asked again.
#include "loop/backends.hpp"

#if defined(__linux__)

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <optional>
#include <utility>

#include "loop/clock.hpp"
#include "loop/readiness.hpp"

namespace skua::loop {
namespace {

class EpollBackend final : public ReadinessBackend {
 public:
  ~EpollBackend() override {
    settle_closed();
    for (const int descriptor : {timer_, event_, epoll_}) {
      if (descriptor >= 0) ::close(descriptor);
    }
  }

  /// Returns the error of the call that failed; nullopt if none did.
  SKUA_COLD std::optional<Error> create() noexcept;
  [[nodiscard]] BackendChoice kind() const noexcept override { return BackendChoice::Epoll; }
  void turn(Duration timeout) override;
  void wake() noexcept override;
  [[nodiscard]] int descriptor() const noexcept override { return epoll_; }

 private:
  // A batch is received, then handled, then answered: large enough to make the wait cheap, small
  // enough to stay in the nearest caches.
  static constexpr std::size_t events_per_turn = 64;
  // Two limits that end at the same time differ by the moments at which they were computed.
  static constexpr Duration timer_slack = 100us;

  using Clock = std::chrono::steady_clock;  // timerfd's CLOCK_MONOTONIC

  void wait(Duration timeout) noexcept;
  void arm_timer(Clock::time_point deadline) noexcept;
  int set_interest(Handle& handle, std::uint8_t wanted) override;
  SKUA_COLD void forget(Handle& handle) override;
  int control(int operation, Handle& handle, std::uint32_t events) noexcept;

  int epoll_ = -1;
  int event_ = -1;  // the eventfd that wake() writes to
  int timer_ = -1;  // the timerfd that ends waits
  Clock::time_point timer_deadline_ = Clock::time_point::max();  // max: timer_ is not set
  std::array<epoll_event, events_per_turn> events_;
  std::size_t next_event_ = 0;  // the first that is not handled yet
  std::size_t event_count_ = 0;
};

std::optional<Error> EpollBackend::create() noexcept {
  epoll_ = ::epoll_create1(EPOLL_CLOEXEC);
  if (epoll_ < 0) return Error::from_system(errno, "epoll_create1");
  event_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (event_ < 0) return Error::from_system(errno, "eventfd");
  timer_ = ::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
  if (timer_ < 0) return Error::from_system(errno, "timerfd_create");
  epoll_event interest{};
  interest.events = EPOLLIN | EPOLLET;  // so neither is read
  for (int* const source : {&event_, &timer_}) {
    interest.data.ptr = source;
    if (::epoll_ctl(epoll_, EPOLL_CTL_ADD, *source, &interest) != 0) {
      return Error::from_system(errno, "epoll_ctl");
    }
  }
  return std::nullopt;
}

void EpollBackend::turn(Duration timeout) {
  if (next_event_ == event_count_) wait(has_unsettled() ? Duration(0) : timeout);
  while (next_event_ < event_count_ && !has_received_much()) {
    const epoll_event& event = events_[next_event_++];
    if (event.data.ptr == &event_) continue;  // woken, or forgotten
    if (event.data.ptr == &timer_) {
      timer_deadline_ = Clock::time_point::max();
      continue;
    }
    const auto ready = static_cast<std::uint8_t>(((event.events & EPOLLIN) != 0 ? Readable : 0) |
                                                 ((event.events & EPOLLOUT) != 0 ? Writable : 0));
    const bool is_broken = (event.events & (EPOLLERR | EPOLLHUP)) != 0;
    dispatch(*static_cast<Handle*>(event.data.ptr), ready, is_broken);
  }
  finish_batch();
  if (has_unsettled()) settle();
}

void EpollBackend::wait(Duration timeout) noexcept {
  if (timeout > Duration::zero()) arm_timer(skua::later(Clock::now(), timeout));
  ++calls_.waits;
  const int count =
      ::epoll_wait(epoll_, events_.data(), events_per_turn, timeout == Duration::zero() ? 0 : -1);
  next_event_ = 0;
  event_count_ = static_cast<std::size_t>(std::max(count, 0));  // a signal may have ended it
}

// A wait with a limit of its own makes the kernel start and cancel a timer each time. This one is
// set only for a deadline earlier than the last, which hardly any turn has, and may end a wait
// early.
void EpollBackend::arm_timer(Clock::time_point deadline) noexcept {
  if (skua::later<Clock, Duration>(deadline, timer_slack) >= timer_deadline_) return;
  timer_deadline_ = deadline;
  const auto since_boot = deadline.time_since_epoch();
  const auto seconds = std::chrono::floor<std::chrono::seconds>(since_boot);
  itimerspec setting{};
  setting.it_value.tv_sec = static_cast<time_t>(seconds.count());
  setting.it_value.tv_nsec = static_cast<long>((since_boot - seconds).count());
  ++calls_.waits;
  ::timerfd_settime(timer_, TFD_TIMER_ABSTIME, &setting, nullptr);
}

void EpollBackend::wake() noexcept {
  const std::uint64_t one = 1;
  // Fails only if the counter is full, and then a wake-up is on its way.
  [[maybe_unused]] const ssize_t ignored = ::write(event_, &one, sizeof one);
}

int EpollBackend::control(int operation, Handle& handle, std::uint32_t events) noexcept {
  epoll_event event{};
  event.events = events;
  event.data.ptr = &handle;
  ++calls_.others;
  return ::epoll_ctl(epoll_, operation, handle.descriptor(), &event) == 0 ? 0 : errno;
}

int EpollBackend::set_interest(Handle& handle, std::uint8_t wanted) {
  std::uint8_t& bits = armed(handle);
  if (wanted == 0) {  // a mask of 0 would still report errors and hang-ups, in every turn
    forget(handle);
    return 0;
  }
  const bool is_registered = (bits & Registered) != 0;
  const std::uint32_t events = ((wanted & Readable) != 0 ? std::uint32_t{EPOLLIN} : 0) |
                               ((wanted & Writable) != 0 ? std::uint32_t{EPOLLOUT} : 0);
  const int error = control(is_registered ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, handle, events);
  if (error == 0) bits = static_cast<std::uint8_t>((bits & ~interest_bits) | wanted | Registered);
  return error;
}

void EpollBackend::forget(Handle& handle) {
  std::uint8_t& bits = armed(handle);
  if ((bits & Registered) == 0) return;
  // Closing is not enough: while a forked child still holds the socket, epoll would keep
  // reporting it, with the address of a destroyed handle.
  control(EPOLL_CTL_DEL, handle, 0);
  for (std::size_t i = next_event_; i < event_count_; ++i) {
    if (events_[i].data.ptr == &handle) events_[i].data.ptr = &event_;
  }
  bits &= static_cast<std::uint8_t>(~(interest_bits | Registered));
}

}  // namespace

SKUA_COLD Result<std::unique_ptr<Backend>> make_epoll_backend() {
  auto backend = std::make_unique<EpollBackend>();
  if (std::optional<Error> error = backend->create()) return *std::move(error);
  return std::unique_ptr<Backend>(std::move(backend));
}

}  // namespace skua::loop

#else

namespace skua::loop {

Result<std::unique_ptr<Backend>> make_epoll_backend() { return Error(Errc::Unsupported, "epoll"); }

}  // namespace skua::loop

#endif
