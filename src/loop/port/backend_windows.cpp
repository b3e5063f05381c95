// SPDX-License-Identifier: MIT
// In: completions from the port. Out: calls of the handles' owners, and the slots of operations.
#include "loop/port/backend.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <new>
#include <utility>

#include "base/system_text.hpp"
#include "loop/backends.hpp"
#include "loop/sending.hpp"

namespace skua::loop {

using port::Operation;
using port::Purpose;
using port::Slot;

namespace {

// Windows 8.1 and newer; earlier systems leave a socket with its first port. Winsock has no call
// for this, and the SDK no declaration.
void leave_port(int descriptor) noexcept {
  using SetInformation = LONG(WINAPI*)(HANDLE, void* status, void* value, ULONG size, int kind);
  constexpr int replace_completion_information = 61;
  const FARPROC found = ::GetProcAddress(::GetModuleHandleW(L"ntdll.dll"), "NtSetInformationFile");
  if (found == nullptr) return;
  std::array<void*, 2> status{};
  std::array<void*, 2> no_port{};
  std::bit_cast<SetInformation>(found)(reinterpret_cast<HANDLE>(bsd::native(descriptor)),
                                       status.data(), no_port.data(), sizeof no_port,
                                       replace_completion_information);
}

}  // namespace

PortBackend::PortBackend(HANDLE port)
    : port_(port),
      buffer_(static_cast<char*>(base::allocate_pages(port::buffer_bytes))),
      buffers_(16) {
  if (buffer_ == nullptr) throw std::bad_alloc();
}

// The system may write into the slots until every operation has completed.
PortBackend::~PortBackend() {
  for (const auto& slot : slots_) {
    cancel(slot->reading);
    cancel(slot->writing);
    for (Operation* operation : {&slot->input, &slot->output}) {
      if (operation->is_in_flight) ::CancelIoEx(port::file_of(*operation->handle), operation);
    }
  }
  while (in_flight_ > 0) {
    wait(1s);
    if (entry_count_ == 0) break;  // never seen; better to leak than to hang
    for (const OVERLAPPED_ENTRY& entry : std::span(entries_).first(entry_count_)) {
      if (entry.lpOverlapped == nullptr) continue;
      auto& operation = *static_cast<Operation*>(entry.lpOverlapped);
      operation.is_in_flight = false;
      --operation.handle->in_flight_;
      --in_flight_;
    }
  }
  finish_closing();
  if (in_flight_ > 0) {
    for (auto& slot : slots_) static_cast<void>(slot.release());
  }
  base::free_pages(buffer_, port::buffer_bytes);
  ::CloseHandle(port_);
}

void PortBackend::open(Handle& handle, int descriptor) {
  try {
    if (free_slots_.empty()) add_slot();
  } catch (const std::bad_alloc&) {
    bsd::close(descriptor);
    throw;
  }
  handle.slot_ = free_slots_.back();
  free_slots_.pop_back();
  handle.descriptor_ = descriptor;
  handle.closing_ = handle.receiving_ = handle.accepting_ = false;
  handle.connecting_ = handle.sending_ = false;
  handle.in_flight_ = 0;
  ++calls_.others;
  // Fails if the socket belongs to another port; then its operations fail.
  slot_of(handle).is_associated =
      ::CreateIoCompletionPort(port::file_of(handle), port_, 0, 0) == port_;
}

void PortBackend::add_slot() {
  slots_.push_back(std::make_unique<Slot>());
  free_slots_.reserve(slots_.capacity());  // so that giving one back cannot fail
  free_slots_.push_back(static_cast<std::uint32_t>(slots_.size() - 1));
}

// Counts an operation. The system queues a completion also if it was done at once.
void PortBackend::began(Handle& handle, Operation& operation, Purpose purpose,
                        bool is_accepted) noexcept {
  const int error = is_accepted || ::WSAGetLastError() == WSA_IO_PENDING
                        ? 0
                        : base::errno_of(static_cast<unsigned long>(::WSAGetLastError()));
  if (error != 0) return fail_later(handle, operation, purpose, error);
  operation.handle = &handle;
  operation.purpose = purpose;
  operation.is_in_flight = true;
  ++handle.in_flight_;
  ++in_flight_;
}

// Reports in the next turn, because operations do not call back.
void PortBackend::fail_later(Handle& handle, Operation& operation, Purpose purpose,
                             int error) noexcept {
  operation.handle = &handle;
  operation.purpose = purpose;
  operation.failure = error;
  operation.is_in_flight = true;
  ++handle.in_flight_;
  ++in_flight_;
  ++calls_.others;
  ::PostQueuedCompletionStatus(port_, 0, 0, &operation);
}

void PortBackend::close(Handle& handle) {
  if (!handle.is_open()) return;
  handle.closing_ = true;
  handle.receiving_ = handle.accepting_ = handle.connecting_ = handle.sending_ = false;
  handle.next_ = std::exchange(first_closing_, &handle);
  if (handle.in_flight_ == 0) {
    may_finish_closing_ = true;
  } else {
    cancel_all(handle);
  }
}

// The socket leaves the port, so that another loop can take it.
int PortBackend::release(Handle& handle) {
  handle.receiving_ = handle.accepting_ = false;
  if (!handle.is_open() || handle.sending_) return -1;
  if (handle.in_flight_ > 0) {
    cancel_all(handle);
    return -1;
  }
  give_back_slot(handle);
  const int descriptor = std::exchange(handle.descriptor_, -1);
  ++calls_.others;
  leave_port(descriptor);
  return descriptor;
}

// The completions follow in later turns.
void PortBackend::cancel_all(Handle& handle) noexcept {
  ++calls_.others;
  cancel(slot_of(handle).reading);
  cancel(slot_of(handle).writing);
  ::CancelIoEx(port::file_of(handle), nullptr);
}

void PortBackend::give_back_slot(Handle& handle) {
  Slot& slot = slot_of(handle);
  buffers_.give_back(std::move(slot.sending));
  if (slot.accepted >= 0) bsd::close(slot.accepted);
  slot = {};
  free_slots_.push_back(handle.slot_);
}

void PortBackend::finish_closing() {
  may_finish_closing_ = false;
  // A callback may close more handles; those go to the front of the list.
  Handle* left = std::exchange(first_closing_, nullptr);
  while (left != nullptr) {
    Handle& handle = *std::exchange(left, left->next_);
    if (handle.in_flight_ > 0) {
      handle.next_ = std::exchange(first_closing_, &handle);
      continue;
    }
    give_back_slot(handle);
    ++calls_.others;
    bsd::close(handle.descriptor_);
    handle.descriptor_ = -1;
    handle.closing_ = false;
    handle.on_closed();
  }
}

void PortBackend::wait(Duration timeout) noexcept {
  const int milliseconds = to_milliseconds(timeout);
  ++calls_.waits;
  if (::GetQueuedCompletionStatusEx(
          port_, entries_.data(), port::completions_per_turn, &entry_count_,
          milliseconds < 0 ? INFINITE : static_cast<DWORD>(milliseconds), FALSE) == 0) {
    entry_count_ = 0;
  }
}

void PortBackend::turn(Duration timeout) {
  wait(may_finish_closing_ ? Duration(0) : timeout);
  for (ULONG i = 0; i < entry_count_; ++i) {
    OVERLAPPED* const overlapped = entries_[i].lpOverlapped;
    if (overlapped != nullptr) {
      complete(*static_cast<Operation*>(overlapped));
    } else {
      // Cleared before the loop looks for work, so that a later wake() is not lost.
      is_woken_.exchange(false, std::memory_order_acq_rel);
    }
  }
  if (may_finish_closing_) finish_closing();
}

void PortBackend::wake() noexcept {
  if (is_woken_.exchange(true, std::memory_order_acq_rel)) return;
  if (::PostQueuedCompletionStatus(port_, 0, 0, nullptr) == 0) is_woken_ = false;
}

// Returns the operation's errno, and how many bytes it moved.
int PortBackend::result_of(const Operation& operation, DWORD& count) noexcept {
  if (operation.failure != 0) return operation.failure;
  DWORD flags = 0;
  auto& overlapped = const_cast<Operation&>(operation);
  const bool is_watch =
      operation.purpose == Purpose::WatchReading || operation.purpose == Purpose::WatchWriting;
  const SOCKET socket =
      bsd::native(is_watch ? poller_.descriptor() : operation.handle->descriptor_);
  if (::WSAGetOverlappedResult(socket, &overlapped, &count, FALSE, &flags) != 0) return 0;
  return base::errno_of(static_cast<unsigned long>(::WSAGetLastError()));
}

void PortBackend::complete(Operation& operation) {
  Handle& handle = *operation.handle;
  operation.is_in_flight = false;
  --in_flight_;
  --handle.in_flight_;
  if (handle.closing_) {
    if (handle.in_flight_ == 0) may_finish_closing_ = true;
    return;
  }
  DWORD count = 0;
  const int error = result_of(operation, count);
  if (operation.purpose == Purpose::Send) buffers_.give_back(std::move(slot_of(handle).sending));
  switch (operation.purpose) {
    case Purpose::Receive: return received(handle, error);
    case Purpose::Accept: return accepted(handle, error);
    case Purpose::Connect: return connected(handle, error);
    case Purpose::Send: return sent(handle, error, count);
    case Purpose::WatchReading:
    case Purpose::WatchWriting:
      operation.failure = 0;
      return watched(handle, operation.purpose == Purpose::WatchWriting, error);
  }
}

Result<std::unique_ptr<Backend>> make_port_backend() {
  const HANDLE port = ::CreateIoCompletionPort(INVALID_HANDLE_VALUE, nullptr, 0, 1);
  if (port == nullptr) {
    return Error::from_system(base::errno_of(::GetLastError()), "CreateIoCompletionPort");
  }
  try {
    return std::unique_ptr<Backend>(std::make_unique<PortBackend>(port));
  } catch (const std::bad_alloc&) {
    ::CloseHandle(port);
    return Error::from_system(ENOMEM, "completion port");
  }
}

}  // namespace skua::loop
