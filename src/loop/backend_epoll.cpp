// SPDX-License-Identifier: MIT
// In: descriptors of interest. Out: those that are ready, at most 64 per call.
// Level-triggered: input that one turn does not read is reported again in the next. So each
// connection gets one receive per turn, and none can starve the others.
#include "loop/backends.hpp"

#if defined(__linux__)

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "loop/readiness.hpp"

namespace skua::loop {
namespace {

class EpollBackend final : public ReadinessBackend {
 public:
  EpollBackend(int epoll, int event) noexcept : epoll_(epoll), event_(event) {}
  ~EpollBackend() override {
    settle_closed();
    ::close(event_);
    ::close(epoll_);
  }

  [[nodiscard]] BackendChoice kind() const noexcept override { return BackendChoice::Epoll; }
  void turn(Duration timeout) override;
  void wake() noexcept override;
  [[nodiscard]] int descriptor() const noexcept override { return epoll_; }

 private:
  // A batch is received, then handled, then answered: large enough to make the wait cheap, small
  // enough to stay in the nearest caches.
  static constexpr std::size_t events_per_turn = 64;

  int wait(Duration timeout) noexcept;
  int set_interest(Handle& handle, std::uint8_t wanted) override;
  void forget(Handle& handle) override;
  int control(int operation, Handle& handle, std::uint32_t events) noexcept;

  int epoll_;
  int event_;  // the eventfd that wake() writes to
  bool has_precise_wait_ = true;
  std::array<epoll_event, events_per_turn> events_;
};

void EpollBackend::turn(Duration timeout) {
  ++calls_.waits;
  const int count = wait(has_unsettled() ? Duration(0) : timeout);
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = events_[static_cast<std::size_t>(i)];
    if (event.data.ptr == nullptr) continue;  // woken; edge-triggered, so nothing to read
    const auto ready = static_cast<std::uint8_t>(((event.events & EPOLLIN) != 0 ? Readable : 0) |
                                                 ((event.events & EPOLLOUT) != 0 ? Writable : 0));
    const bool is_broken = (event.events & (EPOLLERR | EPOLLHUP)) != 0;
    dispatch(*static_cast<Handle*>(event.data.ptr), ready, is_broken);
  }
  deliver();
  if (has_unsettled()) settle();
}

int EpollBackend::wait(Duration timeout) noexcept {
#if defined(SYS_epoll_pwait2) && defined(__LP64__)
  // epoll_wait counts whole milliseconds, so shorter waits would end late.
  if (timeout > Duration(0) && timeout < 1ms && has_precise_wait_) {
    const timespec time{.tv_sec = 0, .tv_nsec = static_cast<long>(timeout.count())};
    const long count = ::syscall(SYS_epoll_pwait2, epoll_, events_.data(), events_per_turn, &time,
                                 nullptr, std::size_t{0});
    if (count >= 0 || errno == EINTR) return static_cast<int>(count);
    has_precise_wait_ = false;  // the kernel is older than 5.11, or a sandbox blocks it
  }
#endif
  return ::epoll_wait(epoll_, events_.data(), events_per_turn, to_milliseconds(timeout));
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
  bits &= static_cast<std::uint8_t>(~(interest_bits | Registered));
}

}  // namespace

Result<std::unique_ptr<Backend>> make_epoll_backend() {
  const int epoll = ::epoll_create1(EPOLL_CLOEXEC);
  if (epoll < 0) return Error::from_system(errno, "epoll_create1");
  const int event = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (event < 0) {
    const int error = errno;
    ::close(epoll);
    return Error::from_system(error, "eventfd");
  }
  epoll_event interest{};
  interest.events = EPOLLIN | EPOLLET;
  auto backend = std::make_unique<EpollBackend>(epoll, event);
  if (::epoll_ctl(epoll, EPOLL_CTL_ADD, event, &interest) != 0) {
    return Error::from_system(errno, "epoll_ctl");
  }
  return std::unique_ptr<Backend>(std::move(backend));
}

}  // namespace skua::loop

#else

namespace skua::loop {

Result<std::unique_ptr<Backend>> make_epoll_backend() { return Error(Errc::Unsupported, "epoll"); }

}  // namespace skua::loop

#endif
