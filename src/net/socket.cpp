// SPDX-License-Identifier: MIT
// In: an address, a descriptor, an option. Out: a non-blocking, close-on-exec descriptor, the
// option's value, or the operating system's error.
#include "net/socket.hpp"

#include "net/problem.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>

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

#if defined(SO_REUSEPORT_LB)  // FreeBSD: its SO_REUSEPORT does not balance
constexpr int shared_port_option = SO_REUSEPORT_LB;
#else
constexpr int shared_port_option = SO_REUSEPORT;
#endif

using NameCall = int (*)(int, sockaddr*, socklen_t*);

Address ask_name(NameCall call, int descriptor) noexcept {
  sockaddr_storage storage{};
  socklen_t size_bytes = sizeof storage;
  auto* const address = reinterpret_cast<sockaddr*>(&storage);
  if (call(descriptor, address, &size_bytes) != 0) return {};
  return Address::from_sockaddr(address, size_bytes);
}

}  // namespace

Result<Socket> create_socket(Address::Family family) noexcept {
  return create_socket(family, SOCK_STREAM);
}

Result<Socket> create_socket(Address::Family family, int type) noexcept {
  if (family == Address::Family::None) return Error(Errc::InvalidAddress, "socket");
  const int descriptor = bsd::open(domain_of(family), type);
  if (descriptor < 0) return Error::from_system(errno, "socket");
  return Socket(descriptor);
}

Result<Socket> create_listener(const Address& address, const ListenOptions& options) noexcept {
  auto made = create_socket(address.family());
  if (!made) return made;
  const int descriptor = made->descriptor();
  if (address.is_ip()) {
    static_cast<void>(bsd::claim_port(descriptor));
    if (options.reuse_port) {
      if (const auto set = set_option(descriptor, SOL_SOCKET, shared_port_option, 1); !set) {
        return set.error();
      }
    }
  }
  if (address.family() == Address::Family::Ipv6) {
    if (const auto set = made->set_ipv6_only(options.ipv6_only); !set) return set.error();
  }
  if (bsd::bind(descriptor, address.data(), address.size_bytes()) != 0) {
    return Error::from_system(errno, "bind");
  }
  if (address.is_ip()) keep_alive(descriptor);
  // The system caps this at its own limit (somaxconn): listen(2).
  if (bsd::listen(descriptor, std::clamp(options.backlog, 1, 4096)) != 0) {
    return Error::from_system(errno, "listen");
  }
  return made;
}

// A vanished peer is noticed after two minutes, even if we have nothing to send.
void keep_alive(int descriptor) noexcept {
  static_cast<void>(set_option(descriptor, SOL_SOCKET, SO_KEEPALIVE, 1));
  if (!has_keep_alive_times) return;
  static_cast<void>(set_option(descriptor, IPPROTO_TCP, keep_alive_idle, 60));
  static_cast<void>(set_option(descriptor, IPPROTO_TCP, keep_alive_interval, 15));
  static_cast<void>(set_option(descriptor, IPPROTO_TCP, keep_alive_probes, 4));
}

void set_no_delay(int descriptor) noexcept {
  static_cast<void>(set_option(descriptor, IPPROTO_TCP, TCP_NODELAY, 1));
}

Address local_address(int descriptor) noexcept { return ask_name(bsd::getsockname, descriptor); }

Address peer_address(int descriptor) noexcept { return ask_name(bsd::getpeername, descriptor); }

Result<void> set_option(int descriptor, int level, int name, const void* value,
                        socklen_t size_bytes) noexcept {
  if (bsd::setsockopt(descriptor, level, name, value, size_bytes) == 0) return {};
  return failure(errno, "setsockopt");
}

Result<void> set_option(int descriptor, int level, int name, int value) noexcept {
  return set_option(descriptor, level, name, &value, sizeof value);
}

Result<int> get_option(int descriptor, int level, int name) noexcept {
  int value = 0;
  socklen_t size_bytes = sizeof value;
  if (bsd::getsockopt(descriptor, level, name, &value, &size_bytes) == 0) return value;
  return failure(errno, "getsockopt");
}

Result<void> set_option(int descriptor, IpOption option, int value) noexcept {
  if (bsd::is_ipv6(descriptor)) return set_option(descriptor, IPPROTO_IPV6, option.ipv6, value);
  return set_option(descriptor, IPPROTO_IP, option.ipv4, value);
}

Result<int> get_option(int descriptor, IpOption option) noexcept {
  if (bsd::is_ipv6(descriptor)) return get_option(descriptor, IPPROTO_IPV6, option.ipv6);
  return get_option(descriptor, IPPROTO_IP, option.ipv4);
}

Error failure(int system_code, const char* operation) noexcept {
  switch (system_code) {
    case EAGAIN:
#if EWOULDBLOCK != EAGAIN
    case EWOULDBLOCK:
#endif
      return {Errc::WouldBlock, operation, system_code};
    case EBADF: return {Errc::Closed, operation, system_code};
    case EDESTADDRREQ: return {Errc::Closed, operation, system_code};
    case EMSGSIZE: return {Errc::DatagramTooLong, operation, system_code};
    default: return Error::from_system(system_code, operation);
  }
}

Result<void> wait_until(int descriptor, short events, Deadline deadline) noexcept {
  if (descriptor < 0) return Error(Errc::Closed, "poll");
  while (true) {
    int wait = -1;
    if (deadline != Deadline::max()) {
      const auto left = deadline - Deadline(std::chrono::steady_clock::now());
      const auto milliseconds = std::chrono::ceil<std::chrono::milliseconds>(left).count();
      wait = static_cast<int>(std::clamp<std::int64_t>(milliseconds, 0, INT_MAX));
    }
    pollfd entry{};
    entry.fd = descriptor;
    entry.events = events;
    const int ready = bsd::poll(&entry, 1, wait);
    if (ready > 0) return {};
    if (ready < 0 && errno != EINTR) return failure(errno, "poll");
    if (ready == 0 && wait != INT_MAX) return Error(Errc::TimedOut, "poll");
  }
}

}  // namespace skua::net

namespace skua {

Result<Socket> Socket::adopt(int descriptor) noexcept {
  if (bsd::set_flags(descriptor) != 0) return net::failure(errno, "fcntl");
  return Socket(descriptor);
}

void Socket::close() noexcept {
  if (descriptor_ >= 0) bsd::close(descriptor_);
  descriptor_ = -1;
}

Address Socket::local_address() const noexcept { return net::local_address(descriptor_); }

Address Socket::peer_address() const noexcept { return net::peer_address(descriptor_); }

Result<void, Problem> Socket::bind(const Address& address) {
  if (bsd::bind(descriptor_, address.data(), address.size_bytes()) == 0) return {};
  return net::could_not("bind to", address, net::failure(errno, "bind"));
}

Result<void> Socket::wait_readable(Duration patience) const noexcept {
  return net::wait_until(descriptor_, POLLIN, net::deadline_after(patience));
}

Result<void> Socket::wait_writable(Duration patience) const noexcept {
  return net::wait_until(descriptor_, POLLOUT, net::deadline_after(patience));
}

Error Socket::take_error() noexcept {
  const Result<int> pending = net::get_option(descriptor_, SOL_SOCKET, SO_ERROR);
  return pending ? net::failure(*pending, "socket") : pending.error();
}

namespace {

int clamped(std::size_t size_bytes) noexcept {
  return static_cast<int>(std::min<std::size_t>(size_bytes, INT_MAX));
}

constexpr net::IpOption traffic_class_option{IP_TOS, IPV6_TCLASS};
constexpr net::IpOption hop_limit_option{IP_TTL, IPV6_UNICAST_HOPS};

}  // namespace

Result<void> Socket::set_reuse_address(bool on) noexcept {
  return net::set_option(descriptor_, SOL_SOCKET, SO_REUSEADDR, on ? 1 : 0);
}
Result<bool> Socket::reuse_address() const noexcept {
  return net::option_as<bool>(net::get_option(descriptor_, SOL_SOCKET, SO_REUSEADDR));
}

Result<void> Socket::set_reuse_port(bool on) noexcept {
  return net::set_option(descriptor_, SOL_SOCKET, SO_REUSEPORT, on ? 1 : 0);
}
Result<bool> Socket::reuse_port() const noexcept {
  return net::option_as<bool>(net::get_option(descriptor_, SOL_SOCKET, SO_REUSEPORT));
}

Result<void> Socket::set_ipv6_only(bool on) noexcept {
  return net::set_option(descriptor_, IPPROTO_IPV6, IPV6_V6ONLY, on ? 1 : 0);
}
Result<bool> Socket::ipv6_only() const noexcept {
  return net::option_as<bool>(net::get_option(descriptor_, IPPROTO_IPV6, IPV6_V6ONLY));
}

Result<void> Socket::set_receive_buffer_bytes(std::size_t size_bytes) noexcept {
  return net::set_option(descriptor_, SOL_SOCKET, SO_RCVBUF, clamped(size_bytes));
}
Result<std::size_t> Socket::receive_buffer_bytes() const noexcept {
  return net::option_as<std::size_t>(net::get_option(descriptor_, SOL_SOCKET, SO_RCVBUF));
}

Result<void> Socket::set_send_buffer_bytes(std::size_t size_bytes) noexcept {
  return net::set_option(descriptor_, SOL_SOCKET, SO_SNDBUF, clamped(size_bytes));
}
Result<std::size_t> Socket::send_buffer_bytes() const noexcept {
  return net::option_as<std::size_t>(net::get_option(descriptor_, SOL_SOCKET, SO_SNDBUF));
}

Result<void> Socket::set_traffic_class(std::uint8_t octet) noexcept {
  return net::set_option(descriptor_, traffic_class_option, octet);
}
Result<std::uint8_t> Socket::traffic_class() const noexcept {
  return net::option_as<std::uint8_t>(net::get_option(descriptor_, traffic_class_option));
}

Result<void> Socket::set_hop_limit(std::uint8_t hops) noexcept {
  return net::set_option(descriptor_, hop_limit_option, hops);
}
Result<std::uint8_t> Socket::hop_limit() const noexcept {
  return net::option_as<std::uint8_t>(net::get_option(descriptor_, hop_limit_option));
}

}  // namespace skua
