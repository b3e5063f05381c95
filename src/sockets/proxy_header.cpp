// SPDX-License-Identifier: MIT
// In: the first bytes of a connection from a proxy. Out: the addresses that they name; and back.
//
// Version 1:  PROXY TCP4 192.0.2.1 192.0.2.2 50123 443\r\n
// Version 2:  \r\n\r\n\0\r\nQUIT\n   2|command   family|transport   length   addresses, TLVs
//             0                      12          13                 14       16
#include "sockets/proxy_header.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <span>
#include <system_error>

#include "base/ip_text.hpp"
#include "skua/bytes.hpp"

namespace skua::sockets {
namespace {

using Reading = Result<std::optional<ProxyHeader>>;

constexpr Error malformed(const char* part) noexcept { return {Errc::MalformedProxyHeader, part}; }

bool may_begin_with(std::string_view bytes, std::string_view wanted) noexcept {
  const std::size_t count = std::min(bytes.size(), wanted.size());
  return bytes.substr(0, count) == wanted.substr(0, count);
}

// Version 1 ---------------------------------------------------------------------------------------

constexpr std::string_view text_begin = "PROXY ";
constexpr std::size_t max_text_bytes = 107;  // with the line end

std::string_view take_word(std::string_view& words) noexcept {
  const std::size_t end = std::min(words.find(' '), words.size());
  const std::string_view word = words.substr(0, end);
  words.remove_prefix(std::min(end + 1, words.size()));
  return word;
}

std::optional<std::uint16_t> read_port(std::string_view text) noexcept {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if (text.size() > 1 && text.front() == '0') return std::nullopt;
  return port;
}

std::optional<Address> read_address(bool is_ipv6, std::string_view host,
                                    std::string_view port_text) noexcept {
  const auto port = read_port(port_text);
  if (!port) return std::nullopt;
  if (!is_ipv6) {
    const auto octets = parse_ipv4(host);
    if (!octets) return std::nullopt;
    return Address::from_ip_bytes(std::as_bytes(std::span(*octets)), *port);
  }
  const auto groups = parse_ipv6(host);
  if (!groups) return std::nullopt;
  std::array<std::uint8_t, 16> octets{};
  for (std::size_t i = 0; i < octets.size(); ++i) {
    octets[i] = static_cast<std::uint8_t>((*groups)[i / 2] >> (i % 2 == 0 ? 8U : 0U));
  }
  return Address::from_ip_bytes(std::as_bytes(std::span(octets)), *port);
}

Reading read_words(std::string_view words, std::size_t size_bytes) noexcept {
  ProxyHeader header{.size_bytes = size_bytes};
  const std::string_view family = take_word(words);
  if (family == "UNKNOWN") return header;  // what follows is to be ignored
  if (family != "TCP4" && family != "TCP6") return malformed("the protocol");
  const bool is_ipv6 = family == "TCP6";
  const std::string_view client = take_word(words);
  const std::string_view server = take_word(words);
  const std::string_view client_port = take_word(words);
  const auto from = read_address(is_ipv6, client, client_port);
  const auto to = read_address(is_ipv6, server, words);
  if (!from || !to) return malformed("an address");
  header.client = *from;
  header.server = *to;
  return header;
}

Reading read_text(std::string_view bytes) noexcept {
  const std::string_view line = bytes.substr(0, max_text_bytes);
  const std::size_t end = line.find_first_of("\r\n");
  const bool is_complete = end < line.size() && line.substr(end).starts_with("\r\n");
  if (!is_complete) {
    const bool may_follow =
        line.size() < max_text_bytes && (end == line.npos || line.substr(end) == "\r");
    if (!may_follow) return malformed("the end of the line");
    return std::nullopt;
  }
  return read_words(line.substr(0, end).substr(text_begin.size()), end + 2);
}

// Version 2 ---------------------------------------------------------------------------------------

constexpr std::string_view signature("\r\n\r\n\0\r\nQUIT\n", 12);
constexpr std::size_t head_bytes = 16;
constexpr std::size_t ports_bytes = 4;
constexpr std::size_t unix_addresses_bytes = 216;

constexpr unsigned local_command = 0;
constexpr unsigned proxy_command = 1;
constexpr unsigned no_family = 0;
constexpr unsigned inet_family = 1;
constexpr unsigned inet6_family = 2;
constexpr unsigned unix_family = 3;
constexpr unsigned no_transport = 0;
constexpr unsigned stream_transport = 1;
constexpr unsigned datagram_transport = 2;
constexpr unsigned checksum_type = 0x03;
constexpr unsigned tls_type = 0x20;
constexpr unsigned client_uses_tls = 1;
constexpr std::size_t tlv_head_bytes = 3;
constexpr std::size_t least_tls_bytes = 5;

unsigned octet(std::string_view bytes, std::size_t at) noexcept {
  return static_cast<unsigned char>(bytes[at]);
}

unsigned two_octets(std::string_view bytes, std::size_t at) noexcept {
  return octet(bytes, at) << 8U | octet(bytes, at + 1);
}

// CRC-32C of a header whose checksum, at `at`, counts as zeros. RFC 3720 appendix B.4
std::uint32_t checksum(std::string_view header, std::size_t at) noexcept {
  constexpr std::uint32_t polynomial = 0x82f63b78;
  std::uint32_t crc = ~std::uint32_t{0};
  for (std::size_t i = 0; i < header.size(); ++i) {
    const bool is_checksum = i >= at && i < at + 4;
    crc ^= is_checksum ? 0U : octet(header, i);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1U ^ ((crc & 1U) != 0 ? polynomial : 0U);
  }
  return ~crc;
}

Reading read_tlvs(std::string_view whole, std::size_t at, ProxyHeader header) noexcept {
  while (at < whole.size()) {
    if (whole.size() - at < tlv_head_bytes) return malformed("a TLV");
    const unsigned type = octet(whole, at);
    const std::size_t size = two_octets(whole, at + 1);
    at += tlv_head_bytes;
    if (whole.size() - at < size) return malformed("a TLV");
    if (type == tls_type) {
      if (size < least_tls_bytes) return malformed("a TLV");
      header.is_secure = (octet(whole, at) & client_uses_tls) != 0;
    } else if (type == checksum_type) {
      const std::uint32_t told =
          size != 4 ? 0 : two_octets(whole, at) << 16U | two_octets(whole, at + 2);
      if (size != 4 || told != checksum(whole, at)) return malformed("the checksum");
    }
    at += size;
  }
  return header;
}

Address address_at(std::string_view bytes, std::size_t at, std::size_t size,
                   std::size_t port_at) noexcept {
  return Address::from_ip_bytes(skua::bytes(bytes.substr(at, size)),
                                static_cast<std::uint16_t>(two_octets(bytes, port_at)));
}

// `whole` is the header, from its signature on.
Reading read_addresses(std::string_view whole) noexcept {
  ProxyHeader header{.size_bytes = whole.size()};
  const unsigned family = octet(whole, 13) >> 4U;
  const unsigned transport = octet(whole, 13) & 15U;
  const bool is_known =
      family == no_family ? transport == no_transport
                          : family <= unix_family &&
                                (transport == stream_transport || transport == datagram_transport);
  if (!is_known) return malformed("the protocol");
  if (family == no_family) return header;  // the layout of what follows is not known
  const std::size_t size = family == inet_family ? 4 : 16;
  const std::size_t all = family == unix_family ? unix_addresses_bytes : 2 * size + ports_bytes;
  if (whole.size() - head_bytes < all) return malformed("an address");
  if (family != unix_family) {
    const std::size_t ports = head_bytes + 2 * size;
    header.client = address_at(whole, head_bytes, size, ports);
    header.server = address_at(whole, head_bytes + size, size, ports + 2);
  }
  return read_tlvs(whole, head_bytes + all, header);
}

Reading read_binary(std::string_view bytes) noexcept {
  if (bytes.size() < head_bytes) return std::nullopt;
  const unsigned version = octet(bytes, 12) >> 4U;
  const unsigned command = octet(bytes, 12) & 15U;
  if (version != 2 || command > proxy_command) return malformed("the version");
  const std::size_t size_bytes = head_bytes + two_octets(bytes, 14);
  if (size_bytes > max_proxy_header_bytes) return malformed("the length");
  if (bytes.size() < size_bytes) return std::nullopt;
  // A connection of the proxy itself, such as a health check: nothing else in the header counts.
  if (command == local_command) return ProxyHeader{.size_bytes = size_bytes};
  return read_addresses(bytes.substr(0, size_bytes));
}

}  // namespace

Result<std::optional<ProxyHeader>> read_proxy_header(std::string_view bytes) noexcept {
  if (may_begin_with(bytes, signature)) return read_binary(bytes);
  if (may_begin_with(bytes, text_begin)) return read_text(bytes);
  return malformed("the beginning");
}

// Writing -----------------------------------------------------------------------------------------

namespace {

constexpr std::size_t mapped_prefix_bytes = 12;

/// Both ends of a connection, of one IP version.
struct Ends {
  Address client;
  Address server;
};

// Returns the address without a scope id, as IPv6 if that is wanted. RFC 4291 §2.5.5.2
Address with_version(const Address& address, bool is_ipv6) noexcept {
  const Bytes ip = address.ip_bytes();
  if (!is_ipv6 || address.family() == Address::Family::Ipv6) {
    return Address::from_ip_bytes(ip, address.port());
  }
  std::array<std::byte, 16> mapped{};
  mapped[10] = mapped[11] = std::byte{0xff};
  std::ranges::copy(ip, mapped.begin() + mapped_prefix_bytes);
  return Address::from_ip_bytes(mapped, address.port());
}

std::optional<Ends> ends_of(const Address& client, const Address& server) noexcept {
  const Address from = client.unmapped();
  const Address to = server.unmapped();
  if (!from.is_ip() || !to.is_ip()) return std::nullopt;
  const bool is_ipv6 =
      from.family() == Address::Family::Ipv6 || to.family() == Address::Family::Ipv6;
  return Ends{with_version(from, is_ipv6), with_version(to, is_ipv6)};
}

void append_octets(std::string& out, std::size_t number, unsigned count) {
  while (count-- != 0) out += static_cast<char>(number >> (8 * count) & 0xffU);
}

}  // namespace

std::string text_proxy_header(const Address& client, const Address& server) {
  std::string out(text_begin);
  const std::optional<Ends> ends = ends_of(client, server);
  if (!ends) return out.append("UNKNOWN\r\n");
  out.append(ends->client.family() == Address::Family::Ipv6 ? "TCP6" : "TCP4");
  std::array<char, Address::max_text_bytes> host;
  for (const Address& end : {ends->client, ends->server})
    out.append(" ").append(end.format_host(host));
  for (const Address& end : {ends->client, ends->server}) {
    out.append(" ").append(std::to_string(std::uint64_t{end.port()}));
  }
  return out.append("\r\n");
}

std::string binary_proxy_header(const Address& client, const Address& server, bool is_secure) {
  const std::optional<Ends> ends = ends_of(client, server);
  const unsigned family = !ends                                            ? no_family
                          : ends->client.family() == Address::Family::Ipv6 ? inet6_family
                                                                           : inet_family;
  std::string content;
  if (ends) {
    for (const Address& end : {ends->client, ends->server}) content.append(text(end.ip_bytes()));
    for (const Address& end : {ends->client, ends->server}) append_octets(content, end.port(), 2);
  }
  if (ends && is_secure) {
    append_octets(content, tls_type, 1);
    append_octets(content, least_tls_bytes, 2);
    append_octets(content, client_uses_tls, 1);
    append_octets(content, 1, 4);  // no certificate of the client was verified
  }
  std::string out(signature);
  append_octets(out, 2U << 4U | proxy_command, 1);
  append_octets(out, family << 4U | (ends ? stream_transport : no_transport), 1);
  append_octets(out, content.size(), 2);
  return out.append(content);
}

}  // namespace skua::sockets
