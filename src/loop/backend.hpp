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

/// Counts of the system calls of a back end, by kind. Any thread may read them.
struct SystemCalls {
  base::Counter waits;     ///< epoll_wait, timerfd_settime, kevent, poll, io_uring_enter
  base::Counter receives;  ///< recv
  base::Counter sends;     ///< send, sendmsg, sendfile
  base::Counter others;    ///< accept, close, shutdown, epoll_ctl, wake-ups
  [[nodiscard]] std::uint64_t total() const noexcept { return waits + receives + sends + others; }
};

/// A descriptor managed by a back end, with the callbacks of its owner.
///
/// Embedded in its owner (a stream, a listener). The back end calls the virtual functions on the
/// loop's thread, inside Backend::turn only, so an operation never calls back before it returns.
/// Lifetime: must live, at the same address, from Backend::open until on_closed().
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
  friend class PortBackend;

  /// A connection was accepted: a non-blocking, close-on-exec descriptor that the callee now owns.
  virtual void on_accept(int descriptor);
  /// Accepting has stopped (EMFILE and the like); start_accept resumes it.
  virtual void on_accept_failed(Error error);
  /// The connection is established (Errc::None) or has failed.
  virtual void on_connect(Error error);
  /// Bytes have arrived, in the loop's own buffer: valid and writable during the call only.
  virtual void on_receive(std::span<char> bytes);
  /// No more bytes will come: the peer ended its side (Errc::None), or an error occurred.
  virtual void on_receive_end(Error error);
  /// The pending send is over and took `count` more bytes (may be 0); the owner sends the rest.
  virtual void on_sent(std::size_t count);
  /// The pending send failed; nothing more can be sent.
  virtual void on_send_failed(Error error);
  /// The watched descriptor is readable, or broken; see Backend::watch_readable.
  virtual void on_readable();
  /// The descriptor is closed. This is the last call; it may destroy the handle.
  virtual void on_closed();

  int descriptor_ = -1;
  bool closing_ = false;
  bool receiving_ = false;  // the owner wants bytes
  bool sending_ = false;    // a send is pending: on_sent or on_send_failed will follow
  // Rare: together one byte.
  bool accepting_ : 1 = false;  // the owner wants connections
  bool connecting_ : 1 = false;
  bool watched_ : 1 = false;     // see Backend::watch_readable
  bool brief_ : 1 = false;       // see Backend::receive_briefly
  std::uint8_t armed_ = 0;       // the back end's own bits, such as the requested events
  std::uint16_t in_flight_ = 0;  // operations in flight; readiness: the pending error
  std::uint32_t slot_ = 0;       // the back end's own index
  Handle* next_ = nullptr;       // the back end's own list
};

/// A loop's interface to the operating system, in the form of completions.
///
/// Only wake() may be called from other threads. Readiness systems (epoll, kqueue, poll) turn
/// readiness into completions.
class Backend {
 public:
  Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;
  virtual ~Backend() = default;

  /// Creates the best kind that this machine has (Auto), or exactly the kind asked for.
  /// Ends with: Unsupported if the kernel or the build does not have it.
  static Result<std::unique_ptr<Backend>> create(BackendChoice kind);

  [[nodiscard]] virtual BackendChoice kind() const noexcept = 0;

  /// Takes over a non-blocking descriptor, which the back end closes from here on.
  virtual void open(Handle& handle, int descriptor) = 0;
  /// Accepts connections until stop_accept or on_accept_failed.
  virtual void start_accept(Handle& handle) = 0;
  /// A connection that the system has already taken over may still come (iocp: one).
  virtual void stop_accept(Handle& handle) = 0;
  /// Connects; on_connect follows.
  virtual void connect(Handle& handle, const sockaddr* address, std::uint32_t address_bytes) = 0;
  /// Delivers bytes with on_receive until stop_receive or on_receive_end.
  virtual void start_receive(Handle& handle) = 0;
  /// Bytes that the system has already taken over may still come (io_uring: at most 1 MiB).
  virtual void stop_receive(Handle& handle) = 0;

  /// Limits each receive to what a head may need, as long as there is no place yet for what follows
  /// it: that waits in the system, instead of in a copy. A hint that only readiness systems heed.
  static void receive_briefly(Handle& handle, bool wanted) noexcept { handle.brief_ = wanted; }

  /// Sends; one send at a time. Returns how many bytes were taken at once. If these are not all,
  /// one on_sent or on_send_failed follows, and the memory of `slices` must stay until then (but
  /// not the array of slices itself). Failures are always reported with on_send_failed.
  virtual std::size_t send(Handle& handle, std::span<const Slice> slices) = 0;
  /// Sends what the system takes at once, and no more: no callback follows, and the memory of
  /// `slices` is not needed afterwards. Takes nothing while a send is pending, or if sending
  /// fails, which the next send() reports.
  virtual std::size_t try_send(Handle& handle, std::span<const Slice> slices) = 0;
  /// Sends a range of a file like send(). If the file is shorter, the send fails with
  /// Errc::TruncatedBody. `file` must stay open until on_sent or on_send_failed.
  virtual std::size_t send_file(Handle& handle, int file, std::uint64_t offset,
                                std::size_t size_bytes) = 0;

  /// Calls on_readable() in each turn in which the descriptor is readable or broken, until
  /// unwatch_readable(). For descriptors of any kind that the back end can wait for; such a handle
  /// neither accepts nor receives. on_accept_failed() says that it cannot be waited for.
  void watch_readable(Handle& handle) {
    handle.watched_ = true;
    start_accept(handle);
  }
  void unwatch_readable(Handle& handle) { stop_accept(handle); }
  /// Calls on_sent(0) once, when the descriptor is writable or broken. Until then, a send is
  /// pending.
  virtual void watch_writable(Handle& handle) = 0;

  /// Ends our side (FIN) after everything that was sent.
  virtual void shutdown_write(Handle& handle) = 0;
  /// Cancels pending operations without a callback, closes the descriptor, then calls on_closed
  /// in this or a later turn.
  virtual void close(Handle& handle) = 0;

  /// Gives the descriptor back to the caller, open, once no operation uses it. Returns -1 until
  /// then: call it again in a later turn. Bytes may still arrive meanwhile. No callback follows.
  virtual int release(Handle& handle) = 0;

  /// Waits at most `timeout` (negative: forever) for events, and calls the handles. The wait may
  /// end early because of a signal, or of cleanup that the kernel does for this thread.
  virtual void turn(Duration timeout) = 0;
  /// Makes the current turn(), or the next one, return early. Any thread, async-signal-safe.
  virtual void wake() noexcept = 0;

  /// A descriptor that is readable when turn() has something to do; -1 if there is none.
  [[nodiscard]] virtual int descriptor() const noexcept { return -1; }
  /// Starts what was requested since the last turn, for programs that wait for descriptor().
  virtual void submit() noexcept {}

  [[nodiscard]] const SystemCalls& system_calls() const noexcept { return calls_; }
  /// The bytes that peers have ever made this thread hold. Arrivals are counted by the back end;
  /// code that makes more of them, such as a decompressor, adds the rest. See
  /// Loop::trim_after_bytes.
  [[nodiscard]] std::uint64_t& taken_bytes() noexcept { return taken_bytes_; }

 protected:
  /// Accepts waiting connections one by one, as the owner may stop accepting after any of them.
  void accept_waiting(Handle& handle);
  /// After so much input, the rest of a turn's is left to the next one: what this one passes on or
  /// answers is to leave while the CPU caches hold it.
  static constexpr std::size_t much_input_bytes = 128 * 1024;
  /// No wait is longer, because some systems refuse large numbers. Turns without an event are
  /// legal.
  static constexpr Duration longest_wait = std::chrono::hours(24);
  /// Rounds `timeout` up to whole milliseconds, so that no wait ends before its deadline.
  static int to_milliseconds(Duration timeout) noexcept;

  SystemCalls calls_;
  std::uint64_t taken_bytes_ = 0;
};

}  // namespace skua::loop
