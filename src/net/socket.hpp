// SPDX-License-Identifier: MIT
#pragma once

#include <utility>

#include "net/address.hpp"
#include "skua/error.hpp"

namespace skua::net {

/// Owns a socket's descriptor, closing it unless released; non-blocking and close-on-exec.
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
  /// The descriptor, the caller's to close from here on.
  [[nodiscard]] int release() noexcept { return std::exchange(descriptor_, -1); }
  void reset(int descriptor = -1) noexcept;

 private:
  int descriptor_ = -1;
};

/// How a listening socket is made.
struct ListenOptions {
  bool reuse_port =
      false;  ///< Other sockets may listen here too; the kernel balances (SO_REUSEPORT).
  bool ipv6_only = false;  ///< An IPv6 wildcard does not take IPv4 connections.
  int backlog = 4096;      ///< Connections waiting to be accepted; the system's somaxconn caps it.
};

/// A socket of the address's family, to connect with Backend::connect.
Result<Socket> create_socket(Address::Family family) noexcept;

/// A socket bound to the address and listening.
/// Ends with: AddressInUse, AddressUnavailable, PermissionDenied, InvalidAddress, ...
Result<Socket> create_listener(const Address& address, const ListenOptions& options = {}) noexcept;

/// Asks the system to find out, every now and then, whether a silent peer is still there. What a
/// listener accepts inherits it.
void keep_alive(int descriptor) noexcept;

/// Small writes go out at once (TCP_NODELAY); silently nothing for what is not TCP.
void set_no_delay(int descriptor) noexcept;

/// Where our side and the other side are; no address where that is not known.
[[nodiscard]] Address local_address(int descriptor) noexcept;
[[nodiscard]] Address peer_address(int descriptor) noexcept;

}  // namespace skua::net
