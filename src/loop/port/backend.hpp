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
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "base/memory.hpp"
#include "loop/backend.hpp"
#include "loop/sockets.hpp"
#include "skua/socket.hpp"

namespace skua::loop {
namespace port {

constexpr std::size_t buffer_bytes = 256 * 1024;
constexpr ULONG completions_per_turn = 64;
// AcceptEx wants this much room beyond an address.
constexpr DWORD address_bytes = sizeof(sockaddr_storage) + 16;

enum class Purpose : std::uint8_t { Receive, Accept, Send, Connect, WatchReading, WatchWriting };

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

/// The argument of a poll of Winsock's driver: what is awaited, then what has happened.
struct Poll {
  std::int64_t timeout = std::numeric_limits<std::int64_t>::max();
  std::uint32_t count = 1;
  std::uint32_t is_exclusive = 0;
  HANDLE socket = nullptr;
  std::uint32_t events = 0;
  std::int32_t status = 0;
};

/// A wait for readiness.
struct Watch : Operation {
  Poll poll;
};

/// The operations of a handle, at most one in each direction.
struct Slot {
  Operation input{};
  Operation output{};
  std::unique_ptr<Watch> reading{};  // once it was watched
  std::unique_ptr<Watch> writing{};
  std::unique_ptr<SendBuffer> sending{};                             // while a send is in flight
  std::unique_ptr<std::array<char, 2 * address_bytes>> addresses{};  // of a listener
  int accepted = -1;             // the socket for the next connection
  int family = AF_UNSPEC;        // of a listener
  bool is_associated = false;    // with this back end's port
  bool shutdown_wanted = false;  // once the pending send is over
};

/// Returns the handle's socket as what it is to the rest of the system.
inline HANDLE file_of(const Handle& handle) noexcept {
  return reinterpret_cast<HANDLE>(bsd::native(handle.descriptor()));
}

}  // namespace port

class PortBackend final : public Backend {
 public:
  explicit PortBackend(HANDLE port);
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
  void watch_writable(Handle& handle) override;
  void shutdown_write(Handle& handle) override;
  void close(Handle& handle) override;
  int release(Handle& handle) override;
  void turn(Duration timeout) override;
  void wake() noexcept override;

 private:
  port::Slot& slot_of(const Handle& handle) noexcept { return *slots_[handle.slot_]; }

  void add_slot();
  void began(Handle& handle, port::Operation& operation, port::Purpose purpose,
             bool is_accepted) noexcept;
  void fail_later(Handle& handle, port::Operation& operation, port::Purpose purpose,
                  int error) noexcept;

  void arm_receive(Handle& handle) noexcept;
  void arm_accept(Handle& handle) noexcept;
  int begin_accept(Handle& handle, port::Slot& slot) noexcept;
  int begin_connect(Handle& handle, const sockaddr* address, std::uint32_t size_bytes) noexcept;
  void send_buffered(Handle& handle, std::size_t size_bytes) noexcept;
  port::SendBuffer& take_buffer(port::Slot& slot);

  void arm_watch(Handle& handle) noexcept;
  void arm_watch(Handle& handle, std::unique_ptr<port::Watch>& watch,
                 std::uint32_t events) noexcept;
  int begin_watch(Handle& handle, port::Watch& watch, std::uint32_t events) noexcept;
  void watched(Handle& handle, bool is_writing, int failure);
  void cancel(const std::unique_ptr<port::Watch>& watch) noexcept;

  void wait(Duration timeout) noexcept;
  void complete(port::Operation& operation);
  int result_of(const port::Operation& operation, DWORD& count) noexcept;
  void received(Handle& handle, int error);
  void accepted(Handle& handle, int error);
  void connected(Handle& handle, int error);
  void sent(Handle& handle, int error, std::size_t count);
  void cancel_all(Handle& handle) noexcept;
  void give_back_slot(Handle& handle);
  void finish_closing();

  HANDLE port_;
  char* buffer_;  // for all receives
  base::Pool<port::SendBuffer> buffers_;
  std::vector<std::unique_ptr<port::Slot>> slots_;
  std::vector<std::uint32_t> free_slots_;
  Handle* first_closing_ = nullptr;
  bool may_finish_closing_ = false;  // some handle that closes has nothing in flight
  std::size_t in_flight_ = 0;
  Socket poller_;  // the driver is asked through a socket: any will do
  LPFN_ACCEPTEX accept_ = nullptr;
  LPFN_CONNECTEX connect_ = nullptr;
  std::atomic<bool> is_woken_{false};
  std::array<OVERLAPPED_ENTRY, port::completions_per_turn> entries_{};
  ULONG entry_count_ = 0;
};

}  // namespace skua::loop
