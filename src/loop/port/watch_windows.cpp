// SPDX-License-Identifier: MIT
// In: a socket whose owner receives and sends itself. Out: when it is ready.
// Winsock sets an event, the system's thread pool waits for it and posts a completion. Selecting
// events again sets the event at once if the socket is still ready, so waits are level-triggered.
#include "loop/port/backend.hpp"

#include <cerrno>
#include <utility>

#include "base/windows_errors.hpp"

namespace skua::loop {

using port::Slot;
using port::Watch;

namespace {

constexpr long read_events = FD_READ | FD_ACCEPT | FD_CLOSE;
constexpr long write_events = FD_WRITE | FD_CONNECT | FD_CLOSE;

void post(Watch& watch) noexcept {
  watch.has_fired = true;
  ::PostQueuedCompletionStatus(watch.port, 0, 0, &watch);
}

// Runs on a thread of the system's.
void CALLBACK on_event(void* context, BOOLEAN /*has_timed_out*/) {
  post(*static_cast<Watch*>(context));
}

// Returns after the last call of on_event().
void stop_waiting(Watch& watch) noexcept {
  const HANDLE wait = std::exchange(watch.wait, nullptr);
  if (wait != nullptr) ::UnregisterWaitEx(wait, INVALID_HANDLE_VALUE);
}

}  // namespace

Watch::~Watch() {
  stop_waiting(*this);
  if (event != nullptr) ::WSACloseEvent(event);
}

void PortBackend::watch_writable(Handle& handle) {
  SKUA_ASSERT(handle.is_open() && !handle.sending_);
  handle.sending_ = true;
  arm_watch(handle);
}

void PortBackend::arm_watch(Handle& handle) noexcept {
  Slot& slot = slot_of(handle);
  if (!slot.watch) slot.watch.reset(new (std::nothrow) Watch);
  if (!slot.watch) return fail_later(handle, slot.input, port::Purpose::Watch, ENOMEM);
  const long events = (handle.accepting_ ? read_events : 0) | (handle.sending_ ? write_events : 0);
  const int error = begin_watch(handle, *slot.watch, events);
  if (error != 0 && !slot.watch->is_in_flight) {
    fail_later(handle, *slot.watch, port::Purpose::Watch, error);
  }
}

// Waits, or changes the events of the wait that is under way. Returns an errno.
int PortBackend::begin_watch(Handle& handle, Watch& watch, long events) noexcept {
  ++calls_.others;
  if (watch.event == nullptr) watch.event = ::WSACreateEvent();
  if (::WSAEventSelect(bsd::native(handle.descriptor_), watch.event, events) != 0) {
    return base::errno_of(static_cast<unsigned long>(::WSAGetLastError()));
  }
  if (watch.is_in_flight) return 0;
  watch.port = port_;
  watch.has_fired = false;
  if (::RegisterWaitForSingleObject(&watch.wait, watch.event, on_event, &watch, INFINITE,
                                    WT_EXECUTEONLYONCE | WT_EXECUTEINWAITTHREAD) == 0) {
    return base::errno_of(::GetLastError());
  }
  watch.handle = &handle;
  watch.purpose = port::Purpose::Watch;
  watch.is_in_flight = true;
  ++handle.in_flight_;
  ++in_flight_;
  return 0;
}

void PortBackend::watched(Handle& handle, int failure) {
  long happened = 0;
  if (failure == 0) {
    Watch& watch = *slot_of(handle).watch;
    stop_waiting(watch);
    WSANETWORKEVENTS events{};
    ++calls_.others;
    ::WSAEnumNetworkEvents(bsd::native(handle.descriptor_), watch.event, &events);
    happened = events.lNetworkEvents;
  }
  if (handle.sending_ && (failure != 0 || (happened & write_events) != 0)) {
    handle.sending_ = false;
    if (failure == 0) {
      handle.on_sent(0);
    } else {
      handle.on_send_failed(Error::from_system(failure, "watch"));
    }
  }
  if (!handle.is_open()) return;
  if (handle.accepting_ && failure != 0) {
    handle.accepting_ = false;
    handle.on_accept_failed(Error::from_system(failure, "watch"));
  } else if (handle.accepting_ && (happened & read_events) != 0) {
    handle.on_readable();
  }
  if (handle.is_open() && (handle.accepting_ || handle.sending_)) arm_watch(handle);
}

// The completion comes anyway, so that there is one for each wait.
void PortBackend::cancel_watch(Slot& slot) noexcept {
  if (!slot.watch || !slot.watch->is_in_flight) return;
  stop_waiting(*slot.watch);
  if (!slot.watch->has_fired) post(*slot.watch);
}

}  // namespace skua::loop
