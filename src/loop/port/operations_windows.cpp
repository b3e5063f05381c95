// SPDX-License-Identifier: MIT
// In: what the owner of a handle wants. Out: overlapped operations, and what became of them.
#include "loop/port/backend.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/file_io.hpp"
#include "base/system_text.hpp"
#include "loop/sending.hpp"

namespace skua::loop {

using port::Operation;
using port::Purpose;
using port::SendBuffer;
using port::Slot;

namespace {

/// A function of Winsock that has to be asked for.
template <class Function>
Function find_function(int descriptor, GUID id) noexcept {
  Function function = nullptr;
  DWORD size_bytes = 0;
  ::WSAIoctl(bsd::native(descriptor), SIO_GET_EXTENSION_FUNCTION_POINTER, &id, sizeof id, &function,
             sizeof function, &size_bytes, nullptr, nullptr);
  return function;
}

int family_of(int descriptor) noexcept {
  sockaddr_storage address{};
  socklen_t size_bytes = sizeof address;
  bsd::getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &size_bytes);
  return address.ss_family;
}

}  // namespace

// Receiving --------------------------------------------------------------------------------------

void PortBackend::start_receive(Handle& handle) {
  SKUA_ASSERT(handle.is_open());
  handle.receiving_ = true;
  if (!slot_of(handle).input.is_in_flight) arm_receive(handle);
}

void PortBackend::arm_receive(Handle& handle) noexcept {
  Slot& slot = slot_of(handle);
  if (slot.input.failure != 0 || !slot.is_associated) {
    const int error = slot.input.failure != 0 ? slot.input.failure : EINVAL;
    return fail_later(handle, slot.input, Purpose::Receive, error);
  }
  static_cast<OVERLAPPED&>(slot.input) = {};
  WSABUF nothing{0, buffer_};
  DWORD flags = 0;
  ++calls_.receives;
  const int result = ::WSARecv(bsd::native(handle.descriptor_), &nothing, 1, nullptr, &flags,
                               &slot.input, nullptr);
  began(handle, slot.input, Purpose::Receive, result == 0);
}

void PortBackend::received(Handle& handle, int error) {
  // The socket tells an error once, so it is kept for the next start.
  if (!handle.receiving_) {
    slot_of(handle).input.failure = error;
    return;
  }
  ssize_t count = -1;
  if (error == 0) {
    ++calls_.receives;
    count = bsd::recv(handle.descriptor_, buffer_, port::buffer_bytes, 0);
    if (count < 0) error = errno;
  }
  if (count > 0) {
    taken_bytes_ += static_cast<std::size_t>(count);
    handle.on_receive({buffer_, static_cast<std::size_t>(count)});
  } else if (count == 0 || !would_block(error)) {
    slot_of(handle).input.failure = 0;
    handle.receiving_ = false;
    return handle.on_receive_end(count == 0 ? Error(Errc::None)
                                            : Error::from_system(error, "recv"));
  }
  if (handle.is_open() && handle.receiving_ && !slot_of(handle).input.is_in_flight) {
    arm_receive(handle);
  }
}

// Accepting --------------------------------------------------------------------------------------

void PortBackend::start_accept(Handle& handle) {
  SKUA_ASSERT(handle.is_open());
  handle.accepting_ = true;
  if (handle.watched_) return arm_watch(handle);
  if (!slot_of(handle).input.is_in_flight) arm_accept(handle);
}

void PortBackend::arm_accept(Handle& handle) noexcept {
  Slot& slot = slot_of(handle);
  const int error = slot.is_associated ? begin_accept(handle, slot) : EINVAL;
  if (error != 0) fail_later(handle, slot.input, Purpose::Accept, error);
}

// Returns an errno if the system was not asked.
int PortBackend::begin_accept(Handle& handle, Slot& slot) noexcept try {
  if (slot.family == AF_UNSPEC) slot.family = family_of(handle.descriptor_);
  if (accept_ == nullptr) {
    accept_ = find_function<LPFN_ACCEPTEX>(handle.descriptor_, WSAID_ACCEPTEX);
    if (accept_ == nullptr) return ENOSYS;
  }
  if (!slot.addresses)
    slot.addresses = std::make_unique<std::array<char, 2 * port::address_bytes>>();
  if (slot.accepted < 0) slot.accepted = bsd::open(slot.family, SOCK_STREAM);
  if (slot.accepted < 0) return errno;
  static_cast<OVERLAPPED&>(slot.input) = {};
  ++calls_.others;
  const BOOL is_done =
      accept_(bsd::native(handle.descriptor_), bsd::native(slot.accepted), slot.addresses->data(),
              0, port::address_bytes, port::address_bytes, nullptr, &slot.input);
  began(handle, slot.input, Purpose::Accept, is_done != 0);
  return 0;
} catch (const std::bad_alloc&) {
  return ENOMEM;
}

void PortBackend::stop_accept(Handle& handle) {
  handle.accepting_ = false;
  Slot& slot = slot_of(handle);
  if (slot.input.is_in_flight) ::CancelIoEx(port::file_of(handle), &slot.input);
}

void PortBackend::accepted(Handle& handle, int error) {
  Slot& slot = slot_of(handle);
  const int failure = std::exchange(slot.input.failure, 0);
  if (error == 0) {
    const SOCKET listener = bsd::native(handle.descriptor_);
    const int descriptor = std::exchange(slot.accepted, -1);
    bsd::setsockopt(descriptor, SOL_SOCKET, SO_UPDATE_ACCEPT_CONTEXT, &listener, sizeof listener);
    handle.on_accept(descriptor);
    if (!handle.closing_) accept_waiting(handle);
  } else if (failure != 0 && handle.accepting_) {
    handle.accepting_ = false;
    handle.on_accept_failed(Error::from_system(failure, "accept"));
  }
  // Other errors are those of one connection, or of a cancellation.
  if (handle.is_open() && handle.accepting_ && !slot_of(handle).input.is_in_flight) {
    arm_accept(handle);
  }
}

// Connecting -------------------------------------------------------------------------------------

void PortBackend::connect(Handle& handle, const sockaddr* address, std::uint32_t size_bytes) {
  SKUA_ASSERT(handle.is_open());
  handle.connecting_ = true;
  const int error =
      slot_of(handle).is_associated ? begin_connect(handle, address, size_bytes) : EINVAL;
  if (error != 0) fail_later(handle, slot_of(handle).output, Purpose::Connect, error);
}

// ConnectEx wants a bound socket. Returns an errno if the system was not asked.
int PortBackend::begin_connect(Handle& handle, const sockaddr* address,
                               std::uint32_t size_bytes) noexcept {
  if (connect_ == nullptr) {
    connect_ = find_function<LPFN_CONNECTEX>(handle.descriptor_, WSAID_CONNECTEX);
    if (connect_ == nullptr) return ENOSYS;
  }
  sockaddr_storage any{};
  any.ss_family = address->sa_family;
  if (family_of(handle.descriptor_) == AF_UNSPEC &&
      bsd::bind(handle.descriptor_, reinterpret_cast<const sockaddr*>(&any),
                address->sa_family == AF_UNIX ? sizeof(sa_family_t)
                                              : static_cast<socklen_t>(size_bytes)) != 0) {
    return errno;
  }
  Slot& slot = slot_of(handle);
  static_cast<OVERLAPPED&>(slot.output) = {};
  ++calls_.others;
  const BOOL is_done = connect_(bsd::native(handle.descriptor_), address,
                                static_cast<int>(size_bytes), nullptr, 0, nullptr, &slot.output);
  began(handle, slot.output, Purpose::Connect, is_done != 0);
  return 0;
}

void PortBackend::connected(Handle& handle, int error) {
  handle.connecting_ = false;
  slot_of(handle).output.failure = 0;
  if (error == 0) {
    bsd::setsockopt(handle.descriptor_, SOL_SOCKET, SO_UPDATE_CONNECT_CONTEXT, nullptr, 0);
  }
  handle.on_connect(Error::from_system(error, "connect"));
}

// Sending ----------------------------------------------------------------------------------------

std::size_t PortBackend::send(Handle& handle, std::span<const Slice> slices) {
  SKUA_ASSERT(handle.is_open() && !handle.sending_);
  const SendOutcome outcome = send_slices(handle.descriptor_, slices, calls_.sends);
  Slot& slot = slot_of(handle);
  if (outcome.error != 0) {
    handle.sending_ = true;
    fail_later(handle, slot.output, Purpose::Send, outcome.error);
    return outcome.count;
  }
  // Copies as much of the rest as fits.
  std::size_t skipped = outcome.count;
  std::size_t copied = 0;
  for (const Slice& slice : slices) {
    const std::size_t begin = std::min(skipped, slice.size_bytes);
    skipped -= begin;
    if (begin == slice.size_bytes) continue;
    std::array<char, sizeof(SendBuffer)>& bytes = take_buffer(slot).bytes;
    const std::size_t count = std::min(slice.size_bytes - begin, bytes.size() - copied);
    std::copy_n(slice.data + begin, count, bytes.data() + copied);
    copied += count;
    if (copied == bytes.size()) break;
  }
  if (copied > 0) send_buffered(handle, copied);
  return outcome.count;
}

std::size_t PortBackend::try_send(Handle& handle, std::span<const Slice> slices) {
  if (!handle.is_open() || handle.sending_) return 0;
  return send_slices(handle.descriptor_, slices, calls_.sends).count;
}

std::size_t PortBackend::send_file(Handle& handle, int file, std::uint64_t offset,
                                   std::size_t size_bytes) {
  SKUA_ASSERT(handle.is_open() && !handle.sending_);
  if (size_bytes == 0) return 0;
  Slot& slot = slot_of(handle);
  std::array<char, sizeof(SendBuffer)>& bytes = take_buffer(slot).bytes;
  const Result<std::size_t> count =
      base::read_at(file, offset, std::span(bytes).first(std::min(size_bytes, bytes.size())));
  if (count && *count > 0) {
    send_buffered(handle, *count);
    return 0;
  }
  buffers_.give_back(std::move(slot.sending));
  handle.sending_ = true;
  fail_later(handle, slot.output, Purpose::Send,
             count ? truncated_file : count.error().system_code());
  return 0;
}

SendBuffer& PortBackend::take_buffer(Slot& slot) {
  if (!slot.sending) slot.sending = buffers_.take();
  return *slot.sending;
}

// Sends what is in the slot's buffer.
void PortBackend::send_buffered(Handle& handle, std::size_t size_bytes) noexcept {
  Slot& slot = slot_of(handle);
  handle.sending_ = true;
  if (!slot.is_associated) return fail_later(handle, slot.output, Purpose::Send, EINVAL);
  static_cast<OVERLAPPED&>(slot.output) = {};
  WSABUF piece{static_cast<ULONG>(size_bytes), slot.sending->bytes.data()};
  ++calls_.sends;
  const int result =
      ::WSASend(bsd::native(handle.descriptor_), &piece, 1, nullptr, 0, &slot.output, nullptr);
  began(handle, slot.output, Purpose::Send, result == 0);
}

void PortBackend::sent(Handle& handle, int error, std::size_t count) {
  handle.sending_ = false;
  slot_of(handle).output.failure = 0;
  if (error == 0) {
    handle.on_sent(count);
  } else {
    handle.on_send_failed(send_error(error));
  }
  // The owner may have sent the rest of its bytes; the shutdown comes after those.
  if (handle.is_open() && !handle.sending_ && slot_of(handle).shutdown_wanted) {
    slot_of(handle).shutdown_wanted = false;
    shutdown_write(handle);
  }
}

// Ending -----------------------------------------------------------------------------------------

void PortBackend::shutdown_write(Handle& handle) {
  SKUA_ASSERT(handle.is_open());
  if (handle.sending_) {
    slot_of(handle).shutdown_wanted = true;
    return;
  }
  ++calls_.others;
  bsd::shutdown(handle.descriptor_, SHUT_WR);  // fails only if the connection has ended already
}

}  // namespace skua::loop
