// SPDX-License-Identifier: MIT
// In: the first bytes of a connection from a proxy. Checked: each beginning of them is incomplete
// until one decides, and no later byte changes that; a header that names addresses names them again
// as text; and nothing is read beyond its end.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "skua/address.hpp"
#include "sockets/proxy_header.hpp"

namespace {

using skua::sockets::ProxyHeader;

void check(bool holds) {
  if (!holds) std::abort();
}

/// A header, or why there is none.
struct Reading {
  bool is_complete = false;
  bool is_malformed = false;
  ProxyHeader header{};

  bool operator==(const Reading& other) const {
    return is_complete == other.is_complete && is_malformed == other.is_malformed &&
           header.client == other.header.client && header.server == other.header.server &&
           header.is_secure == other.header.is_secure &&
           header.size_bytes == other.header.size_bytes;
  }
};

Reading read(std::string_view bytes) {
  const std::vector<char> exact(bytes.begin(), bytes.end());
  const auto header = skua::sockets::read_proxy_header({exact.data(), exact.size()});
  if (!header) return {.is_malformed = true};
  if (!*header) return {};
  return {.is_complete = true, .header = **header};
}

std::string host_of(const skua::Address& address) {
  char buffer[skua::Address::max_text_bytes];
  return std::string(address.format_host(buffer));
}

void check_as_text(const ProxyHeader& header) {
  const bool is_ipv6 = header.client.family() == skua::Address::Family::Ipv6;
  const std::string text = std::string(is_ipv6 ? "PROXY TCP6 " : "PROXY TCP4 ") +
                           host_of(header.client) + " " + host_of(header.server) + " " +
                           std::to_string(header.client.port()) + " " +
                           std::to_string(header.server.port()) + "\r\n";
  const Reading again = read(text);
  check(again.is_complete && again.header.client == header.client &&
        again.header.server == header.server && again.header.size_bytes == text.size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const Reading whole = read(input);
  const std::size_t longest = std::min(size, skua::sockets::max_proxy_header_bytes);
  std::optional<Reading> decided;
  // The length is read at byte 16; between there and the end, a sample is enough.
  for (std::size_t end = 0; end <= longest; end += end < 200 || end + 200 > longest ? 1 : 37) {
    const Reading now = read(input.substr(0, end));
    if (decided) check(now == *decided);
    if (!decided && (now.is_complete || now.is_malformed)) decided = now;
    if (now.is_complete) check(now.header.size_bytes <= end);
  }
  if (size <= longest) check(decided ? whole == *decided : !whole.is_complete);
  if (!whole.is_complete) return 0;
  check(whole.header.size_bytes <= size);
  check(read(input.substr(0, whole.header.size_bytes)) == whole);
  check(whole.header.client.family() == whole.header.server.family());
  if (whole.header.client.is_ip()) check_as_text(whole.header);
  return 0;
}
