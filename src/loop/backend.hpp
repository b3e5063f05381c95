// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "base/counter.hpp"
#include "skua/backend.hpp"
#include "skua/bytes.hpp"
#include "skua/error.hpp"

struct sockaddr;

namespace skua::loop {

class Backend;

/// A piece of memory to be sent.
struct Slice {
  const char* data = nullptr;
  std::size_t size_bytes = 0;
};

/// How many system calls a back end made, by kind. Any thread may read them.
struct SystemCalls {
  base::Counter waits;     ///< epoll_wait, poll, io_uring_enter
  base::Counter receives;  ///< recv
  base::Counter sends;     ///< send, sendmsg, sendfile
  base::Counter others;    ///< accept, close, shutdown, epoll_ctl, wake-ups
  [[nodiscard]] std::uint64_t total() const noexcept { return waits + receives + sends + others; }
};

/// One descriptor in a back end's care, and what its owner wants to hear about it.
///
/// Embedded in its owner (a stream, a listener). The back end calls the virtual functions on the
/// loop's thread, inside Backend::turn only, so an operation never calls back before it returns.
/// Lifetime: from Backend::open until on_closed() the handle must stay where it is.
class Handle {
 public:
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  /// The descriptor; -1 before open and after on_closed.
  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }
  [[nodiscard]] bool is_open() const noexcept { return descriptor_ >= 0 && !closing_; }

 protected:
  Handle() = default;
  ~Handle() = default;

 private:
  friend class Backend;
  friend class ReadinessBackend;
  friend class UringBackend;

  /// A connection was accepted: a non-blocking, close-on-exec descriptor that the callee now owns.
  virtual void on_accept(int descriptor);
  /// Accepting has stopped (EMFILE and its like); start_accept resumes it.
  virtual void on_accept_failed(Error error);
  /// The connection is made (Errc::None), or cannot be.
  virtual void on_connect(Error error);
  /// Bytes have arrived, in the loop's own buffer: valid and writable during the call only.
  virtual void on_receive(std::span<char> bytes);
  /// No more bytes will come: the peer has closed its side (Errc::None), or an error ended it.
  virtual void on_receive_end(Error error);
  /// The pending send went on: `count` more bytes were taken (may be 0: call send again).
  virtual void on_sent(std::size_t count);
  /// The pending send failed; nothing more can be sent.
  virtual void on_send_failed(Error error);
  /// Everything has ended and the descriptor is closed: the last call; it may destroy the handle.
  virtual void on_closed();

  int descriptor_ = -1;
  bool closing_ = false;
  bool receiving_ = false;  // the owner wants bytes
  bool accepting_ = false;  // the owner wants connections
  bool connecting_ = false;
  bool sending_ = false;    // a send is pending: on_sent or on_send_failed will follow
  std::uint8_t armed_ = 0;  // what the operating system has been asked for (back end's own bits)
  std::uint16_t in_flight_ =
      0;                    // io_uring: operations that have not completed; others: what failed
  std::uint32_t slot_ = 0;  // back end's own index
  Handle* next_ = nullptr;  // back end's own list
};

/// What an operating system does for a loop, in the shape of completions.
///
/// Everything but wake() is for the loop's thread. Readiness systems (epoll, poll) emulate
/// completions.
class Backend {
 public:
  Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;
  virtual ~Backend() = default;

  /// The best kind that this machine has (Auto), or exactly the kind asked for.
  /// Ends with: Unsupported where the kernel or the build does not have it.
  static Result<std::unique_ptr<Backend>> create(BackendChoice kind);

  [[nodiscard]] virtual BackendChoice kind() const noexcept = 0;

  /// Takes a non-blocking descriptor into care; it is the back end's to close from here on.
  virtual void open(Handle& handle, int descriptor) = 0;
  /// Accepts connections until stop_accept or on_accept_failed.
  virtual void start_accept(Handle& handle) = 0;
  virtual void stop_accept(Handle& handle) = 0;
  /// Connects; on_connect follows.
  virtual void connect(Handle& handle, const sockaddr* address, std::uint32_t address_bytes) = 0;
  /// Hands over bytes by on_receive until stop_receive or on_receive_end.
  virtual void start_receive(Handle& handle) = 0;
  /// Bytes that the system had already taken over may still come (io_uring: at most 1 MiB).
  virtual void stop_receive(Handle& handle) = 0;

  /// Sends; one send at a time. Returns how many bytes were taken at once. When that is fewer than
  /// all, exactly one on_sent or on_send_failed follows, and the memory of `slices` stays until
  /// then (the array of slices itself is not kept). A failure is always told by on_send_failed.
  virtual std::size_t send(Handle& handle, std::span<const Slice> slices) = 0;
  /// Sends what the system takes at once, and no more: of what it does not take nothing follows,
  /// and the memory of `slices` is not needed any longer. Takes nothing while a send is pending,
  /// and where one would fail: the next send() tells.
  virtual std::size_t try_send(Handle& handle, std::span<const Slice> slices) = 0;
  /// Sends a range of a file like send(). Fewer bytes in the file than asked for is a failure
  /// (Errc::TruncatedBody). `file` stays open until on_sent or on_send_failed.
  virtual std::size_t send_file(Handle& handle, int file, std::uint64_t offset,
                                std::size_t size_bytes) = 0;

  /// Ends our side (FIN) once what was sent is on its way.
  virtual void shutdown_write(Handle& handle) = 0;
  /// Cancels whatever is pending (no on_sent etc. follows), closes, then calls on_closed in this or
  /// a later turn.
  virtual void close(Handle& handle) = 0;

  /// Waits at most `timeout` (negative: for ever) for something to happen, and tells the handles.
  /// A signal may end the wait early, and so may what the kernel clears away for this thread.
  virtual void turn(Duration timeout) = 0;
  /// Makes a turn() in progress, or the next one, return early. Any thread, async-signal-safe.
  virtual void wake() noexcept = 0;

  [[nodiscard]] const SystemCalls& system_calls() const noexcept { return calls_; }

 protected:
  /// Accepts what waits, one connection at a time, as the owner may want no more after any of them.
  void accept_waiting(Handle& handle);

  SystemCalls calls_;
};

}  // namespace skua::loop
