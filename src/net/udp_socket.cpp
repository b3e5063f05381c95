// SPDX-License-Identifier: MIT
// In: datagrams. Out: datagrams, each whole and with its sender, and one that the caller's room
// cuts is marked. Groups are named by the index of an interface, over IPv4 as over IPv6.
#include <cerrno>
#include <cstring>

#include "net/socket.hpp"

#include "net/problem.hpp"

namespace skua {

Result<UdpSocket, Problem> UdpSocket::open(Address::Family family) {
  const bool is_ip = family == Address::Family::Ipv4 || family == Address::Family::Ipv6;
  Result<Socket> socket = is_ip ? net::create_socket(family, SOCK_DGRAM)
                                : Result<Socket>(Error(Errc::InvalidAddress, "socket"));
  if (!socket) return net::could_not("create", "a UDP socket", socket.error());
  return UdpSocket(*std::move(socket));
}

Result<void, Problem> UdpSocket::connect(const Address& address) {
  if (bsd::connect(descriptor(), address.data(), address.size_bytes()) == 0) return {};
  return net::could_not("connect to", address, net::failure(errno, "connect"));
}

Result<void> UdpSocket::try_send(std::string_view bytes) noexcept {
  if (bsd::send(descriptor(), bytes.data(), bytes.size(), net::no_signal) >= 0) return {};
  return net::failure(errno, "send");
}

Result<void> UdpSocket::send(std::string_view bytes, Duration patience) noexcept {
  return net::repeat(descriptor(), POLLOUT, net::deadline_after(patience),
                     [&] { return try_send(bytes); });
}

Result<void> UdpSocket::try_send_to(const Address& address, std::string_view bytes) noexcept {
  const ssize_t count = bsd::sendto(descriptor(), bytes.data(), bytes.size(), net::no_signal,
                                    address.data(), address.size_bytes());
  if (count >= 0) return {};
  return net::failure(errno, "send");
}

Result<void> UdpSocket::send_to(const Address& address, std::string_view bytes,
                                Duration patience) noexcept {
  return net::repeat(descriptor(), POLLOUT, net::deadline_after(patience),
                     [&] { return try_send_to(address, bytes); });
}

Result<Datagram> UdpSocket::try_receive(std::span<char> room) noexcept {
  sockaddr_storage from{};
  iovec piece{.iov_base = room.data(), .iov_len = room.size()};
  msghdr message{};
  message.msg_name = &from;
  message.msg_namelen = sizeof from;
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  const ssize_t count = bsd::recvmsg(descriptor(), &message, 0);
  if (count < 0) return net::failure(errno, "receive");
  Datagram datagram;
  datagram.size_bytes = static_cast<std::size_t>(count);
  datagram.is_truncated = (message.msg_flags & MSG_TRUNC) != 0;
  datagram.from =
      Address::from_sockaddr(reinterpret_cast<const sockaddr*>(&from), message.msg_namelen);
  return datagram;
}

Result<Datagram> UdpSocket::receive(std::span<char> room, Duration patience) noexcept {
  return net::repeat(descriptor(), POLLIN, net::deadline_after(patience),
                     [&] { return try_receive(room); });
}

Result<void> UdpSocket::set_broadcast(bool on) noexcept {
  return net::set_option(descriptor(), SOL_SOCKET, SO_BROADCAST, on ? 1 : 0);
}

Result<bool> UdpSocket::broadcast() const noexcept {
  return net::option_as<bool>(net::get_option(descriptor(), SOL_SOCKET, SO_BROADCAST));
}

namespace {

enum class Membership : std::uint8_t { Join, Leave };

Result<void> change(int descriptor, const Address& group, std::uint32_t interface_index,
                    Membership change) noexcept {
  if (!group.is_multicast()) return Error(Errc::InvalidAddress, "multicast");
  group_req request{};
  request.gr_interface = interface_index != 0 ? interface_index : group.scope_id();
  std::memcpy(&request.gr_group, group.data(), group.size_bytes());
  return net::set_option(
      descriptor, group.family() == Address::Family::Ipv4 ? IPPROTO_IP : IPPROTO_IPV6,
      change == Membership::Join ? MCAST_JOIN_GROUP : MCAST_LEAVE_GROUP, &request, sizeof request);
}

constexpr net::IpOption hops_option{IP_MULTICAST_TTL, IPV6_MULTICAST_HOPS};
constexpr net::IpOption loop_option{IP_MULTICAST_LOOP, IPV6_MULTICAST_LOOP};

}  // namespace

// RFC 3678 §5.1: one interface for both families.
Result<void, Problem> UdpSocket::join(const Address& group, std::uint32_t interface_index) {
  const auto joined = change(descriptor(), group, interface_index, Membership::Join);
  if (!joined) return net::could_not("join", group, joined.error());
  return {};
}

Result<void, Problem> UdpSocket::leave(const Address& group, std::uint32_t interface_index) {
  const auto left = change(descriptor(), group, interface_index, Membership::Leave);
  if (!left) return net::could_not("leave", group, left.error());
  return {};
}

Result<void> UdpSocket::set_multicast_interface(std::uint32_t interface_index) noexcept {
  if (bsd::is_ipv6(descriptor())) {
    const auto index = static_cast<int>(interface_index);
    return net::set_option(descriptor(), IPPROTO_IPV6, IPV6_MULTICAST_IF, index);
  }
  if (bsd::set_ipv4_multicast_interface(descriptor(), interface_index) == 0) return {};
  return net::failure(errno, "setsockopt");
}

Result<void> UdpSocket::set_multicast_hops(std::uint8_t hops) noexcept {
  return net::set_option(descriptor(), hops_option, hops);
}
Result<std::uint8_t> UdpSocket::multicast_hops() const noexcept {
  return net::option_as<std::uint8_t>(net::get_option(descriptor(), hops_option));
}

Result<void> UdpSocket::set_multicast_loop(bool on) noexcept {
  return net::set_option(descriptor(), loop_option, on ? 1 : 0);
}
Result<bool> UdpSocket::multicast_loop() const noexcept {
  return net::option_as<bool>(net::get_option(descriptor(), loop_option));
}

}  // namespace skua
