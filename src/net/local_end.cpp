// SPDX-License-Identifier: MIT
// In: the name of an interface, or an address. Out: sockets that are bound to it.
#include "net/local_end.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "net/problem.hpp"
#include "net/socket.hpp"

namespace skua::net {
namespace {

// Linux; since 5.7 without privileges, for sockets that are not bound yet.
bool bind_to_device([[maybe_unused]] int descriptor,
                    [[maybe_unused]] const std::string& device) noexcept {
#if defined(SO_BINDTODEVICE)
  const auto size_bytes = static_cast<socklen_t>(device.size());
  return set_option(descriptor, SOL_SOCKET, SO_BINDTODEVICE, device.data(), size_bytes).has_value();
#else
  return false;
#endif
}

// The port is chosen by connect(), so that only equal connections compete for it. ip(7)
void choose_port_late([[maybe_unused]] int descriptor) noexcept {
#if defined(IP_BIND_ADDRESS_NO_PORT)
  static_cast<void>(set_option(descriptor, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, 1));
#endif
}

Result<void> bind_to_address(int descriptor, const Address& address) noexcept {
  choose_port_late(descriptor);
  if (bsd::bind(descriptor, address.data(), address.size_bytes()) == 0) return {};
  return failure(errno, "bind");
}

Problem unknown(const std::string& name) {
  return could_not("connect from '" + name + "'", Error(Errc::AddressUnavailable, "bind"),
                   "this machine has no such network interface or address");
}

}  // namespace

Result<LocalEnd, Problem> LocalEnd::find(const std::string& name) {
  LocalEnd found;
  if (const Result<Address> address = Address::parse(name, 0)) {
    const Result<Socket> probe = create_socket(address->family());
    if (!probe) return could_not("connect from '" + name + "'", probe.error());
    if (!bind_to_address(probe->descriptor(), *address)) return unknown(name);
    found.addresses_.push_back(*address);
    return found;
  }
  Result<std::vector<NetworkInterface>> all = network_interfaces();
  if (!all) return could_not("list the network interfaces", all.error());
  const auto own = std::ranges::find(*all, name, &NetworkInterface::name);
  if (own == all->end()) return unknown(name);
  found.device_ = std::move(own->name);
  found.addresses_ = std::move(own->addresses);
  return found;
}

// A link-local address reaches its own link only, and nothing else reaches it there. RFC 4291
// §2.5.6
const Address* LocalEnd::address_for(const Address& peer) const noexcept {
  const auto fits = [&peer](const Address& own) {
    return own.family() == peer.family() && own.is_link_local() == peer.is_link_local();
  };
  const auto found = std::ranges::find_if(addresses_, fits);
  if (found != addresses_.end()) return &*found;
  const bool is_single = device_.empty() && addresses_.front().family() == peer.family();
  return is_single ? addresses_.data() : nullptr;
}

Result<void> LocalEnd::bind(const Socket& socket, const Address& peer) const noexcept {
  if (!peer.is_ip()) return {};
  if (!device_.empty() && bind_to_device(socket.descriptor(), device_)) return {};
  const Address* const own = address_for(peer);
  if (own == nullptr) return Error(Errc::AddressUnavailable, "bind");
  return bind_to_address(socket.descriptor(), *own);
}

}  // namespace skua::net
