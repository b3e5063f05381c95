// SPDX-License-Identifier: MIT
#pragma once

#include <utility>

#include "net/address.hpp"
#include "skua/error.hpp"

namespace skua::net {

/// A socket's descriptor, closed unless released; non-blocking and close-on-exec.
class Socket {
 public:
  Socket() noexcept = default;
  explicit Socket(int descriptor) noexcept : descriptor_(descriptor) {}
  Socket(Socket&& other) noexcept : descriptor_(other.release()) {}
  Socket& operator=(Socket&& other) noexcept {
    if (this != &other) reset(other.release());
    return *this;
  }
  ~Socket() { reset(); }

  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }
  explicit operator bool() const noexcept { return descriptor_ >= 0; }
  /// Releases the descriptor, which the caller must close from here on.
  [[nodiscard]] int release() noexcept { return std::exchange(descriptor_, -1); }
  void reset(int descriptor = -1) noexcept;

 private:
  int descriptor_ = -1;
};

/// Options of a listening socket.
struct ListenOptions {
  bool reuse_port = false;  ///< Sockets may share the port; the kernel balances (SO_REUSEPORT).
  bool ipv6_only = false;   ///< An IPv6 wildcard does not accept IPv4 connections.
  int backlog = 4096;       ///< Connections waiting to be accepted; somaxconn may cap it.
};

/// Creates a socket of the address family, to connect with Backend::connect.
Result<Socket> create_socket(Address::Family family) noexcept;

/// Creates a socket that is bound to the address and listens.
/// Ends with: AddressInUse, AddressUnavailable, PermissionDenied, InvalidAddress, ...
Result<Socket> create_listener(const Address& address, const ListenOptions& options = {}) noexcept;

/// Makes the system probe silent peers now and then (SO_KEEPALIVE). Accepted connections inherit
/// this from their listener.
void keep_alive(int descriptor) noexcept;

/// Sends small writes at once (TCP_NODELAY). Has no effect on sockets other than TCP.
void set_no_delay(int descriptor) noexcept;

/// Return the local and the remote address, or Family::None if unknown.
[[nodiscard]] Address local_address(int descriptor) noexcept;
[[nodiscard]] Address peer_address(int descriptor) noexcept;

}  // namespace skua::net
