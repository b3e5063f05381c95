// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "loop/backend.hpp"
#include "loop/sockets.hpp"
#include "skua/config.hpp"
#include "skua/error.hpp"

namespace skua::loop {

/// Data of an operation in flight that the kernel reads and that a submission cannot hold.
struct UringOperation {
  static constexpr std::size_t max_slices = 32;

  /// Builds the message from as many slices as fit; their memory is not copied.
  void gather(std::span<const Slice> from) noexcept {
    const std::size_t count = std::min(from.size(), slices.size());
    for (std::size_t i = 0; i < count; ++i) {
      slices[i] = {const_cast<char*>(from[i].data), from[i].size_bytes};
    }
    message.msg_iov = slices.data();
    message.msg_iovlen = static_cast<decltype(message.msg_iovlen)>(count);
  }

  msghdr message{};
  std::array<iovec, max_slices> slices{};
  sockaddr_storage address{};
  Error failure{Errc::None};    // found at once, reported in the next turn
  std::uint32_t next_free = 0;  // in UringOperations
};

/// A pool of operations, identified by numbers that are never 0.
class UringOperations final {
 public:
  UringOperations() = default;
  UringOperations(const UringOperations&) = delete;
  UringOperations& operator=(const UringOperations&) = delete;
  ~UringOperations() = default;

  [[nodiscard]] std::uint32_t take() {
    if (first_free_ == 0) add();
    return std::exchange(first_free_, (*this)[first_free_].next_free);
  }
  void give_back(std::uint32_t number) noexcept {
    (*this)[number].next_free = std::exchange(first_free_, number);
  }
  [[nodiscard]] UringOperation& operator[](std::uint32_t number) noexcept {
    return *all_[number - 1];
  }

 private:
  SKUA_COLD void add() {
    all_.push_back(std::make_unique<UringOperation>());
    first_free_ = static_cast<std::uint32_t>(all_.size());
  }

  std::vector<std::unique_ptr<UringOperation>> all_;
  std::uint32_t first_free_ = 0;
};

}  // namespace skua::loop

#if defined(SKUA_HAS_IO_URING)

#include <atomic>

#include "loop/uring/buffers.hpp"
#include "loop/uring/ring.hpp"

namespace skua::loop {

/// The io_uring back end: Linux 6.0 and later.
///
/// `uring/backend.cpp` prepares submissions, `uring/completions.cpp` handles completions. A
/// submission carries its handle's address, with its purpose in the low three bits;
/// Handle::in_flight_ counts the submissions that have not finally completed.
class UringBackend final : public Backend {
 public:
  UringBackend() = default;
  ~UringBackend() override;
  Result<void> create(const UringOptions& options);

  [[nodiscard]] BackendChoice kind() const noexcept override { return BackendChoice::IoUring; }
  void open(Handle& handle, int descriptor) override;
  void start_accept(Handle& handle) override;
  void stop_accept(Handle& handle) override;
  void connect(Handle& handle, const sockaddr* address, std::uint32_t address_bytes) override;
  void start_receive(Handle& handle) override;
  void stop_receive(Handle& handle) override;
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
  [[nodiscard]] int descriptor() const noexcept override { return ring_.descriptor(); }
  void submit() noexcept override;

 private:
  // The purpose of a submission: the low bits of its user data.
  enum class Purpose : std::uint8_t {
    Receive,
    Send,
    SendFile,
    Accept,
    Connect,
    Cancel,
    Close,
    Wake
  };
  static constexpr std::uint64_t purpose_mask = 7;
  static_assert(alignof(Handle) > purpose_mask);

  // The bits of Handle::armed_.
  static constexpr std::uint8_t receive_armed = 1;   // a receive is in flight
  static constexpr std::uint8_t receive_ending = 2;  // and so is its cancellation
  static constexpr std::uint8_t accept_armed = 4;
  static constexpr std::uint8_t accept_ending = 8;
  static constexpr std::uint8_t shutdown_wanted = 16;  // once the pending send is over
  static constexpr std::uint8_t reset_held = 32;       // receiving failed while it was stopped
  static constexpr std::uint8_t file_pending = 64;     // the pending send is from a file
  static constexpr std::uint8_t receive_queued = 128;  // in queue_

  // Handles in the order in which they came, each in one list at most.
  class HandleList {
   public:
    HandleList() = default;
    HandleList(const HandleList&) = delete;
    HandleList& operator=(const HandleList&) = delete;
    ~HandleList() = default;

    [[nodiscard]] Handle* first() const noexcept { return first_; }
    void push(Handle& handle) noexcept {
      handle.next_ = nullptr;
      *last_link_ = &handle;
      last_link_ = &handle.next_;
    }
    // Looks for it from the first on, which it nearly always is.
    void remove(Handle& handle) noexcept {
      Handle** link = &first_;
      while (*link != &handle) link = &(*link)->next_;
      *link = handle.next_;
      if (handle.next_ == nullptr) last_link_ = link;
    }

    /// Empties the list, and returns the first one: the others follow it.
    Handle* take_all() noexcept {
      last_link_ = &first_;
      return std::exchange(first_, nullptr);
    }

   private:
    Handle* first_ = nullptr;
    Handle** last_link_ = &first_;
  };

  static constexpr std::size_t max_fed = 64;

  static void set(Handle& handle, int bits) noexcept {
    handle.armed_ = static_cast<std::uint8_t>(handle.armed_ | bits);
  }
  static void clear(Handle& handle, int bits) noexcept {
    handle.armed_ = static_cast<std::uint8_t>(handle.armed_ & ~bits);
  }
  static bool has(const Handle& handle, int bits) noexcept { return (handle.armed_ & bits) != 0; }
  static std::uint64_t user_data(const Handle& handle, Purpose purpose) noexcept {
    return reinterpret_cast<std::uintptr_t>(&handle) | static_cast<std::uint64_t>(purpose);
  }

  io_uring_sqe* submission() noexcept {
    io_uring_sqe* const entry = ring_.submission();
    return entry != nullptr ? entry : submission_after_flush();
  }
  // Marks a prepared entry as the handle's.
  static void track(io_uring_sqe* entry, Handle& handle, Purpose purpose) noexcept {
    entry->user_data = user_data(handle, purpose);
    ++handle.in_flight_;
  }
  io_uring_sqe* submission_after_flush() noexcept;
  void flush() noexcept;
  void cancel(Handle& handle, Purpose purpose) noexcept;
  void arm_receive(Handle& handle) noexcept;
  SKUA_COLD void queue_receive(Handle& handle) noexcept;
  SKUA_COLD void leave_queue(Handle& handle) noexcept;
  SKUA_COLD void sweep_queue() noexcept;
  SKUA_COLD void receive_in_turn() noexcept;
  void submit_receive(Handle& handle, std::size_t piece_bytes) noexcept;
  SKUA_COLD void cancel_receive(Handle& handle) noexcept;
  void arm_accept(Handle& handle) noexcept;
  void arm_wake() noexcept;
  void send_gathered(Handle& handle, std::span<const Slice> slices);
  void await_writable(Handle& handle) noexcept;
  SKUA_COLD void fail_send(Handle& handle, Error failure);
  SKUA_COLD void send_failed(Handle& handle, Error failure);
  void release_operation(Handle& handle) noexcept;

  void complete(const Completion& completion);
  void finish_close(Handle& handle);
  SKUA_COLD void finish_abandoned();
  void received(Handle& handle, const Completion& completion);
  SKUA_COLD void find_missed_ends() noexcept;
  SKUA_COLD void receive_ended(Handle& handle, const Completion& completion);
  SKUA_COLD void may_accept(Handle& handle, int result);
  SKUA_COLD void connected(Handle& handle, int result);
  void sent(Handle& handle, int result);
  void file_sent(Handle& handle);
  SKUA_COLD void finish_shutdown(Handle& handle) noexcept;
  void woken(const Completion& completion) noexcept;

  // The ring is destroyed first, because the kernel may refer to the others until then.
  UringOperations operations_;
  UringBuffers buffers_;
  UringRing ring_;
  HandleList closing_;                  // between close() and on_closed()
  HandleList queue_;                    // their receives wait for buffers
  bool has_closed_in_queue_ = false;    // see sweep_queue()
  std::array<Handle*, max_fed> fed_{};  // see find_missed_ends()
  std::size_t fed_count_ = 0;
  std::size_t received_bytes_ = 0;  // in this turn
  bool was_abandoned_ = false;
  bool blocks_sigpipe_ = false;
  int wake_descriptor_ = -1;
  bool is_wake_armed_ = false;
  std::atomic<bool> is_woken_{false};
};

}  // namespace skua::loop

#endif
