// SPDX-License-Identifier: MIT
// In: nothing. Out: the machine's network adapters, which Windows lists with their addresses. The
// name is the one that people give an adapter: "Ethernet 2".
#include <cerrno>
#include <memory>

#include "base/system_text.hpp"
#include "base/wide_text.hpp"
#include "loop/sockets.hpp"
#include "skua/address.hpp"

// After the headers that it needs.
#include <iphlpapi.h>

namespace skua {
namespace {

NetworkInterface converted(const IP_ADAPTER_ADDRESSES& adapter) {
  NetworkInterface made;
  made.name = base::narrow(adapter.FriendlyName);
  made.index = adapter.IfIndex != 0 ? adapter.IfIndex : adapter.Ipv6IfIndex;
  made.is_up = adapter.OperStatus == IfOperStatusUp;
  made.is_loopback = adapter.IfType == IF_TYPE_SOFTWARE_LOOPBACK;
  made.has_multicast = (adapter.Flags & IP_ADAPTER_NO_MULTICAST) == 0;
  for (const auto* next = adapter.FirstUnicastAddress; next != nullptr; next = next->Next) {
    const Address address = Address::from_sockaddr(
        next->Address.lpSockaddr, static_cast<std::size_t>(next->Address.iSockaddrLength));
    if (address.is_ip()) made.addresses.push_back(address);
  }
  return made;
}

}  // namespace

Result<std::vector<NetworkInterface>> network_interfaces() {
  constexpr ULONG flags =
      GAA_FLAG_SKIP_ANYCAST | GAA_FLAG_SKIP_MULTICAST | GAA_FLAG_SKIP_DNS_SERVER;
  ULONG size_bytes = 16 * 1024;
  std::unique_ptr<std::max_align_t[]> memory;
  IP_ADAPTER_ADDRESSES* first = nullptr;
  ULONG failure = ERROR_BUFFER_OVERFLOW;
  for (int tries = 0; tries < 4 && failure == ERROR_BUFFER_OVERFLOW; ++tries) {
    // Each try is told the size that is needed at that moment.
    memory = std::make_unique_for_overwrite<std::max_align_t[]>(
        size_bytes / sizeof(std::max_align_t) + 1);
    first = reinterpret_cast<IP_ADAPTER_ADDRESSES*>(memory.get());
    failure = ::GetAdaptersAddresses(AF_UNSPEC, flags, nullptr, first, &size_bytes);
  }
  std::vector<NetworkInterface> all;
  if (failure == ERROR_NO_DATA) return all;
  if (failure != 0) {
    return Error::from_system(base::errno_of(failure), "GetAdaptersAddresses");
  }
  for (const auto* adapter = first; adapter != nullptr; adapter = adapter->Next) {
    all.push_back(converted(*adapter));
  }
  return all;
}

}  // namespace skua
