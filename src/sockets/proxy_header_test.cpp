// SPDX-License-Identifier: MIT
#include "sockets/proxy_header.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>

namespace skua::sockets {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view signature = "\r\n\r\n\0\r\nQUIT\n"sv;

std::string octets(std::initializer_list<unsigned> list) {
  std::string text;
  for (const unsigned octet : list) text += static_cast<char>(octet);
  return text;
}

std::string two(std::size_t number) {
  return octets({static_cast<unsigned>(number >> 8U), static_cast<unsigned>(number & 0xffU)});
}

/// A header of version 2.
std::string binary(unsigned command, unsigned protocol, std::string_view content) {
  return std::string(signature) + octets({0x20 | command, protocol}) + two(content.size()) +
         std::string(content);
}

std::string tlv(unsigned type, std::string_view value) {
  return octets({type}) + two(value.size()) + std::string(value);
}

const std::string ipv4_content = octets({192, 0, 2, 1, 198, 51, 100, 2}) + two(50'123) + two(443);
const std::string ipv6_content = octets({0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}) +
                                 octets({0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2}) +
                                 two(50'123) + two(443);

/// `CLIENT>SERVER`, `none`, `malformed: PART` or `incomplete`.
std::string read(std::string_view bytes) {
  const auto header = read_proxy_header(bytes);
  if (!header) {
    EXPECT_EQ(header.error().code(), Errc::MalformedProxyHeader);
    return "malformed: " + std::string(header.error().context());
  }
  if (!*header) return "incomplete";
  EXPECT_LE((*header)->size_bytes, bytes.size());
  if ((*header)->client.family() == Address::Family::None) {
    EXPECT_EQ((*header)->server.family(), Address::Family::None);
    return (*header)->is_secure ? "none, TLS" : "none";
  }
  return (*header)->client.to_string() + ">" + (*header)->server.to_string() +
         ((*header)->is_secure ? ", TLS" : "");
}

/// Reads a header with nothing behind it; every beginning of it must be incomplete, and what
/// follows must not matter.
std::string read_whole(const std::string& header) {
  const std::string said = read(header);
  for (std::size_t size = 0; size < header.size(); ++size) {
    EXPECT_EQ(read(std::string_view(header).substr(0, size)), "incomplete") << size;
  }
  for (const std::string_view more : {"G"sv, "GET / HTTP/1.1\r\n\r\n"sv, signature, "PROXY "sv}) {
    const std::string both = header + std::string(more);
    EXPECT_EQ(read(both), said);
    EXPECT_EQ(read_proxy_header(both).value()->size_bytes, header.size());
  }
  return said;
}

/// Every malformed header is refused at some byte, and from there on.
std::string read_malformed(const std::string& header) {
  std::string said;
  for (std::size_t size = 0; size <= header.size(); ++size) {
    const std::string now = read(std::string_view(header).substr(0, size));
    if (now == "incomplete") {
      EXPECT_EQ(said, "");
    } else {
      EXPECT_TRUE(said.empty() || said == now) << said << ", then " << now;
      said = now;
    }
  }
  return said.empty() ? "incomplete" : said;
}

TEST(ProxyHeader, NamesBothEndsAsText) {
  EXPECT_EQ(read_whole("PROXY TCP4 192.0.2.1 198.51.100.2 50123 443\r\n"),
            "192.0.2.1:50123>198.51.100.2:443");
  EXPECT_EQ(read_whole("PROXY TCP4 255.255.255.255 255.255.255.255 65535 65535\r\n"),
            "255.255.255.255:65535>255.255.255.255:65535");
  EXPECT_EQ(read_whole("PROXY TCP4 0.0.0.0 0.0.0.0 0 0\r\n"), "0.0.0.0:0>0.0.0.0:0");
  EXPECT_EQ(read_whole("PROXY TCP6 2001:db8::1 ::1 50123 443\r\n"),
            "[2001:db8::1]:50123>[::1]:443");
  EXPECT_EQ(read_whole("PROXY TCP6 ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff "
                       "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff 65535 65535\r\n"),
            "[ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff]:65535>"
            "[ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff]:65535");
}

TEST(ProxyHeader, MayNameNobody) {
  EXPECT_EQ(read_whole("PROXY UNKNOWN\r\n"), "none");
  EXPECT_EQ(read_whole("PROXY UNKNOWN whatever it is\r\n"), "none");
  // The longest line of the specification.
  EXPECT_EQ(read_whole("PROXY UNKNOWN ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff "
                       "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff 65535 65535\r\n"),
            "none");
  EXPECT_EQ(read_whole(binary(0, 0x00, "")), "none");
  EXPECT_EQ(read_whole(binary(1, 0x00, "")), "none");
  EXPECT_EQ(read_whole(binary(1, 0x00, "of an unknown layout")), "none");
  EXPECT_EQ(read_whole(binary(0, 0x11, ipv4_content)), "none") << "LOCAL: a health check";
  EXPECT_EQ(read_whole(binary(0, 0xff, "ignored")), "none");
  EXPECT_EQ(read_whole(binary(1, 0x31, std::string(216, 'x'))), "none") << "Unix sockets";
}

TEST(ProxyHeader, NamesBothEndsInBinary) {
  EXPECT_EQ(read_whole(binary(1, 0x11, ipv4_content)), "192.0.2.1:50123>198.51.100.2:443");
  EXPECT_EQ(read_whole(binary(1, 0x12, ipv4_content)), "192.0.2.1:50123>198.51.100.2:443");
  EXPECT_EQ(read_whole(binary(1, 0x21, ipv6_content)), "[2001:db8::1]:50123>[2001:db8::2]:443");
  EXPECT_EQ(read_whole(binary(1, 0x22, ipv6_content)), "[2001:db8::1]:50123>[2001:db8::2]:443");
}

TEST(ProxyHeader, UnknownTlvsAreSkipped) {
  const std::string tlvs = tlv(0x01, "h2") + tlv(0x02, "example.com") + tlv(0x04, "") +
                           tlv(0x30, "blue") + tlv(0xea, std::string(300, 'x'));
  EXPECT_EQ(read_whole(binary(1, 0x11, ipv4_content + tlvs)), "192.0.2.1:50123>198.51.100.2:443");
}

TEST(ProxyHeader, TellsIfTheClientSpeaksTls) {
  const std::string version = tlv(0x21, "TLSv1.3");
  const auto with = [&](unsigned client) {
    return tlv(0x20, octets({client, 0, 0, 0, 0}) + version);
  };
  EXPECT_EQ(read_whole(binary(1, 0x11, ipv4_content + with(1))),
            "192.0.2.1:50123>198.51.100.2:443, TLS");
  EXPECT_EQ(read_whole(binary(1, 0x11, ipv4_content + with(7))),
            "192.0.2.1:50123>198.51.100.2:443, TLS");
  EXPECT_EQ(read_whole(binary(1, 0x11, ipv4_content + with(6))),
            "192.0.2.1:50123>198.51.100.2:443");
  EXPECT_EQ(read_whole(binary(1, 0x31, std::string(216, '\0') + with(1))), "none, TLS");
  EXPECT_EQ(read_whole(binary(0, 0x11, ipv4_content + with(1))), "none");
}

TEST(ProxyHeader, AChecksumHasToBeRight) {
  const std::string header =
      binary(1, 0x11, ipv4_content + tlv(0x03, octets({0x41, 0x92, 0xab, 0x99})));
  EXPECT_EQ(read_whole(header), "192.0.2.1:50123>198.51.100.2:443");
  for (std::size_t at = 16; at < header.size(); ++at) {
    if (at == 16 + ipv4_content.size()) continue;  // its type: then it is not a checksum
    std::string changed = header;
    changed[at] = static_cast<char>(changed[at] ^ 1);
    EXPECT_TRUE(read(changed).starts_with("malformed: ")) << at;
  }
  EXPECT_EQ(read_malformed(binary(1, 0x11, ipv4_content + tlv(0x03, "abc"))),
            "malformed: the checksum");
}

TEST(ProxyHeader, RefusesWhatIsNotOne) {
  EXPECT_EQ(read_malformed("GET / HTTP/1.1\r\n\r\n"), "malformed: the beginning");
  EXPECT_EQ(read_malformed("PROXX"), "malformed: the beginning");
  EXPECT_EQ(read_malformed("PROXY\r\n"), "malformed: the beginning");
  EXPECT_EQ(read_malformed("proxy TCP4"), "malformed: the beginning");
  EXPECT_EQ(read_malformed("\r\nGET / HTTP/1.1\r\n"), "malformed: the beginning");
  EXPECT_EQ(read_malformed("\x16\x03\x01"), "malformed: the beginning");
  EXPECT_EQ(read_malformed(std::string(signature) + octets({0x11, 0x11, 0, 12}) + ipv4_content),
            "malformed: the version");
  EXPECT_EQ(read_malformed(std::string(signature) + octets({0x22, 0x11, 0, 12}) + ipv4_content),
            "malformed: the version");
}

TEST(ProxyHeader, RefusesMalformedText) {
  for (const std::string_view words : {
           "TCP4 192.0.2.1 198.51.100.2 50123",
           "TCP4 192.0.2.1 198.51.100.2 50123 443 ",
           "TCP4 192.0.2.1 198.51.100.2 50123 443 1",
           "TCP4  192.0.2.1 198.51.100.2 50123 443",
           "TCP4 192.0.2.1 198.51.100.2 050123 443",
           "TCP4 192.0.2.1 198.51.100.2 50123 65536",
           "TCP4 192.0.2.1 198.51.100.2 -1 443",
           "TCP4 192.0.2.1 198.51.100.2 +1 443",
           "TCP4 192.0.2.1 198.51.100.2 0x1 443",
           "TCP4 192.0.2.1 198.51.100.2 50123 ",
           "TCP4 192.0.2 198.51.100.2 50123 443",
           "TCP4 192.0.2.01 198.51.100.2 50123 443",
           "TCP4 192.0.2.256 198.51.100.2 50123 443",
           "TCP4 example.com 198.51.100.2 50123 443",
           "TCP4 2001:db8::1 2001:db8::2 50123 443",
           "TCP6 192.0.2.1 198.51.100.2 50123 443",
           "TCP6 [2001:db8::1] 2001:db8::2 50123 443",
           "TCP6 fe80::1%lo fe80::2 50123 443",
       }) {
    EXPECT_EQ(read_malformed("PROXY " + std::string(words) + "\r\n"), "malformed: an address")
        << words;
  }
  for (const std::string_view words :
       {"", "TCP", "TCP5 1", "UDP4 192.0.2.1 192.0.2.2 1 1", "UNKNOWNS", "unknown", " TCP4"}) {
    EXPECT_EQ(read_malformed("PROXY " + std::string(words) + "\r\n"), "malformed: the protocol")
        << words;
  }
  for (const std::string_view line :
       {"PROXY UNKNOWN\n", "PROXY UNKNOWN\rx", "PROXY UNKNOWN\r\r\n", "PROXY \n"}) {
    EXPECT_EQ(read_malformed(std::string(line)), "malformed: the end of the line") << line;
  }
}

TEST(ProxyHeader, RefusesALineBeyond107Bytes) {
  const auto line = [](std::size_t size) {
    std::string text = "PROXY UNKNOWN ";
    text.resize(size - 2, 'x');
    return text + "\r\n";
  };
  EXPECT_EQ(read_whole(line(107)), "none");
  EXPECT_EQ(read_malformed(line(108)), "malformed: the end of the line");
  EXPECT_EQ(read_malformed(line(109)), "malformed: the end of the line");
  EXPECT_EQ(read_malformed(line(5000)), "malformed: the end of the line");
}

TEST(ProxyHeader, RefusesMalformedBinary) {
  for (const unsigned protocol : {0x01U, 0x10U, 0x13U, 0x20U, 0x23U, 0x30U, 0x33U, 0x41U, 0xffU}) {
    EXPECT_EQ(read_malformed(binary(1, protocol, std::string(300, '\0'))),
              "malformed: the protocol")
        << protocol;
  }
  EXPECT_EQ(read_malformed(binary(1, 0x11, ipv4_content.substr(1))), "malformed: an address");
  EXPECT_EQ(read_malformed(binary(1, 0x11, "")), "malformed: an address");
  EXPECT_EQ(read_malformed(binary(1, 0x21, ipv6_content.substr(1))), "malformed: an address");
  EXPECT_EQ(read_malformed(binary(1, 0x31, std::string(215, 'x'))), "malformed: an address");
  for (const std::string& tlvs :
       {octets({1}), octets({1, 0}), octets({1, 0, 1}), octets({1, 0, 2, 0}),
        tlv(0x20, octets({1, 0, 0, 0})), tlv(0x04, "") + octets({4, 0xff, 0xff})}) {
    EXPECT_EQ(read_malformed(binary(1, 0x11, ipv4_content + tlvs)), "malformed: a TLV");
  }
}

TEST(ProxyHeader, RefusesOneThatIsTooLong) {
  const auto of_size = [](std::size_t size) {
    return binary(1, 0x11, ipv4_content + tlv(0x04, std::string(size - 12 - 3, 'x')));
  };
  EXPECT_EQ(read(of_size(4096)), "192.0.2.1:50123>198.51.100.2:443");
  EXPECT_EQ(of_size(4096).size(), max_proxy_header_bytes);
  EXPECT_EQ(read(of_size(4096).substr(0, 4111)), "incomplete");
  EXPECT_EQ(read(of_size(4097).substr(0, 16)), "malformed: the length");
  EXPECT_EQ(read(std::string(signature) + octets({0x20, 0, 0xff, 0xff})), "malformed: the length");
}

// Writing -----------------------------------------------------------------------------------------

Address address(const char* text) { return Address::parse(text).value(); }

TEST(ProxyHeader, IsWrittenAsText) {
  const auto written = [](const char* client, const char* server) {
    return text_proxy_header(address(client), address(server));
  };
  EXPECT_EQ(written("192.0.2.1:50123", "198.51.100.2:443"),
            "PROXY TCP4 192.0.2.1 198.51.100.2 50123 443\r\n");
  EXPECT_EQ(written("[2001:db8::1]:50123", "[::1]:443"),
            "PROXY TCP6 2001:db8::1 ::1 50123 443\r\n");
  EXPECT_EQ(written("[::ffff:192.0.2.1]:50123", "198.51.100.2:443"),
            "PROXY TCP4 192.0.2.1 198.51.100.2 50123 443\r\n");
  EXPECT_EQ(written("192.0.2.1:0", "[2001:db8::2]:443"),
            "PROXY TCP6 ::ffff:192.0.2.1 2001:db8::2 0 443\r\n");
  EXPECT_EQ(written("[fe80::1%1]:50123", "[fe80::2%1]:443"),
            "PROXY TCP6 fe80::1 fe80::2 50123 443\r\n");
  EXPECT_EQ(written("unix:/run/a", "198.51.100.2:443"), "PROXY UNKNOWN\r\n");
  EXPECT_EQ(text_proxy_header({}, address("198.51.100.2:443")), "PROXY UNKNOWN\r\n");
}

TEST(ProxyHeader, IsReadAsItIsWritten) {
  struct Row {
    const char* client;
    const char* server;
    const char* read;
  };
  for (const Row& row : {
           Row{"192.0.2.1:50123", "198.51.100.2:443", "192.0.2.1:50123>198.51.100.2:443"},
           Row{"[2001:db8::1]:1", "[::1]:65535", "[2001:db8::1]:1>[::1]:65535"},
           Row{"[2001:db8::1]:1", "192.0.2.1:2", "[2001:db8::1]:1>[::ffff:192.0.2.1]:2"},
           Row{"unix:/run/a", "unix:/run/b", "none"},
       }) {
    const Address client = address(row.client);
    const Address server = address(row.server);
    const std::string with_tls = std::string(row.read) + (client.is_ip() ? ", TLS" : "");
    EXPECT_EQ(read_whole(text_proxy_header(client, server)), row.read);
    EXPECT_EQ(read_whole(binary_proxy_header(client, server, false)), row.read);
    EXPECT_EQ(read_whole(binary_proxy_header(client, server, true)), with_tls);
  }
}

}  // namespace
}  // namespace skua::sockets
