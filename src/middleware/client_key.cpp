// SPDX-License-Identifier: MIT
// In: a peer's address as formatted by our own sockets. Out: the part that identifies the peer.
#include "middleware/client_key.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <span>

namespace skua::middleware {
namespace {

// Reads `2001:db8:…` into words and returns their number, or nullopt if one is not hexadecimal.
std::optional<std::size_t> read_words(std::string_view text, std::span<std::uint16_t> words) {
  std::size_t count = 0;
  while (!text.empty()) {
    const std::size_t colon = std::min(text.find(':'), text.size());
    if (count == words.size()) return std::nullopt;
    const auto [end, error] = std::from_chars(text.data(), text.data() + colon, words[count], 16);
    if (error != std::errc{} || end != text.data() + colon) return std::nullopt;
    ++count;
    text.remove_prefix(std::min(colon + 1, text.size()));
  }
  return count;
}

// Returns the first four of the eight words of an IPv6 address. RFC 4291 §2.2
std::optional<std::array<std::uint16_t, 4>> network_of(std::string_view host) {
  std::array<std::uint16_t, 8> words{};
  const std::size_t gap = host.find("::");
  const auto before = read_words(host.substr(0, gap), words);
  if (!before) return std::nullopt;
  if (gap != host.npos) {
    std::array<std::uint16_t, 8> tail{};
    const auto after = read_words(host.substr(gap + 2), tail);
    if (!after || *before + *after > words.size()) return std::nullopt;
    std::copy_n(tail.begin(), *after, words.end() - static_cast<std::ptrdiff_t>(*after));
  } else if (*before != words.size()) {
    return std::nullopt;
  }
  return std::array{words[0], words[1], words[2], words[3]};
}

}  // namespace

std::string client_key(std::string_view peer) {
  if (!peer.starts_with('[')) {
    // An IPv4 address with a port, or a path without one.
    return std::string(peer.starts_with("unix:") ? peer : peer.substr(0, peer.rfind(':')));
  }
  const std::size_t end = peer.find_first_of("%]");
  const std::string_view host = peer.substr(1, end == peer.npos ? end : end - 1);
  constexpr std::string_view mapped = "::ffff:";  // RFC 4291 §2.5.5.2
  if (host.starts_with(mapped) && host.find('.') != host.npos) {
    return std::string(host.substr(mapped.size()));
  }
  const auto network = network_of(host);
  if (!network) return std::string(host);
  std::string key;
  for (const std::uint16_t word : *network) {
    std::array<char, 4> digits{};
    const auto last = std::to_chars(digits.data(), digits.data() + digits.size(), word, 16).ptr;
    key.append(digits.data(), last).append(":");
  }
  return key.append(":/64");
}

}  // namespace skua::middleware
