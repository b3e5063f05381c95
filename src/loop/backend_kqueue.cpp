// SPDX-License-Identifier: MIT
// In: descriptors of interest. Out: those that are ready, at most 64 per call.
// Level-triggered, like epoll. A change of interest is no system call of its own: the handle is
// noted, and the wait that follows hands the kernel whatever differs from what it knows.
#include "loop/backends.hpp"

#if __has_include(<sys/event.h>)
#include <sys/event.h>
#endif

#if defined(EVFILT_USER)  // older releases of NetBSD and OpenBSD lack it

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <new>
#include <vector>

#include "loop/readiness.hpp"

namespace skua::loop {
namespace {

using Event = struct kevent;

class KqueueBackend final : public ReadinessBackend {
 public:
  KqueueBackend() : events_(events_per_turn) {}
  ~KqueueBackend() override {
    settle_closed();
    if (kqueue_ >= 0) ::close(kqueue_);
  }

  /// Returns 0 or an errno.
  int create() noexcept;

  [[nodiscard]] BackendChoice kind() const noexcept override { return BackendChoice::Kqueue; }
  void turn(Duration timeout) override;
  void wake() noexcept override;
  [[nodiscard]] int descriptor() const noexcept override { return kqueue_; }
  void submit() noexcept override;

 private:
  static constexpr std::size_t events_per_turn = 64;

  /// A filter of the kernel, with its bits of Handle::armed_.
  struct Filter {
    decltype(Event::filter) number;
    std::uint8_t wanted;
    std::uint8_t known;
  };
  static constexpr std::array<Filter, 2> filters{
      {{EVFILT_READ, Readable, Registered}, {EVFILT_WRITE, Writable, WriteRegistered}}};

  int set_interest(Handle& handle, std::uint8_t wanted) override;
  void forget(Handle& handle) override;
  bool note(Handle& handle) noexcept;
  [[nodiscard]] bool is_noted(Handle& handle) const noexcept {
    return slot(handle) < noted_.size() && noted_[slot(handle)] == &handle;
  }
  std::size_t list_changes() noexcept;
  void change(Event& event) noexcept;
  int wait(std::size_t change_count, Duration timeout) noexcept;
  void handle_event(const Event& event);
  void change_failed(Handle& handle, const Event& event) noexcept;

  int kqueue_ = -1;
  // Before a wait the changes, after it the events. Has room for all changes of the noted handles.
  std::vector<Event> events_;
  std::vector<Handle*> noted_;  // their interest may have changed; null if closed since
};

constexpr std::uintptr_t wake_ident = 0;

Event wake_event(decltype(Event::flags) flags, decltype(Event::fflags) action) noexcept {
  Event event{};
  event.ident = wake_ident;
  event.filter = EVFILT_USER;
  event.flags = flags;
  event.fflags = action;
  return event;
}

int KqueueBackend::create() noexcept {
  kqueue_ = ::kqueue();
  if (kqueue_ < 0) return errno;
  ::fcntl(kqueue_, F_SETFD, FD_CLOEXEC);
  const Event event = wake_event(EV_ADD | EV_CLEAR, 0);
  return ::kevent(kqueue_, &event, 1, nullptr, 0, nullptr) == 0 ? 0 : errno;
}

void KqueueBackend::wake() noexcept {
  const Event event = wake_event(0, NOTE_TRIGGER);
  ::kevent(kqueue_, &event, 1, nullptr, 0, nullptr);
}

void KqueueBackend::turn(Duration timeout) {
  ++calls_.waits;
  const int count = wait(list_changes(), has_unsettled() ? Duration(0) : timeout);
  for (int i = 0; i < count; ++i) {
    const Event event = events_[static_cast<std::size_t>(i)];  // a callback may make them move
    handle_event(event);
  }
  finish_batch();
  if (has_unsettled()) settle();
}

int KqueueBackend::wait(std::size_t change_count, Duration timeout) noexcept {
  const Duration bounded = std::clamp(timeout, Duration::zero(), longest_wait);
  const auto seconds = std::chrono::floor<std::chrono::seconds>(bounded);
  timespec time{};
  time.tv_sec = static_cast<time_t>(seconds.count());
  time.tv_nsec = static_cast<long>((bounded - seconds).count());
  // The room for events suffices for a failure of each change, so none is lost. If a signal ends
  // the wait, the changes have been made.
  const std::size_t room = std::max(events_per_turn, change_count);
  return ::kevent(kqueue_, events_.data(), static_cast<int>(change_count), events_.data(),
                  static_cast<int>(room), timeout < Duration::zero() ? nullptr : &time);
}

// Without room for events, a call reports the failure of its only change.
void KqueueBackend::submit() noexcept {
  const std::size_t count = list_changes();
  for (std::size_t i = 0; i < count; ++i) change(events_[i]);
}

void KqueueBackend::change(Event& event) noexcept {
  ++calls_.others;
  if (::kevent(kqueue_, &event, 1, nullptr, 0, nullptr) == 0) return;
  event.data = errno;
  change_failed(*static_cast<Handle*>(event.udata), event);
}

void KqueueBackend::handle_event(const Event& event) {
  if (event.filter == EVFILT_USER) return;  // woken; EV_CLEAR has reset it
  Handle& handle = *static_cast<Handle*>(event.udata);
  if ((event.flags & EV_ERROR) != 0) return change_failed(handle, event);
  // EV_EOF alone is a peer that sends no more: recv() reports the bytes that are left, then the
  // end. With an error the connection is dead in both directions; recv() and send() say why.
  const bool is_broken = (event.flags & EV_EOF) != 0 && event.fflags != 0;
  dispatch(handle, event.filter == EVFILT_WRITE ? Writable : Readable, is_broken);
}

void KqueueBackend::change_failed(Handle& handle, const Event& event) noexcept {
  const Filter& filter = event.filter == EVFILT_WRITE ? filters[1] : filters[0];
  std::uint8_t& bits = armed(handle);
  const bool is_wanted = (bits & filter.wanted) != 0;  // not if the kernel was to forget it
  bits &= static_cast<std::uint8_t>(~(filter.wanted | filter.known));
  if (is_wanted) refuse(handle, static_cast<int>(event.data));
}

std::size_t KqueueBackend::list_changes() noexcept {
  std::size_t count = 0;
  for (Handle* const handle : noted_) {
    if (handle == nullptr) continue;
    std::uint8_t& bits = armed(*handle);
    for (const Filter& filter : filters) {
      const bool is_wanted = (bits & filter.wanted) != 0;
      if (is_wanted == ((bits & filter.known) != 0)) continue;
      bits ^= filter.known;
      Event& change = events_[count++];
      change = {};
      change.ident = static_cast<std::uintptr_t>(handle->descriptor());
      change.filter = filter.number;
      change.flags = is_wanted ? EV_ADD : EV_DELETE;
      change.udata = handle;
    }
  }
  noted_.clear();
  return count;
}

int KqueueBackend::set_interest(Handle& handle, std::uint8_t wanted) {
  if (!is_noted(handle) && !note(handle)) return ENOMEM;
  std::uint8_t& bits = armed(handle);
  bits = static_cast<std::uint8_t>((bits & ~interest_bits) | wanted);
  return 0;
}

bool KqueueBackend::note(Handle& handle) noexcept try {
  if (events_.size() < filters.size() * (noted_.size() + 1)) events_.resize(2 * events_.size());
  noted_.push_back(&handle);
  slot(handle) = static_cast<std::uint32_t>(noted_.size() - 1);
  return true;
} catch (const std::bad_alloc&) {
  return false;
}

void KqueueBackend::forget(Handle& handle) {
  // The kernel forgets a descriptor that is closed, even if a forked child still holds the socket.
  // A change that it has not seen yet would concern whatever gets the same number next.
  if (is_noted(handle)) noted_[slot(handle)] = nullptr;
  if (!handle.is_open()) return;
  std::uint8_t& bits = armed(handle);  // released: the descriptor lives on
  for (const Filter& filter : filters) {
    if ((bits & filter.known) == 0) continue;
    bits &= static_cast<std::uint8_t>(~(filter.known | filter.wanted));
    Event event{};
    event.ident = static_cast<std::uintptr_t>(handle.descriptor());
    event.filter = filter.number;
    event.flags = EV_DELETE;
    event.udata = &handle;
    change(event);
  }
}

}  // namespace

Result<std::unique_ptr<Backend>> make_kqueue_backend() {
  auto backend = std::make_unique<KqueueBackend>();
  if (const int error = backend->create(); error != 0) return Error::from_system(error, "kqueue");
  return std::unique_ptr<Backend>(std::move(backend));
}

}  // namespace skua::loop

#else

namespace skua::loop {

Result<std::unique_ptr<Backend>> make_kqueue_backend() {
  return Error(Errc::Unsupported, "kqueue");
}

}  // namespace skua::loop

#endif
