// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "loop/backend.hpp"
#include "loop/sending.hpp"

namespace skua::loop {

/// The common base of epoll, kqueue and poll: makes completions out of readiness.
///
/// A derived class only knows how to wait, and how to change what it waits for. It calls
/// dispatch() for each ready descriptor, then finish_batch(), and settle() at the end of each turn.
class ReadinessBackend : public Backend {
 public:
  void open(Handle& handle, int descriptor) final;
  void start_accept(Handle& handle) final;
  void stop_accept(Handle& handle) final;
  void connect(Handle& handle, const sockaddr* address, std::uint32_t address_bytes) final;
  void start_receive(Handle& handle) final;
  void stop_receive(Handle& handle) final;
  std::size_t send(Handle& handle, std::span<const Slice> slices) final;
  std::size_t try_send(Handle& handle, std::span<const Slice> slices) final;
  std::size_t send_file(Handle& handle, int file, std::uint64_t offset,
                        std::size_t size_bytes) final;
  void watch_writable(Handle& handle) final;
  void shutdown_write(Handle& handle) final;
  void close(Handle& handle) final;
  int release(Handle& handle) final;

 protected:
  /// The bits of Handle::armed_: what a handle waits for, and its state.
  enum : std::uint8_t {
    Readable = 1,           // requested from the system
    Writable = 2,           // requested from the system
    Registered = 4,         // known to the system (kqueue: its read filter)
    Listed = 8,             // in the list to settle at the end of the turn
    Failed = 16,            // a send or connect has failed; Handle::in_flight_ says why
    Connected = 32,         // a connect succeeded immediately
    Unwatched = 64,         // the system refused to watch; Handle::in_flight_ says why
    WriteRegistered = 128,  // kqueue: its write filter is known to the system
  };
  static constexpr std::uint8_t interest_bits = Readable | Writable;

  ReadinessBackend();

  /// Makes the system report exactly `wanted` (Readable, Writable) from now on; with 0 nothing,
  /// not even a hang-up. Returns 0 or an errno.
  virtual int set_interest(Handle& handle, std::uint8_t wanted) = 0;
  /// Makes the system forget the handle, whose descriptor is about to be closed.
  virtual void forget(Handle& handle) = 0;

  /// Handles a ready descriptor; `is_broken` stands for an error or a hang-up.
  void dispatch(Handle& handle, std::uint8_t ready, bool is_broken) {
    if (handle.closing_) return;  // closed by a callback earlier in this batch
    if (ready == Readable && !is_broken && handle.receiving_) {
      receive(handle);  // nearly all events
    } else {
      dispatch_rare(handle, ready, is_broken);
    }
  }
  /// Reports in settle() that the system will not watch the handle.
  void refuse(Handle& handle, int error) noexcept { fail_later(handle, Unwatched, error); }
  /// Whether the batch ends here; see much_input_bytes.
  [[nodiscard]] bool has_received_much() const noexcept {
    return delivered_bytes_ >= much_input_bytes;
  }
  /// Delivers everything received in this batch; the last step of a batch.
  void finish_batch() {
    deliver();
    delivered_bytes_ = 0;
  }
  /// Reports what could not be reported inside an operation: failures, connections, closings.
  void settle();
  /// Whether settle() has something to report, so that the turn must not wait.
  [[nodiscard]] bool has_unsettled() const noexcept { return first_ != nullptr; }
  /// Calls on_closed on all closing handles; for the destructor of a derived class.
  void settle_closed();

  /// The fields of a handle that derived classes use.
  static std::uint8_t& armed(Handle& handle) noexcept { return handle.armed_; }
  static std::uint32_t& slot(Handle& handle) noexcept { return handle.slot_; }

 private:
  void deliver();
  SKUA_COLD void dispatch_rare(Handle& handle, std::uint8_t ready, bool is_broken);
  void receive(Handle& handle);
  void finish_connect(Handle& handle);
  void want(Handle& handle, std::uint8_t bits);
  void tell_failure(Handle& handle);
  void list(Handle& handle) noexcept;
  void fail_later(Handle& handle, std::uint8_t how, int error) noexcept;
  void settle(Handle& handle);
  SendOutcome send_piece(int descriptor, int file, std::uint64_t offset,
                         std::size_t size_bytes) noexcept;
  std::size_t finish_send(Handle& handle, SendOutcome outcome, std::size_t size_bytes);

  // The result of one recv, until the batch is delivered.
  struct Arrival {
    Handle* handle;
    char* bytes;
    ssize_t count;
    int error;
  };
  static constexpr std::size_t arrivals_per_batch = 128;

  static constexpr std::size_t page_bytes = 4096;
  // Page-aligned: some processors copy at a quarter of the speed into a buffer that begins a
  // little after a page boundary.
  struct alignas(page_bytes) Page {
    std::array<char, page_bytes> bytes;
  };

  std::unique_ptr<Page[]> buffer_;  // for all receives of this loop
  std::size_t used_bytes_ = 0;      // of the buffer, by the arrivals
  std::size_t arrival_count_ = 0;
  std::size_t delivered_bytes_ = 0;  // in this batch
  std::array<Arrival, arrivals_per_batch> arrivals_;
  Handle* first_ = nullptr;  // handles to settle at the end of the turn
  Handle** last_ = &first_;
  bool blocks_sigpipe_ = false;
};

}  // namespace skua::loop
