// SPDX-License-Identifier: MIT
// In: numeric text, or a sockaddr from the system. Out: a sockaddr that knows its size, or text.
// Names are never resolved here, so parsing cannot block. Only to_string() allocates.
#include "net/address.hpp"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstring>
#include <memory>
#include <optional>

namespace skua::net {
namespace {

constexpr Error invalid{Errc::InvalidAddress, "address"};
constexpr std::size_t path_offset = offsetof(sockaddr_un, sun_path);
constexpr std::string_view unix_prefix = "unix:";

/// NUL-terminated text, as inet_pton expects it.
using CText = std::array<char, INET6_ADDRSTRLEN>;

std::optional<CText> c_text(std::string_view text) noexcept {
  CText out{};
  if (text.empty() || text.size() >= out.size()) return std::nullopt;
  if (text.find('\0') != std::string_view::npos) return std::nullopt;
  std::copy(text.begin(), text.end(), out.begin());
  return out;
}

template <class T>
std::optional<T> number(std::string_view text) noexcept {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

/// Parses a network interface, `eth0` or `2`, and returns its index. RFC 4007 §11.
std::optional<std::uint32_t> zone_index(std::string_view zone) noexcept {
  if (const auto index = number<std::uint32_t>(zone)) return index;
  std::array<char, IF_NAMESIZE> name{};
  if (zone.empty() || zone.size() >= name.size()) return std::nullopt;
  std::copy(zone.begin(), zone.end(), name.begin());
  const unsigned index = ::if_nametoindex(name.data());
  return index != 0 ? std::optional<std::uint32_t>(index) : std::nullopt;
}

/// Writes into a buffer and truncates what does not fit.
class Writer {
 public:
  explicit Writer(std::span<char> buffer) noexcept : buffer_(buffer) {}
  void put(std::string_view text) noexcept {
    const std::size_t count = std::min(text.size(), buffer_.size() - used_);
    std::copy_n(text.data(), count, buffer_.data() + used_);
    used_ += count;
  }
  void put(std::uint32_t value) noexcept {
    std::array<char, 10> digits;
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
    put({digits.data(), static_cast<std::size_t>(end - digits.data())});
  }
  [[nodiscard]] std::string_view text() const noexcept { return {buffer_.data(), used_}; }

 private:
  std::span<char> buffer_;
  std::size_t used_ = 0;
};

void put_ipv6(Writer& out, const sockaddr_in6& address) noexcept {
  CText text{};
  ::inet_ntop(AF_INET6, &address.sin6_addr, text.data(), text.size());
  out.put(text.data());
  if (address.sin6_scope_id == 0) return;
  out.put("%");
  std::array<char, IF_NAMESIZE> name{};
  if (::if_indextoname(address.sin6_scope_id, name.data()) != nullptr) {
    out.put(name.data());
  } else {
    out.put(address.sin6_scope_id);
  }
}

void put_ipv4(Writer& out, const sockaddr_in& address) noexcept {
  CText text{};
  ::inet_ntop(AF_INET, &address.sin_addr, text.data(), text.size());
  out.put(text.data());
}

}  // namespace

Address::Address() noexcept : unix_{} { base_.sa_family = AF_UNSPEC; }

Result<Address> Address::parse(std::string_view host, std::uint16_t port) noexcept {
  Address out;
  if (host.size() >= 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
    if (host.find(':') == std::string_view::npos) return invalid;
  }
  if (host.find(':') == std::string_view::npos) {
    const auto text = c_text(host);
    if (!text || ::inet_pton(AF_INET, text->data(), &out.ipv4_.sin_addr) != 1) return invalid;
    out.ipv4_.sin_family = AF_INET;
    out.ipv4_.sin_port = htons(port);
    out.size_bytes_ = sizeof out.ipv4_;
    return out;
  }
  const std::size_t percent = std::min(host.find('%'), host.size());
  const auto text = c_text(host.substr(0, percent));
  if (!text || ::inet_pton(AF_INET6, text->data(), &out.ipv6_.sin6_addr) != 1) return invalid;
  if (percent < host.size()) {
    const auto zone = zone_index(host.substr(percent + 1));
    if (!zone) return invalid;
    out.ipv6_.sin6_scope_id = *zone;
  }
  out.ipv6_.sin6_family = AF_INET6;
  out.ipv6_.sin6_port = htons(port);
  out.size_bytes_ = sizeof out.ipv6_;
  return out;
}

Result<Address> Address::parse(std::string_view text) noexcept {
  if (text.starts_with(unix_prefix)) return unix_path(text.substr(unix_prefix.size()));
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return invalid;
  const std::string_view host = text.substr(0, colon);
  const auto port = number<std::uint16_t>(text.substr(colon + 1));
  // Without brackets, the last group of an IPv6 address would be taken for a port.
  if (!port || (host.find(':') != std::string_view::npos && !host.starts_with('['))) return invalid;
  return parse(host, *port);
}

Result<Address> Address::unix_path(std::string_view path) noexcept {
  Address out;
  if (path.empty() || path.size() >= sizeof out.unix_.sun_path) return invalid;
  if (path.find('\0') != std::string_view::npos) return invalid;
  out.unix_.sun_family = AF_UNIX;
  std::copy(path.begin(), path.end(), out.unix_.sun_path);
  out.size_bytes_ = static_cast<socklen_t>(path_offset + path.size() + 1);
  return out;
}

Address Address::from_sockaddr(const sockaddr* address, std::size_t size_bytes) noexcept {
  Address out;
  std::size_t expected = 0;
  if (size_bytes >= sizeof(sa_family_t)) {
    switch (address->sa_family) {
      case AF_INET: expected = sizeof(sockaddr_in); break;
      case AF_INET6: expected = sizeof(sockaddr_in6); break;
      case AF_UNIX: expected = path_offset; break;
      default: break;
    }
  }
  if (expected == 0 || size_bytes < expected || size_bytes > sizeof out.unix_) return out;
  std::memcpy(&out.unix_, address, size_bytes);
  out.size_bytes_ = static_cast<socklen_t>(size_bytes);
  return out;
}

Address::Family Address::family() const noexcept {
  switch (base_.sa_family) {
    case AF_INET: return Family::Ipv4;
    case AF_INET6: return Family::Ipv6;
    case AF_UNIX: return Family::Unix;
    default: return Family::None;
  }
}

bool Address::is_loopback() const noexcept {
  switch (family()) {
    case Family::Ipv4: return ntohl(ipv4_.sin_addr.s_addr) >> 24 == 127;
    case Family::Ipv6: return IN6_IS_ADDR_LOOPBACK(&ipv6_.sin6_addr);
    case Family::Unix: return true;
    case Family::None: break;
  }
  return false;
}

std::uint16_t Address::port() const noexcept {
  if (family() == Family::Ipv4) return ntohs(ipv4_.sin_port);
  return family() == Family::Ipv6 ? ntohs(ipv6_.sin6_port) : std::uint16_t{0};
}

Address Address::with_port(std::uint16_t port) const noexcept {
  Address out = *this;
  if (family() == Family::Ipv4) out.ipv4_.sin_port = htons(port);
  if (family() == Family::Ipv6) out.ipv6_.sin6_port = htons(port);
  return out;
}

std::string_view Address::path() const noexcept {
  if (family() != Family::Unix || size_bytes_ <= path_offset) return {};
  const std::string_view all(unix_.sun_path, size_bytes_ - path_offset);
  return all.substr(0, all.find('\0'));  // an abstract name (Linux) has no path
}

std::string_view Address::format(std::span<char> buffer) const noexcept {
  Writer out(buffer);
  switch (family()) {
    case Family::Ipv4: put_ipv4(out, ipv4_); break;
    case Family::Ipv6:
      out.put("[");
      put_ipv6(out, ipv6_);
      out.put("]");
      break;
    case Family::Unix:
      out.put(unix_prefix);
      out.put(path());
      break;
    case Family::None: break;
  }
  if (is_ip()) {
    out.put(":");
    out.put(std::uint32_t{port()});
  }
  return out.text();
}

std::string_view Address::format_host(std::span<char> buffer) const noexcept {
  Writer out(buffer);
  switch (family()) {
    case Family::Ipv4: put_ipv4(out, ipv4_); break;
    case Family::Ipv6: put_ipv6(out, ipv6_); break;
    case Family::Unix: out.put(path()); break;
    case Family::None: break;
  }
  return out.text();
}

std::string Address::to_string() const {
  std::array<char, max_text_bytes> buffer;
  return std::string(format(buffer));
}

bool operator==(const Address& a, const Address& b) noexcept {
  if (a.family() != b.family()) return false;
  switch (a.family()) {
    case Address::Family::Ipv4:
      return a.ipv4_.sin_port == b.ipv4_.sin_port &&
             a.ipv4_.sin_addr.s_addr == b.ipv4_.sin_addr.s_addr;
    case Address::Family::Ipv6:
      return a.ipv6_.sin6_port == b.ipv6_.sin6_port &&
             a.ipv6_.sin6_scope_id == b.ipv6_.sin6_scope_id &&
             IN6_ARE_ADDR_EQUAL(&a.ipv6_.sin6_addr, &b.ipv6_.sin6_addr);
    case Address::Family::Unix:
      return a.size_bytes_ == b.size_bytes_ &&
             std::memcmp(a.unix_.sun_path, b.unix_.sun_path, a.size_bytes_ - path_offset) == 0;
    case Address::Family::None: break;
  }
  return true;
}

// In: nothing. Out: the machine's own name and addresses, as the operating system reports them.

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
