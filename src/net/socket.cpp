// SPDX-License-Identifier: MIT
// In: an address. Out: a non-blocking, close-on-exec descriptor, listening or ready to connect,
// or the operating system's error.
#include "net/socket.hpp"

#include <fcntl.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace skua::net {
namespace {

int domain_of(Address::Family family) noexcept {
  switch (family) {
    case Address::Family::Ipv4: return AF_INET;
    case Address::Family::Ipv6: return AF_INET6;
    case Address::Family::Unix: return AF_UNIX;
    case Address::Family::None: break;
  }
  return AF_UNSPEC;
}

int open_socket(int domain) noexcept {
#if defined(SOCK_NONBLOCK) && defined(SOCK_CLOEXEC)
  return ::socket(domain, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
#else
  const int descriptor = ::socket(domain, SOCK_STREAM, 0);
  if (descriptor >= 0) {
    ::fcntl(descriptor, F_SETFD, FD_CLOEXEC);
    ::fcntl(descriptor, F_SETFL, O_NONBLOCK);
  }
  return descriptor;
#endif
}

bool set_option(int descriptor, int level, int name, int value) noexcept {
  return ::setsockopt(descriptor, level, name, &value, sizeof value) == 0;
}

using NameCall = int (*)(int, sockaddr*, socklen_t*);

Address ask_name(NameCall call, int descriptor) noexcept {
  sockaddr_storage storage{};
  socklen_t size_bytes = sizeof storage;
  auto* const address = reinterpret_cast<sockaddr*>(&storage);
  if (call(descriptor, address, &size_bytes) != 0) return {};
  return Address::from_sockaddr(address, size_bytes);
}

}  // namespace

void Socket::reset(int descriptor) noexcept {
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = descriptor;
}

Result<Socket> create_socket(Address::Family family) noexcept {
  if (family == Address::Family::None) return Error(Errc::InvalidAddress, "socket");
  const int descriptor = open_socket(domain_of(family));
  if (descriptor < 0) return Error::from_system(errno, "socket");
  return Socket(descriptor);
}

Result<Socket> create_listener(const Address& address, const ListenOptions& options) noexcept {
  auto made = create_socket(address.family());
  if (!made) return made;
  const int descriptor = made->descriptor();
  if (address.is_ip()) {
    // A restarted server must not wait for the TIME_WAIT of its old connections.
    set_option(descriptor, SOL_SOCKET, SO_REUSEADDR, 1);
    if (options.reuse_port && !set_option(descriptor, SOL_SOCKET, SO_REUSEPORT, 1)) {
      return Error::from_system(errno, "SO_REUSEPORT");
    }
  }
  if (address.family() == Address::Family::Ipv6 &&
      !set_option(descriptor, IPPROTO_IPV6, IPV6_V6ONLY, options.ipv6_only ? 1 : 0)) {
    return Error::from_system(errno, "IPV6_V6ONLY");
  }
  if (::bind(descriptor, address.data(), address.size_bytes()) != 0) {
    return Error::from_system(errno, "bind");
  }
  if (address.is_ip()) keep_alive(descriptor);
  // The system caps this at its own limit (somaxconn): listen(2).
  if (::listen(descriptor, std::clamp(options.backlog, 1, 4096)) != 0) {
    return Error::from_system(errno, "listen");
  }
  return made;
}

// A vanished peer is noticed after two minutes, even if we have nothing to send.
void keep_alive(int descriptor) noexcept {
  set_option(descriptor, SOL_SOCKET, SO_KEEPALIVE, 1);
#if defined(TCP_KEEPIDLE) && defined(TCP_KEEPINTVL) && defined(TCP_KEEPCNT)
  set_option(descriptor, IPPROTO_TCP, TCP_KEEPIDLE, 60);
  set_option(descriptor, IPPROTO_TCP, TCP_KEEPINTVL, 15);
  set_option(descriptor, IPPROTO_TCP, TCP_KEEPCNT, 4);
#endif
}

void set_no_delay(int descriptor) noexcept { set_option(descriptor, IPPROTO_TCP, TCP_NODELAY, 1); }

Address local_address(int descriptor) noexcept { return ask_name(::getsockname, descriptor); }

Address peer_address(int descriptor) noexcept { return ask_name(::getpeername, descriptor); }

}  // namespace skua::net
