// SPDX-License-Identifier: MIT
// In: numeric text, or a sockaddr from the system. Out: a sockaddr that knows its size, or text.
// Names are never resolved here, so parsing cannot block. Only to_string() allocates.
#include "skua/address.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstring>
#include <optional>

#include "loop/sockets.hpp"

namespace skua {
namespace {

constexpr Error invalid{Errc::InvalidAddress, "address"};
constexpr std::size_t path_offset = offsetof(sockaddr_un, sun_path);
constexpr std::string_view unix_prefix = "unix:";
constexpr char abstract_sign = '@';

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
  void put(std::uint64_t value) noexcept {
    std::array<char, 20> digits;
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

/// An abstract name may contain any bytes: NULs are shown as the sign, too.
void put_unix(Writer& out, std::string_view path, std::string_view abstract_name) noexcept {
  out.put(path);
  if (abstract_name.empty()) return;
  out.put(std::string_view(&abstract_sign, 1));
  for (const char& c : abstract_name) out.put(std::string_view(c != '\0' ? &c : &abstract_sign, 1));
}

}  // namespace

template <class Sockaddr>
Sockaddr& Address::as() noexcept {
  static_assert(sizeof(Sockaddr) <= sizeof storage_);
  return *reinterpret_cast<Sockaddr*>(storage_.data());
}

template <class Sockaddr>
const Sockaddr& Address::as() const noexcept {
  return *reinterpret_cast<const Sockaddr*>(storage_.data());
}

Result<Address> Address::parse(std::string_view host, std::uint16_t port) noexcept {
  if (host.size() >= 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
    if (host.find(':') == std::string_view::npos) return invalid;
  }
  if (host.find(':') == std::string_view::npos) {
    const auto text = c_text(host);
    Address out = any(Family::Ipv4, port);
    if (!text || ::inet_pton(AF_INET, text->data(), &out.as<sockaddr_in>().sin_addr) != 1) {
      return invalid;
    }
    return out;
  }
  const std::size_t percent = std::min(host.find('%'), host.size());
  const auto text = c_text(host.substr(0, percent));
  Address out = any(Family::Ipv6, port);
  auto& ipv6 = out.as<sockaddr_in6>();
  if (!text || ::inet_pton(AF_INET6, text->data(), &ipv6.sin6_addr) != 1) return invalid;
  if (percent < host.size()) {
    const auto zone = zone_index(host.substr(percent + 1));
    if (!zone) return invalid;
    ipv6.sin6_scope_id = *zone;
  }
  return out;
}

Result<Address> Address::parse(std::string_view text) noexcept {
  if (text.starts_with(unix_prefix)) {
    const std::string_view path = text.substr(unix_prefix.size());
    return path.starts_with(abstract_sign) ? unix_abstract(path.substr(1)) : unix_path(path);
  }
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
  auto& local = out.as<sockaddr_un>();
  if (path.empty() || path.size() >= sizeof local.sun_path) return invalid;
  if (path.find('\0') != std::string_view::npos) return invalid;
  local.sun_family = AF_UNIX;
  std::copy(path.begin(), path.end(), local.sun_path);
  out.size_bytes_ = static_cast<std::uint32_t>(path_offset + path.size() + 1);
  return out;
}

Result<Address> Address::unix_abstract(std::string_view name) noexcept {
#if defined(__linux__)
  Address out;
  auto& local = out.as<sockaddr_un>();
  if (name.empty() || name.size() >= sizeof local.sun_path) return invalid;
  if (name.find('\0') != std::string_view::npos) return invalid;
  local.sun_family = AF_UNIX;
  std::copy(name.begin(), name.end(), local.sun_path + 1);
  out.size_bytes_ = static_cast<std::uint32_t>(path_offset + 1 + name.size());
  return out;
#else
  return name.empty() ? invalid : Error(Errc::Unsupported, "abstract Unix address");
#endif
}

Address Address::any(Family family, std::uint16_t port) noexcept {
  Address out;
  if (family == Family::Ipv4) {
    auto& ipv4 = out.as<sockaddr_in>();
    ipv4.sin_family = AF_INET;
    ipv4.sin_port = htons(port);
#if defined(SIN6_LEN)  // RFC 2553 §3.4: on the BSDs addresses have a length, which group_req needs
    ipv4.sin_len = sizeof ipv4;
#endif
    out.size_bytes_ = sizeof ipv4;
  } else if (family == Family::Ipv6) {
    auto& ipv6 = out.as<sockaddr_in6>();
    ipv6.sin6_family = AF_INET6;
    ipv6.sin6_port = htons(port);
#if defined(SIN6_LEN)
    ipv6.sin6_len = sizeof ipv6;
#endif
    out.size_bytes_ = sizeof ipv6;
  }
  return out;
}

Address Address::loopback(Family family, std::uint16_t port) noexcept {
  Address out = any(family, port);
  if (family == Family::Ipv4) out.as<sockaddr_in>().sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (family == Family::Ipv6) out.as<sockaddr_in6>().sin6_addr = in6addr_loopback;
  return out;
}

Address Address::from_ip_bytes(Bytes bytes, std::uint16_t port) noexcept {
  if (bytes.size() != sizeof(in_addr) && bytes.size() != sizeof(in6_addr)) return {};
  const bool is_ipv4 = bytes.size() == sizeof(in_addr);
  Address out = any(is_ipv4 ? Family::Ipv4 : Family::Ipv6, port);
  void* const ip = is_ipv4 ? static_cast<void*>(&out.as<sockaddr_in>().sin_addr)
                           : static_cast<void*>(&out.as<sockaddr_in6>().sin6_addr);
  std::memcpy(ip, bytes.data(), bytes.size());
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
  if (expected == 0 || size_bytes < expected || size_bytes > sizeof(sockaddr_un)) return out;
#if !defined(__linux__)
  // Other systems have no abstract addresses; a Unix socket without a name has zeros.
  const bool is_unnamed = expected == path_offset && size_bytes > path_offset &&
                          reinterpret_cast<const sockaddr_un*>(address)->sun_path[0] == '\0';
  if (is_unnamed) size_bytes = path_offset;
#endif
  std::memcpy(out.storage_.data(), address, size_bytes);
  out.size_bytes_ = static_cast<std::uint32_t>(size_bytes);
  return out;
}

Address::Family Address::family() const noexcept {
  switch (data()->sa_family) {
    case AF_INET: return Family::Ipv4;
    case AF_INET6: return Family::Ipv6;
    case AF_UNIX: return Family::Unix;
    default: return Family::None;
  }
}

bool Address::is_loopback() const noexcept {
  switch (family()) {
    case Family::Ipv4: return ntohl(as<sockaddr_in>().sin_addr.s_addr) >> 24 == 127;
    case Family::Ipv6: return IN6_IS_ADDR_LOOPBACK(&as<sockaddr_in6>().sin6_addr);
    case Family::Unix: return true;
    case Family::None: break;
  }
  return false;
}

bool Address::is_any() const noexcept { return is_ip() && *this == any(family(), port()); }

bool Address::is_multicast() const noexcept {
  if (family() == Family::Ipv4) return IN_MULTICAST(ntohl(as<sockaddr_in>().sin_addr.s_addr));
  return family() == Family::Ipv6 && IN6_IS_ADDR_MULTICAST(&as<sockaddr_in6>().sin6_addr);
}

bool Address::is_link_local() const noexcept {
  return family() == Family::Ipv6 && IN6_IS_ADDR_LINKLOCAL(&as<sockaddr_in6>().sin6_addr);
}

Address Address::unmapped() const noexcept {
  if (family() != Family::Ipv6) return *this;
  const auto& ipv6 = as<sockaddr_in6>();
  if (!IN6_IS_ADDR_V4MAPPED(&ipv6.sin6_addr)) return *this;
  Address out = any(Family::Ipv4, port());
  std::memcpy(&out.as<sockaddr_in>().sin_addr, ipv6.sin6_addr.s6_addr + 12, 4);
  return out;
}

Bytes Address::ip_bytes() const noexcept {
  if (family() == Family::Ipv4) return std::as_bytes(std::span(&as<sockaddr_in>().sin_addr, 1));
  if (family() == Family::Ipv6) return std::as_bytes(std::span(&as<sockaddr_in6>().sin6_addr, 1));
  return {};
}

std::uint16_t Address::port() const noexcept {
  if (family() == Family::Ipv4) return ntohs(as<sockaddr_in>().sin_port);
  return family() == Family::Ipv6 ? ntohs(as<sockaddr_in6>().sin6_port) : std::uint16_t{0};
}

Address Address::with_port(std::uint16_t port) const noexcept {
  Address out = *this;
  if (family() == Family::Ipv4) out.as<sockaddr_in>().sin_port = htons(port);
  if (family() == Family::Ipv6) out.as<sockaddr_in6>().sin6_port = htons(port);
  return out;
}

std::uint32_t Address::scope_id() const noexcept {
  return family() == Family::Ipv6 ? as<sockaddr_in6>().sin6_scope_id : 0;
}

std::string_view Address::unix_bytes() const noexcept {
  if (family() != Family::Unix || size_bytes_ <= path_offset) return {};
  return {as<sockaddr_un>().sun_path, size_bytes_ - path_offset};
}

std::string_view Address::path() const noexcept {
  const std::string_view all = unix_bytes();
  return all.substr(0, all.find('\0'));
}

std::string_view Address::abstract_name() const noexcept {
  const std::string_view all = unix_bytes();
  return all.starts_with('\0') ? all.substr(1) : std::string_view();
}

std::string_view Address::format(std::span<char> buffer) const noexcept {
  Writer out(buffer);
  switch (family()) {
    case Family::Ipv4: put_ipv4(out, as<sockaddr_in>()); break;
    case Family::Ipv6:
      out.put("[");
      put_ipv6(out, as<sockaddr_in6>());
      out.put("]");
      break;
    case Family::Unix:
      out.put(unix_prefix);
      put_unix(out, path(), abstract_name());
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
    case Family::Ipv4: put_ipv4(out, as<sockaddr_in>()); break;
    case Family::Ipv6: put_ipv6(out, as<sockaddr_in6>()); break;
    case Family::Unix: put_unix(out, path(), abstract_name()); break;
    case Family::None: break;
  }
  return out.text();
}

std::string Address::to_string() const {
  std::array<char, max_text_bytes> buffer;
  return std::string(format(buffer));
}

std::size_t Address::hash() const noexcept {
  // Only what counts in a comparison: not sin_zero, nor a flow label.
  std::array<char, sizeof(in6_addr) + sizeof(std::uint16_t) + sizeof(std::uint32_t)> bytes{};
  const std::uint16_t port = this->port();
  const std::uint32_t scope = scope_id();
  switch (family()) {
    case Family::Ipv4:
      std::memcpy(bytes.data(), &as<sockaddr_in>().sin_addr, sizeof(in_addr));
      break;
    case Family::Ipv6:
      std::memcpy(bytes.data(), &as<sockaddr_in6>().sin6_addr, sizeof(in6_addr));
      break;
    case Family::Unix: return std::hash<std::string_view>()(path().empty() ? unix_bytes() : path());
    case Family::None: break;
  }
  std::memcpy(bytes.data() + sizeof(in6_addr), &port, sizeof port);
  std::memcpy(bytes.data() + sizeof(in6_addr) + sizeof port, &scope, sizeof scope);
  return std::hash<std::string_view>()({bytes.data(), bytes.size()});
}

std::strong_ordering operator<=>(const Address& a, const Address& b) noexcept {
  if (const auto order = a.family() <=> b.family(); order != 0) return order;
  int difference = 0;
  switch (a.family()) {
    case Address::Family::Ipv4:
      difference = std::memcmp(&a.as<sockaddr_in>().sin_addr, &b.as<sockaddr_in>().sin_addr,
                               sizeof(in_addr));
      break;
    case Address::Family::Ipv6:
      difference = std::memcmp(&a.as<sockaddr_in6>().sin6_addr, &b.as<sockaddr_in6>().sin6_addr,
                               sizeof(in6_addr));
      break;
    case Address::Family::Unix:
      if (const auto order = a.path() <=> b.path(); order != 0) return order;
      return a.abstract_name() <=> b.abstract_name();
    case Address::Family::None: break;
  }
  if (difference != 0) return difference <=> 0;
  if (const auto order = a.port() <=> b.port(); order != 0) return order;
  return a.scope_id() <=> b.scope_id();
}

}  // namespace skua
