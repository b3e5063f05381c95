// SPDX-License-Identifier: MIT
// In: a socket whose owner receives and sends itself. Out: when it is ready.
// Completion ports know nothing of readiness, but Winsock's driver has an operation that completes
// once a socket is ready: its select() is made of it. Microsoft does not describe it; libuv, Tokio
// and many others rely on it.
#include "loop/port/backend.hpp"

#include <winternl.h>

#include <cerrno>
#include <new>
#include <utility>

#include "base/system_text.hpp"

namespace skua::loop {

using port::Purpose;
using port::Watch;

namespace {

constexpr ULONG driver_poll = 0x00012024;  // IOCTL_AFD_POLL
constexpr std::uint32_t is_readable = 0x01;
constexpr std::uint32_t is_writable = 0x04;
constexpr std::uint32_t has_ended = 0x08;
constexpr std::uint32_t is_reset = 0x10;
constexpr std::uint32_t has_connection = 0x80;
constexpr std::uint32_t connect_failed = 0x100;

constexpr std::uint32_t read_events = is_readable | has_connection | has_ended | is_reset;
constexpr std::uint32_t write_events = is_writable | connect_failed | is_reset;

// Returns the socket that the driver knows: a layered service may have put another one before it.
HANDLE base_of(int descriptor) noexcept {
  SOCKET base = INVALID_SOCKET;
  DWORD size_bytes = 0;
  const int result = ::WSAIoctl(bsd::native(descriptor), SIO_BASE_HANDLE, nullptr, 0, &base,
                                sizeof base, &size_bytes, nullptr, nullptr);
  return reinterpret_cast<HANDLE>(result == 0 ? base : bsd::native(descriptor));
}

}  // namespace

void PortBackend::watch_writable(Handle& handle) {
  SKUA_ASSERT(handle.is_open() && !handle.sending_);
  handle.sending_ = true;
  arm_watch(handle, slot_of(handle).writing, write_events);
}

void PortBackend::arm_watch(Handle& handle) noexcept {
  arm_watch(handle, slot_of(handle).reading, read_events);
}

void PortBackend::arm_watch(Handle& handle, std::unique_ptr<Watch>& watch,
                            std::uint32_t events) noexcept {
  if (!watch) watch.reset(new (std::nothrow) Watch);
  const Purpose purpose = events == write_events ? Purpose::WatchWriting : Purpose::WatchReading;
  if (!watch) {
    port::Slot& slot = slot_of(handle);
    auto& operation = events == write_events ? slot.output : slot.input;
    return fail_later(handle, operation, purpose, ENOMEM);
  }
  if (watch->is_in_flight) return;
  const int error = begin_watch(handle, *watch, events);
  if (error != 0) return fail_later(handle, *watch, purpose, error);
  watch->handle = &handle;
  watch->purpose = purpose;
  watch->is_in_flight = true;
  ++handle.in_flight_;
  ++in_flight_;
}

// Returns an errno.
int PortBackend::begin_watch(Handle& handle, Watch& watch, std::uint32_t events) noexcept {
  if (!poller_) {
    poller_ = Socket(bsd::open(AF_INET, SOCK_DGRAM));
    if (!poller_) return errno;
    const auto file = reinterpret_cast<HANDLE>(bsd::native(poller_.descriptor()));
    if (::CreateIoCompletionPort(file, port_, 0, 0) != port_) {
      poller_.close();
      return base::errno_of(::GetLastError());
    }
  }
  static_cast<OVERLAPPED&>(watch) = {};
  watch.poll = {};
  watch.poll.socket = base_of(handle.descriptor_);
  watch.poll.events = events;
  ++calls_.others;
  // The first fields of an OVERLAPPED are a status block.
  auto* const status = reinterpret_cast<IO_STATUS_BLOCK*>(&watch.Internal);
  const NTSTATUS result =
      ::NtDeviceIoControlFile(reinterpret_cast<HANDLE>(bsd::native(poller_.descriptor())), nullptr,
                              nullptr, static_cast<OVERLAPPED*>(&watch), status, driver_poll,
                              &watch.poll, sizeof watch.poll, &watch.poll, sizeof watch.poll);
  constexpr NTSTATUS pending = 0x103;  // STATUS_PENDING
  return result == 0 || result == pending ? 0 : base::errno_of(::RtlNtStatusToDosError(result));
}

void PortBackend::watched(Handle& handle, bool is_writing, int failure) {
  if (is_writing && handle.sending_) {
    handle.sending_ = false;
    if (failure == 0) return handle.on_sent(0);
    handle.on_send_failed(Error::from_system(failure, "watch"));
  } else if (!is_writing && handle.accepting_) {
    if (failure != 0) {
      handle.accepting_ = false;
      return handle.on_accept_failed(Error::from_system(failure, "watch"));
    }
    handle.on_readable();
    if (handle.is_open() && handle.accepting_) arm_watch(handle);
  }
}

void PortBackend::cancel(const std::unique_ptr<Watch>& watch) noexcept {
  if (!watch || !watch->is_in_flight || !poller_) return;
  ::CancelIoEx(reinterpret_cast<HANDLE>(bsd::native(poller_.descriptor())), watch.get());
}

}  // namespace skua::loop
