// SPDX-License-Identifier: MIT
#pragma once

#include "skua/release.hpp"  // first: checks the C++ version

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "skua/address.hpp"
#include "skua/bytes.hpp"
#include "skua/config.hpp"
#include "skua/error.hpp"
#include "skua/socket.hpp"
#include "skua/task.hpp"

// Connections on a loop; see skua/loop.hpp. Tasks wait for one operation at a time; callbacks hear
// of what arrives. Dropping a task cancels its operation. Destroying a stream, or close(), ends the
// operations that wait on it with Errc::Closed.

namespace skua {

namespace sockets {
class StreamCore;
}

class Resolver;

/// A connection on a loop: a stream of bytes in each direction. See TcpStream and TlsStream.
class SKUA_API Stream {
 public:
  /// Creates an invalid stream, whose operations end with Closed.
  Stream() noexcept;
  Stream(Stream&&) noexcept;
  Stream& operator=(Stream&&) noexcept;
  /// Like close().
  ~Stream();
  explicit operator bool() const noexcept { return core_ != nullptr; }

  /// Receives what is there, at least one byte, and returns how much that was. One task at a time.
  ///
  /// Waits for: bytes, at most `patience`.
  /// Ends with: Closed if the peer has ended its side; Reset; TimedOut.
  /// Lifetime:  `room` outlives the task.
  Task<Result<std::size_t>> receive(std::span<char> room, Duration patience = Duration::max());
  /// Fills `room`.
  ///
  /// Ends with: the errors of receive(); what was received before is lost.
  Task<Result<void>> receive_all(std::span<char> room, Duration patience = Duration::max());
  /// Returns the bytes before the next `end`, which is removed: a line, for "\n" or "\r\n".
  ///
  /// Ends with: MessageTooLong if more than `max_bytes` come without it; the errors of receive().
  ///            The bytes that were received stay for the next call.
  Task<Result<std::string>> receive_until(std::string end, std::size_t max_bytes = 64_KiB,
                                          Duration patience = Duration::max());

  /// Sends everything, in the order of the calls.
  ///
  /// Waits for: the system to take it, at most `patience`.
  /// Ends with: Closed or Reset if the peer is gone; TimedOut. It is then unknown how much was
  ///            sent.
  /// Lifetime:  `bytes` outlives the task.
  Task<Result<void>> send(std::string_view bytes, Duration patience = Duration::max());
  /// Queues a copy, and sends it at the end of the turn or as soon as the peer takes it. Check
  /// unsent_bytes(): a peer that reads nothing makes the queue grow.
  void write(std::string_view bytes);
  /// Returns the number of bytes that write() and send() have queued.
  [[nodiscard]] std::uint64_t unsent_bytes() const noexcept;

  /// Ends our side after everything that was sent: the peer receives it, then Closed. We can still
  /// receive.
  ///
  /// Waits for: the queue to be sent.
  Task<Result<void>> shutdown_write();
  /// Ends our side like shutdown_write(), discards input until the peer ends its side, and closes.
  ///
  /// Waits for: at most `patience`.
  Task<> finish(Duration patience = 2s);
  /// Closes at once. What was queued and not sent is dropped.
  void close() noexcept;

  /// Calls `callback` with bytes as they arrive, instead of receive(); an empty function stops
  /// that. The bytes are valid during the call only.
  void on_receive(std::function<void(std::string_view bytes)> callback);
  /// Sets the callback for the end of the input: the peer has ended its side (Errc::None), or an
  /// error. It comes after the bytes, and only while somebody receives.
  void on_end(std::function<void(Error why)> callback);
  /// Sets the callback for an empty queue, after write() left something in it; or for its failure,
  /// after which nothing can be sent.
  void on_sent(std::function<void(Error why)> callback);

  [[nodiscard]] Address local_address() const noexcept;
  [[nodiscard]] Address peer_address() const noexcept;

 protected:
  explicit Stream(std::shared_ptr<sockets::StreamCore> core) noexcept;
  [[nodiscard]] const std::shared_ptr<sockets::StreamCore>& core() const noexcept { return core_; }

 private:
  std::shared_ptr<sockets::StreamCore> core_;  // shared with tasks that wait, and the loop
};

/// Time limits of the steps of connecting, and where names are resolved.
struct ConnectOptions {
  Duration resolve = 5s;         ///< the name
  Duration connect = 10s;        ///< a connection to one of its addresses
  Duration handshake = 10s;      ///< TLS, if spoken
  Resolver* resolver = nullptr;  ///< outlives the task; null: one without a cache
};

/// A TCP connection, or one over a Unix socket.
///
/// ```cpp
/// skua::Task<> greet() {
///   auto stream = co_await skua::TcpStream::connect("localhost", 7000);
///   if (!stream) co_return;
///   co_await stream->send("hello\n");
/// }
/// ```
class SKUA_API TcpStream final : public Stream {
 public:
  TcpStream() noexcept = default;
  /// Takes over a connected socket.
  ///
  /// Ends with: std::logic_error on a thread without a loop.
  explicit TcpStream(StreamSocket socket);

  /// Connects to a host: a name or an address. The addresses of a name are tried one after the
  /// other, each 250 ms after the previous one or as soon as that has failed.
  ///
  /// Waits for: name servers and the peer.
  /// Ends with: NameNotResolved; Refused, Unreachable, TimedOut, ...: of the last address.
  /// RFC:       8305
  static Task<Result<TcpStream, Problem>> connect(std::string host, std::uint16_t port,
                                                  ConnectOptions options = {});
  /// Connects to an address, also of a Unix socket.
  static Task<Result<TcpStream, Problem>> connect(Address address, Duration patience = 10s);

  /// The result of release().
  struct Released {
    StreamSocket socket{};
    std::string received{};  ///< bytes that had arrived before and were not received
  };
  /// Gives the socket away: to another loop, thread or process. The stream is invalid from then on.
  ///
  /// Waits for: the queue to be sent, and operations in flight.
  /// Ends with: the errors of send().
  Task<Result<Released>> release();

 private:
  friend class Listener;
  friend class TlsStream;
  explicit TcpStream(std::shared_ptr<sockets::StreamCore> core) noexcept;
};

/// A listening socket on a loop.
///
/// It survives running out of descriptors: it sheds one connection, then pauses for a moment.
class SKUA_API Listener final {
 public:
  /// Listens at an address; port 0 lets the system choose one.
  ///
  /// Ends with: AddressInUse, AddressUnavailable, PermissionDenied, ...
  static Result<Listener, Problem> listen(const Address& address,
                                          const ListenOptions& options = {});
  /// Takes over a socket that listens already.
  ///
  /// Ends with: std::logic_error on a thread without a loop.
  explicit Listener(StreamSocket socket);
  Listener(Listener&&) noexcept;
  Listener& operator=(Listener&&) noexcept;
  ~Listener();

  /// Returns the next connection. Until it is called, connections wait in the system's backlog.
  ///
  /// Waits for: a peer.
  /// Ends with: Closed if the listener is destroyed.
  Task<Result<TcpStream>> accept();
  /// Calls `callback` with each connection, instead of accept(); an empty function stops that.
  void on_accept(std::function<void(TcpStream connection)> callback);

  /// Returns the address, with the port that the system chose.
  [[nodiscard]] Address address() const noexcept;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;  // shared with tasks that wait, and the loop
};

}  // namespace skua
