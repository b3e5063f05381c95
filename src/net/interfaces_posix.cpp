// SPDX-License-Identifier: MIT
// In: nothing. Out: the machine's network interfaces, as the operating system lists them: one entry
// per address, and one without an address that others can use.
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <memory>

#include "skua/address.hpp"

namespace skua {
namespace {

NetworkInterface& find_or_add(std::vector<NetworkInterface>& all, const ifaddrs& entry) {
  const auto known = std::ranges::find(all, entry.ifa_name, &NetworkInterface::name);
  if (known != all.end()) return *known;
  NetworkInterface& added = all.emplace_back();
  added.name = entry.ifa_name;
  added.index = ::if_nametoindex(entry.ifa_name);
  added.is_up = (entry.ifa_flags & IFF_UP) != 0;
  added.is_loopback = (entry.ifa_flags & IFF_LOOPBACK) != 0;
  added.has_multicast = (entry.ifa_flags & IFF_MULTICAST) != 0;
  return added;
}

}  // namespace

Result<std::vector<NetworkInterface>> network_interfaces() {
  ifaddrs* first = nullptr;
  if (::getifaddrs(&first) != 0) return Error::from_system(errno, "getifaddrs");
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owner(first, ::freeifaddrs);
  std::vector<NetworkInterface> all;
  for (const ifaddrs* entry = first; entry != nullptr; entry = entry->ifa_next) {
    NetworkInterface& interface = find_or_add(all, *entry);
    if (entry->ifa_addr == nullptr) continue;
    const bool is_ipv4 = entry->ifa_addr->sa_family == AF_INET;
    const std::size_t size_bytes = is_ipv4 ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
    const Address address = Address::from_sockaddr(entry->ifa_addr, size_bytes);
    if (address.is_ip()) interface.addresses.push_back(address);
  }
  return all;
}

}  // namespace skua
