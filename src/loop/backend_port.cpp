// SPDX-License-Identifier: MIT
// In: operations on handles. Out: their completions, which Windows queues in a completion port, at
// most 64 per turn.
//
// Receiving waits with a receive of zero bytes, which completes once there is something to read; a
// plain receive then fetches it into the loop's buffer. So an idle connection owns no buffer, and
// only the loop's thread ever touches that one. Sending tries at once; what the socket does not
// take is copied, at most 64 KiB at a time, into a buffer that the operation owns until it
// completes. So no memory of the owner is lent to the system, and close() has nothing to wait for.
//
// A handle's slot holds its operations. It is given back once none is in flight any more: closing
// cancels them, and the socket is closed after their completions.
#include "loop/backends.hpp"

#if defined(_WIN32)

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <utility>
#include <vector>

#include "base/file_io.hpp"
#include "base/memory.hpp"
#include "base/windows_errors.hpp"
#include "loop/sending.hpp"
#include "loop/sockets.hpp"

namespace skua::loop {
namespace {

constexpr std::size_t port_buffer_bytes = 256 * 1024;
constexpr ULONG completions_per_turn = 64;
// AcceptEx wants this much room beyond an address.
constexpr DWORD address_bytes = sizeof(sockaddr_storage) + 16;

enum class Purpose : std::uint8_t { Receive, Accept, Send, Connect };

/// An operation, which the system knows by the address of its OVERLAPPED.
struct Operation : OVERLAPPED {
  Handle* handle = nullptr;
  int failure = 0;  // found without the system, or kept until somebody asks
  Purpose purpose = Purpose::Receive;
  bool is_in_flight = false;
};

struct SendBuffer {
  std::array<char, 64 * 1024> bytes;
};

/// The operations of a handle, at most one in each direction.
struct Slot {
  Operation input{};
  Operation output{};
  std::unique_ptr<SendBuffer> sending{};                             // while a send is in flight
  std::unique_ptr<std::array<char, 2 * address_bytes>> addresses{};  // of a listener
  int accepted = -1;             // the socket for the next connection
  int family = AF_UNSPEC;        // of a listener
  bool is_associated = false;    // with this back end's port
  bool shutdown_wanted = false;  // once the pending send is over
};

/// A function of Winsock that has to be asked for.
template <class Function>
Function find_function(int descriptor, GUID id) noexcept {
  Function function = nullptr;
  DWORD size_bytes = 0;
  ::WSAIoctl(sockets::native(descriptor), SIO_GET_EXTENSION_FUNCTION_POINTER, &id, sizeof id,
             &function, sizeof function, &size_bytes, nullptr, nullptr);
  return function;
}

int family_of(int descriptor) noexcept {
  sockaddr_storage address{};
  socklen_t size_bytes = sizeof address;
  sockets::getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &size_bytes);
  return address.ss_family;
}

HANDLE file_of(const Handle& handle) noexcept {
  return reinterpret_cast<HANDLE>(sockets::native(handle.descriptor()));
}

}  // namespace

class PortBackend final : public Backend {
 public:
  explicit PortBackend(HANDLE port)
      : port_(port),
        buffer_(static_cast<char*>(base::allocate_pages(port_buffer_bytes))),
        buffers_(16) {
    if (buffer_ == nullptr) throw std::bad_alloc();
  }
  ~PortBackend() override;

  [[nodiscard]] BackendChoice kind() const noexcept override {
    return BackendChoice::CompletionPort;
  }
  void open(Handle& handle, int descriptor) override;
  void start_accept(Handle& handle) override;
  void stop_accept(Handle& handle) override;
  void connect(Handle& handle, const sockaddr* address, std::uint32_t address_bytes) override;
  void start_receive(Handle& handle) override;
  void stop_receive(Handle& handle) override { handle.receiving_ = false; }
  std::size_t send(Handle& handle, std::span<const Slice> slices) override;
  std::size_t try_send(Handle& handle, std::span<const Slice> slices) override;
  std::size_t send_file(Handle& handle, int file, std::uint64_t offset,
                        std::size_t size_bytes) override;
  void shutdown_write(Handle& handle) override;
  void close(Handle& handle) override;
  void turn(Duration timeout) override;
  void wake() noexcept override;

 private:
  Slot& slot_of(const Handle& handle) noexcept { return *slots_[handle.slot_]; }

  void add_slot();
  void began(Handle& handle, Operation& operation, Purpose purpose, bool is_accepted) noexcept;
  void fail_later(Handle& handle, Operation& operation, Purpose purpose, int error) noexcept;

  void arm_receive(Handle& handle) noexcept;
  void arm_accept(Handle& handle) noexcept;
  int begin_accept(Handle& handle, Slot& slot) noexcept;
  int begin_connect(Handle& handle, const sockaddr* address, std::uint32_t size_bytes) noexcept;
  void send_buffered(Handle& handle, std::size_t size_bytes) noexcept;
  SendBuffer& take_buffer(Slot& slot);

  void wait(Duration timeout) noexcept;
  void complete(Operation& operation);
  int result_of(const Operation& operation, DWORD& count) noexcept;
  void received(Handle& handle, int error);
  void accepted(Handle& handle, int error);
  void connected(Handle& handle, int error);
  void sent(Handle& handle, int error, std::size_t count);
  void finish_closing();

  HANDLE port_;
  char* buffer_;  // for all receives
  base::Pool<SendBuffer> buffers_;
  std::vector<std::unique_ptr<Slot>> slots_;
  std::vector<std::uint32_t> free_slots_;
  Handle* first_closing_ = nullptr;
  bool may_finish_closing_ = false;  // some handle that closes has nothing in flight
  std::size_t in_flight_ = 0;
  LPFN_ACCEPTEX accept_ = nullptr;
  LPFN_CONNECTEX connect_ = nullptr;
  std::atomic<bool> is_woken_{false};
  std::array<OVERLAPPED_ENTRY, completions_per_turn> entries_{};
  ULONG entry_count_ = 0;
};

// The system may write into the slots until every operation has completed.
PortBackend::~PortBackend() {
  for (const auto& slot : slots_) {
    for (Operation* operation : {&slot->input, &slot->output}) {
      if (operation->is_in_flight) ::CancelIoEx(file_of(*operation->handle), operation);
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
  base::free_pages(buffer_, port_buffer_bytes);
  ::CloseHandle(port_);
}

void PortBackend::open(Handle& handle, int descriptor) {
  try {
    if (free_slots_.empty()) add_slot();
  } catch (const std::bad_alloc&) {
    sockets::close(descriptor);
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
  slot_of(handle).is_associated = ::CreateIoCompletionPort(file_of(handle), port_, 0, 0) == port_;
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
  const int result = ::WSARecv(sockets::native(handle.descriptor_), &nothing, 1, nullptr, &flags,
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
    count = sockets::recv(handle.descriptor_, buffer_, port_buffer_bytes, 0);
    if (count < 0) error = errno;
  }
  if (count > 0) {
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
  if (!slot.addresses) slot.addresses = std::make_unique<std::array<char, 2 * address_bytes>>();
  if (slot.accepted < 0) slot.accepted = sockets::open(slot.family, SOCK_STREAM);
  if (slot.accepted < 0) return errno;
  static_cast<OVERLAPPED&>(slot.input) = {};
  ++calls_.others;
  const BOOL is_done =
      accept_(sockets::native(handle.descriptor_), sockets::native(slot.accepted),
              slot.addresses->data(), 0, address_bytes, address_bytes, nullptr, &slot.input);
  began(handle, slot.input, Purpose::Accept, is_done != 0);
  return 0;
} catch (const std::bad_alloc&) {
  return ENOMEM;
}

void PortBackend::stop_accept(Handle& handle) {
  handle.accepting_ = false;
  Slot& slot = slot_of(handle);
  if (slot.input.is_in_flight) ::CancelIoEx(file_of(handle), &slot.input);
}

void PortBackend::accepted(Handle& handle, int error) {
  Slot& slot = slot_of(handle);
  const int failure = std::exchange(slot.input.failure, 0);
  if (error == 0) {
    const SOCKET listener = sockets::native(handle.descriptor_);
    const int descriptor = std::exchange(slot.accepted, -1);
    sockets::setsockopt(descriptor, SOL_SOCKET, SO_UPDATE_ACCEPT_CONTEXT, &listener,
                        sizeof listener);
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
      sockets::bind(handle.descriptor_, reinterpret_cast<const sockaddr*>(&any),
                    address->sa_family == AF_UNIX ? sizeof(sa_family_t)
                                                  : static_cast<socklen_t>(size_bytes)) != 0) {
    return errno;
  }
  Slot& slot = slot_of(handle);
  static_cast<OVERLAPPED&>(slot.output) = {};
  ++calls_.others;
  const BOOL is_done = connect_(sockets::native(handle.descriptor_), address,
                                static_cast<int>(size_bytes), nullptr, 0, nullptr, &slot.output);
  began(handle, slot.output, Purpose::Connect, is_done != 0);
  return 0;
}

void PortBackend::connected(Handle& handle, int error) {
  handle.connecting_ = false;
  slot_of(handle).output.failure = 0;
  if (error == 0) {
    sockets::setsockopt(handle.descriptor_, SOL_SOCKET, SO_UPDATE_CONNECT_CONTEXT, nullptr, 0);
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
      ::WSASend(sockets::native(handle.descriptor_), &piece, 1, nullptr, 0, &slot.output, nullptr);
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
  sockets::shutdown(handle.descriptor_, SHUT_WR);  // fails only if the connection has ended already
}

void PortBackend::close(Handle& handle) {
  if (!handle.is_open()) return;
  handle.closing_ = true;
  handle.receiving_ = handle.accepting_ = handle.connecting_ = handle.sending_ = false;
  handle.next_ = std::exchange(first_closing_, &handle);
  if (handle.in_flight_ == 0) {
    may_finish_closing_ = true;
  } else {
    ++calls_.others;
    ::CancelIoEx(file_of(handle), nullptr);
  }
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
    Slot& slot = slot_of(handle);
    buffers_.give_back(std::move(slot.sending));
    if (slot.accepted >= 0) sockets::close(slot.accepted);
    slot = {};
    free_slots_.push_back(handle.slot_);
    ++calls_.others;
    sockets::close(handle.descriptor_);
    handle.descriptor_ = -1;
    handle.closing_ = false;
    handle.on_closed();
  }
}

void PortBackend::wait(Duration timeout) noexcept {
  const int milliseconds = to_milliseconds(timeout);
  ++calls_.waits;
  if (::GetQueuedCompletionStatusEx(port_, entries_.data(), completions_per_turn, &entry_count_,
                                    milliseconds < 0 ? INFINITE : static_cast<DWORD>(milliseconds),
                                    FALSE) == 0) {
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
      is_woken_.store(false, std::memory_order_release);
    }
  }
  if (may_finish_closing_) finish_closing();
}

void PortBackend::wake() noexcept {
  if (is_woken_.exchange(true, std::memory_order_acq_rel)) return;
  ::PostQueuedCompletionStatus(port_, 0, 0, nullptr);
}

// Returns the operation's errno, and how many bytes it moved.
int PortBackend::result_of(const Operation& operation, DWORD& count) noexcept {
  if (operation.failure != 0) return operation.failure;
  DWORD flags = 0;
  auto& overlapped = const_cast<Operation&>(operation);
  const SOCKET socket = sockets::native(operation.handle->descriptor_);
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

#else

namespace skua::loop {

Result<std::unique_ptr<Backend>> make_port_backend() {
  return Error(Errc::Unsupported, "completion ports");
}

}  // namespace skua::loop

#endif
