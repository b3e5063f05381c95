// SPDX-License-Identifier: MIT
#pragma once

#include "skua/release.hpp"  // first: checks the C++ version

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "skua/address.hpp"
#include "skua/bytes.hpp"
#include "skua/config.hpp"
#include "skua/error.hpp"

// Sockets for programs without a loop. Each operation comes in two forms: `receive(room)` waits
// forever, or as long as the `patience` that is passed; `try_receive(room)` never waits. Both forms
// may be mixed on one socket.
//
//   the operation is done       a value: how many bytes, a connection, ...
//   it would have to wait       Errc::WouldBlock (try_ forms), Errc::TimedOut (patience is over)
//   the peer has ended          Errc::Closed
//   the socket is not valid     Errc::Closed
//
// A socket belongs to one thread at a time. Signals never end a wait, and SIGPIPE is never raised.

namespace skua {

/// A socket's descriptor, with what all kinds of sockets have in common. It closes itself; one that
/// was moved from or closed is invalid, and its operations end with Errc::Closed.
///
/// The descriptor is non-blocking and close-on-exec.
class SKUA_API Socket {
 public:
  Socket() noexcept = default;
  /// Takes over a descriptor that is non-blocking and close-on-exec already; see adopt().
  explicit Socket(int descriptor) noexcept : descriptor_(descriptor) {}
  Socket(Socket&& other) noexcept : descriptor_(other.release()) {}
  Socket& operator=(Socket&& other) noexcept {
    if (this != &other) {
      close();
      descriptor_ = other.release();
    }
    return *this;
  }
  ~Socket() { close(); }

  /// Takes over a descriptor from elsewhere, and makes it non-blocking and close-on-exec.
  ///
  /// Ends with: the system's error; the descriptor then stays with the caller.
  static Result<Socket> adopt(int descriptor) noexcept;

  /// The descriptor; -1 if the socket is invalid.
  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }
  explicit operator bool() const noexcept { return descriptor_ >= 0; }
  /// Releases the descriptor, which the caller must close from here on.
  [[nodiscard]] int release() noexcept { return std::exchange(descriptor_, -1); }
  /// Closes the descriptor; see StreamSocket::set_linger. Does nothing if the socket is invalid.
  void close() noexcept;

  /// The socket's own address, and its peer's; Family::None if it has none.
  [[nodiscard]] Address local_address() const noexcept;
  [[nodiscard]] Address peer_address() const noexcept;

  /// Gives the socket an address; port 0 lets the system choose a free one.
  ///
  /// Ends with: AddressInUse, AddressUnavailable, PermissionDenied, NotFound, ...
  Result<void, Problem> bind(const Address& address);

  /// Waits until a try_ operation would not have to: to receive or accept, or to send or connect.
  ///
  /// Waits for: at most `patience`.
  /// Ends with: TimedOut.
  Result<void> wait_readable(Duration patience = Duration::max()) const noexcept;
  Result<void> wait_writable(Duration patience = Duration::max()) const noexcept;
  /// Returns the socket's pending error and clears it; Errc::None if there is none.
  [[nodiscard]] Error take_error() noexcept;

  // Options. Setters end with the system's error, e.g. Unsupported for another kind of socket.

  /// Lets bind() take an address whose old connections linger (TIME_WAIT).
  Result<void> set_reuse_address(bool on) noexcept;
  [[nodiscard]] Result<bool> reuse_address() const noexcept;
  /// Lets several sockets share the address; the system balances. Set it before bind().
  Result<void> set_reuse_port(bool on) noexcept;
  [[nodiscard]] Result<bool> reuse_port() const noexcept;
  /// Whether an IPv6 socket takes no IPv4 traffic. Set it before bind().
  Result<void> set_ipv6_only(bool on) noexcept;
  [[nodiscard]] Result<bool> ipv6_only() const noexcept;
  /// Fix the sizes of the system's buffers. If they are never set, the system tunes them itself,
  /// which is nearly always better. The system may round them, and Linux doubles them.
  Result<void> set_receive_buffer_bytes(std::size_t size_bytes) noexcept;
  [[nodiscard]] Result<std::size_t> receive_buffer_bytes() const noexcept;
  Result<void> set_send_buffer_bytes(std::size_t size_bytes) noexcept;
  [[nodiscard]] Result<std::size_t> send_buffer_bytes() const noexcept;
  /// The octet of the IP header that marks the class of service (DSCP and ECN). RFC 2474
  Result<void> set_traffic_class(std::uint8_t octet) noexcept;
  [[nodiscard]] Result<std::uint8_t> traffic_class() const noexcept;
  /// How many routers may forward a packet (TTL), 1 to 255.
  Result<void> set_hop_limit(std::uint8_t hops) noexcept;
  [[nodiscard]] Result<std::uint8_t> hop_limit() const noexcept;

 private:
  int descriptor_ = -1;
};

/// The common part of TcpSocket and UnixSocket: a stream of bytes in each direction.
class SKUA_API StreamSocket : public Socket {
 public:
  StreamSocket() noexcept = default;
  explicit StreamSocket(Socket socket) noexcept : Socket(std::move(socket)) {}

  /// Connects to an address.
  ///
  /// Waits for: the peer, at most `patience`.
  /// Ends with: Refused, Unreachable, TimedOut, PermissionDenied, NotFound (Unix), ...
  Result<void, Problem> connect(const Address& address, Duration patience = Duration::max());
  /// Starts to connect: WouldBlock says that it goes on. After wait_writable(), take_error() tells
  /// how it ended.
  Result<void, Problem> try_connect(const Address& address);
  /// Starts to accept connections, after bind(). The system caps `backlog`, the number of
  /// connections that wait to be accepted.
  Result<void, Problem> listen(int backlog = 4096);

  /// Sends what fits into the system's buffer, at least one byte, and returns how much that was.
  ///
  /// Ends with: Closed or Reset if the peer is gone; TimedOut.
  Result<std::size_t> send(std::string_view bytes, Duration patience = Duration::max()) noexcept;
  Result<std::size_t> try_send(std::string_view bytes) noexcept;
  /// Sends everything, within `patience` altogether. After an error it is unknown how much was
  /// sent.
  Result<void> send_all(std::string_view bytes, Duration patience = Duration::max()) noexcept;
  Result<std::size_t> send(Bytes bytes, Duration patience = Duration::max()) noexcept {
    return send(text(bytes), patience);
  }
  Result<std::size_t> try_send(Bytes bytes) noexcept { return try_send(text(bytes)); }
  Result<void> send_all(Bytes bytes, Duration patience = Duration::max()) noexcept {
    return send_all(text(bytes), patience);
  }

  /// Receives what is there, at least one byte, and returns how much that was.
  ///
  /// Ends with: Closed if the peer has ended its side; Reset; TimedOut.
  Result<std::size_t> receive(std::span<char> room, Duration patience = Duration::max()) noexcept;
  Result<std::size_t> try_receive(std::span<char> room) noexcept;
  /// Fills `room`, within `patience` altogether.
  ///
  /// Ends with: the errors of receive(); what was received before is lost.
  Result<void> receive_all(std::span<char> room, Duration patience = Duration::max()) noexcept;
  Result<std::size_t> receive(std::span<std::byte> room,
                              Duration patience = Duration::max()) noexcept {
    return receive(chars(room), patience);
  }
  Result<std::size_t> try_receive(std::span<std::byte> room) noexcept {
    return try_receive(chars(room));
  }
  Result<void> receive_all(std::span<std::byte> room,
                           Duration patience = Duration::max()) noexcept {
    return receive_all(chars(room), patience);
  }

  /// Ends our side: the peer receives what was sent, then Closed. We can still receive.
  Result<void> shutdown_write() noexcept;
  /// Ends the peer's side for us: receive() then ends with Closed.
  Result<void> shutdown_read() noexcept;

  /// How close() treats what the peer has not received yet. Absent: the system goes on sending in
  /// the background (the default). Zero: it is dropped, and the peer gets a reset. Otherwise
  /// close() waits that long.
  Result<void> set_linger(std::optional<std::chrono::seconds> time) noexcept;
  [[nodiscard]] Result<std::optional<std::chrono::seconds>> linger() const noexcept;

 protected:
  [[nodiscard]] Result<Socket> accept_socket(Duration patience) noexcept;
  [[nodiscard]] Result<Socket> try_accept_socket() noexcept;

 private:
  static std::span<char> chars(std::span<std::byte> room) noexcept {
    return {reinterpret_cast<char*>(room.data()), room.size()};
  }
};

/// Options of a listening socket.
struct ListenOptions {
  bool reuse_port = false;  ///< Sockets may share the port; the kernel balances (SO_REUSEPORT).
  bool ipv6_only = false;   ///< An IPv6 wildcard does not accept IPv4 connections.
  int backlog = 4096;       ///< Connections waiting to be accepted; somaxconn may cap it.
};

/// When the system checks whether a silent peer is still there. RFC 9293 §3.8.4
struct KeepAlive {
  std::chrono::seconds idle{60};      ///< silence before the first probe
  std::chrono::seconds interval{15};  ///< between probes
  int probes = 4;                     ///< unanswered ones after which the connection is reset
};

/// A TCP socket: a connection, or a listener.
///
/// ```cpp
/// auto socket = skua::TcpSocket::connect_to("localhost", 7, 5s);
/// if (!socket) return fail(socket.error().text);
/// socket->send_all("hello\n");
/// ```
class SKUA_API TcpSocket final : public StreamSocket {
 public:
  TcpSocket() noexcept = default;
  explicit TcpSocket(Socket socket) noexcept : StreamSocket(std::move(socket)) {}

  /// Creates a socket, to set options and then connect(), or bind() and listen().
  static Result<TcpSocket, Problem> open(Address::Family family);
  /// Creates a listener: a socket that reuses its address, is bound, and listens.
  static Result<TcpSocket, Problem> listen_on(const Address& address,
                                              const ListenOptions& options = {});
  /// Creates a connection; small writes are sent at once (set_no_delay).
  ///
  /// Waits for: the peer, at most `patience`.
  /// Ends with: the errors of connect().
  static Result<TcpSocket, Problem> connect_to(const Address& address,
                                               Duration patience = Duration::max());
  /// Resolves a host, and connects to the first of its addresses that answers.
  ///
  /// Waits for: name servers as long as they take; the peers, at most `patience` altogether.
  /// Ends with: the errors of resolve(), and of connect() for the last address.
  static Result<TcpSocket, Problem> connect_to(std::string_view host, std::uint16_t port,
                                               Duration patience = Duration::max());

  /// Returns the next connection of a listener.
  ///
  /// Waits for: a peer, at most `patience`.
  /// Ends with: TimedOut; TooManyOpenFiles or OutOfMemory, and then the peer stays in the backlog.
  Result<TcpSocket> accept(Duration patience = Duration::max()) noexcept;
  Result<TcpSocket> try_accept() noexcept;

  /// Whether small writes are sent at once (TCP_NODELAY), not merged with later ones.
  Result<void> set_no_delay(bool on) noexcept;
  [[nodiscard]] Result<bool> no_delay() const noexcept;
  /// Absent: silent peers are never checked.
  /// Ends with: Unsupported if the system has no such times for a socket (OpenBSD).
  Result<void> set_keep_alive(const std::optional<KeepAlive>& options) noexcept;
  [[nodiscard]] Result<std::optional<KeepAlive>> keep_alive() const noexcept;
};

/// A Unix stream socket: a connection, or a listener.
class SKUA_API UnixSocket final : public StreamSocket {
 public:
  UnixSocket() noexcept = default;
  explicit UnixSocket(Socket socket) noexcept : StreamSocket(std::move(socket)) {}

  /// Creates a socket, to connect(), or bind() and listen().
  static Result<UnixSocket, Problem> open();
  /// Creates a listener. A socket file at which nobody listens any more is replaced; its
  /// permissions are those of the process's umask. It stays when the listener is closed.
  ///
  /// Ends with: AddressInUse if somebody listens there, or if it is not a socket.
  static Result<UnixSocket, Problem> listen_on(const Address& address, int backlog = 4096);
  static Result<UnixSocket, Problem> connect_to(const Address& address,
                                                Duration patience = Duration::max());
  /// Creates two sockets that are connected to each other.
  static Result<std::pair<UnixSocket, UnixSocket>, Problem> pair();

  /// Like TcpSocket::accept().
  Result<UnixSocket> accept(Duration patience = Duration::max()) noexcept;
  Result<UnixSocket> try_accept() noexcept;
};

/// A datagram that was received.
struct Datagram {
  std::size_t size_bytes = 0;  ///< what lies in the caller's room; 0 for an empty datagram
  bool is_truncated = false;   ///< the room was too small, and the rest is lost
  Address from{};
};

/// A UDP socket: datagrams to and from any peers, or, once connected, one of them.
///
/// ```cpp
/// auto socket = skua::UdpSocket::open(skua::Address::Family::Ipv4).value();
/// socket.bind(skua::Address::any(skua::Address::Family::Ipv4, 9000)).value();
/// std::array<char, 1500> room;
/// const skua::Datagram got = socket.receive(room).value();
/// socket.send_to(got.from, {room.data(), got.size_bytes}).value();
/// ```
class SKUA_API UdpSocket final : public Socket {
 public:
  UdpSocket() noexcept = default;
  explicit UdpSocket(Socket socket) noexcept : Socket(std::move(socket)) {}

  static Result<UdpSocket, Problem> open(Address::Family family);

  /// Fixes the peer: send() goes there, and datagrams of others are not received. Nothing is sent.
  Result<void, Problem> connect(const Address& address);

  /// Sends one datagram, whole or not at all.
  ///
  /// Ends with: DatagramTooLong (more than 65507 bytes over IPv4); Refused if an earlier one of a
  ///            connected socket reached no socket (ICMP); Unreachable; Closed without a peer.
  Result<void> send(std::string_view bytes, Duration patience = Duration::max()) noexcept;
  Result<void> try_send(std::string_view bytes) noexcept;
  Result<void> send_to(const Address& address, std::string_view bytes,
                       Duration patience = Duration::max()) noexcept;
  Result<void> try_send_to(const Address& address, std::string_view bytes) noexcept;

  /// Receives one datagram.
  ///
  /// Ends with: TimedOut; Refused if an earlier one of a connected socket reached no socket.
  Result<Datagram> receive(std::span<char> room, Duration patience = Duration::max()) noexcept;
  Result<Datagram> try_receive(std::span<char> room) noexcept;

  /// Whether datagrams may go to broadcast addresses.
  Result<void> set_broadcast(bool on) noexcept;
  [[nodiscard]] Result<bool> broadcast() const noexcept;

  // Multicast, over IPv4 and IPv6. An interface is the index in NetworkInterface; 0: the system's
  // choice.

  /// Receives what is sent to a group. RFC 1112, RFC 3493 §5.2
  Result<void, Problem> join(const Address& group, std::uint32_t interface_index = 0);
  Result<void, Problem> leave(const Address& group, std::uint32_t interface_index = 0);
  /// The interface through which datagrams to groups are sent.
  Result<void> set_multicast_interface(std::uint32_t interface_index) noexcept;
  /// How many routers may forward a datagram to a group; 1 by default: the local network.
  Result<void> set_multicast_hops(std::uint8_t hops) noexcept;
  [[nodiscard]] Result<std::uint8_t> multicast_hops() const noexcept;
  /// Whether this machine receives what it sends to a group itself, as it does by default.
  Result<void> set_multicast_loop(bool on) noexcept;
  [[nodiscard]] Result<bool> multicast_loop() const noexcept;
};

}  // namespace skua
