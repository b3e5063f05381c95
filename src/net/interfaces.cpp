// SPDX-License-Identifier: MIT
// In: nothing. Out: the machine's own name and addresses, as the operating system reports them.
#include "net/interfaces.hpp"

#include <ifaddrs.h>
#include <net/if.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <memory>

namespace skua::net {
namespace {

bool is_link_local(const sockaddr& address) noexcept {
  return address.sa_family == AF_INET6 &&
         IN6_IS_ADDR_LINKLOCAL(&reinterpret_cast<const sockaddr_in6&>(address).sin6_addr);
}

std::size_t size_of(const sockaddr& address) noexcept {
  return address.sa_family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
}

}  // namespace

std::vector<Address> interface_addresses() {
  ifaddrs* raw = nullptr;
  if (::getifaddrs(&raw) != 0) return {};
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> all(raw, ::freeifaddrs);
  std::vector<Address> found;
  for (const ifaddrs* next = all.get(); next != nullptr; next = next->ifa_next) {
    if (next->ifa_addr == nullptr || (next->ifa_flags & IFF_UP) == 0) continue;
    const sockaddr& raw_address = *next->ifa_addr;
    if (raw_address.sa_family != AF_INET && raw_address.sa_family != AF_INET6) continue;
    const Address address = Address::from_sockaddr(&raw_address, size_of(raw_address));
    if (address.is_loopback() || is_link_local(raw_address)) continue;
    if (std::ranges::find(found, address) == found.end()) found.push_back(address);
  }
  return found;
}

std::string host_name() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return {};
  return name.data();
}

}  // namespace skua::net
