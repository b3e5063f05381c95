// SPDX-License-Identifier: MIT
// In: lists of networks, and peers. Out: which peers may connect.
// Readers count themselves instead of locking: a table is freed once the count has been 0 after it
// was replaced, since later readers find its successor. (std::atomic<std::shared_ptr> takes a lock
// in libstdc++, and libc++ has none.)
#include "skua/ip_filter.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <iterator>
#include <memory>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "base/ip_text.hpp"
#include "base/network_set.hpp"

namespace skua {
namespace {

constexpr Error not_a_network{Errc::InvalidAddress, "network"};
constexpr unsigned ipv4_bits = 32;
constexpr unsigned ipv6_bits = 128;
constexpr unsigned mapped_bits = 96;  // RFC 4291 §2.5.5.2
constexpr std::array<std::uint8_t, 12> mapped_prefix{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

std::optional<unsigned> read_length(std::string_view digits) noexcept {
  unsigned length = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), length);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  if (digits.size() > 1 && digits.front() == '0') return std::nullopt;
  return length;
}

std::string_view trimmed(std::string_view text) noexcept {
  constexpr std::string_view blanks = " \t\r";
  const std::size_t begin = std::min(text.find_first_not_of(blanks), text.size());
  return text.substr(begin, text.find_last_not_of(blanks) + 1 - begin);
}

}  // namespace

Network::Network(bool is_ipv6, const Octets& octets, unsigned prefix_length) noexcept
    : is_ipv6_(is_ipv6), octets_{}, prefix_length_(static_cast<std::uint8_t>(prefix_length)) {
  const unsigned whole = prefix_length / 8;
  std::copy_n(octets.begin(), whole, octets_.begin());
  if (prefix_length % 8 == 0) return;
  const unsigned mask = 0xff00U >> prefix_length % 8;
  octets_[whole] = static_cast<std::uint8_t>(octets[whole] & mask);
}

Result<Network> Network::make(bool is_ipv6, const Octets& octets, unsigned prefix_length) noexcept {
  if (prefix_length > (is_ipv6 ? ipv6_bits : ipv4_bits)) return not_a_network;
  const bool is_mapped = is_ipv6 && prefix_length >= mapped_bits &&
                         std::equal(mapped_prefix.begin(), mapped_prefix.end(), octets.begin());
  if (!is_mapped) return Network(is_ipv6, octets, prefix_length);
  Octets ipv4{};
  std::copy(octets.begin() + mapped_prefix.size(), octets.end(), ipv4.begin());
  return Network(false, ipv4, prefix_length - mapped_bits);
}

Result<Network> Network::parse(std::string_view text) noexcept {
  const std::size_t slash = std::min(text.find('/'), text.size());
  const std::string_view host = text.substr(0, slash);
  Octets octets{};
  bool is_ipv6 = false;
  if (const auto ipv4 = parse_ipv4(host)) {
    std::ranges::copy(*ipv4, octets.begin());
  } else if (const auto groups = parse_ipv6(host)) {
    is_ipv6 = true;
    for (std::size_t i = 0; i < octets.size(); ++i) {
      octets[i] = static_cast<std::uint8_t>((*groups)[i / 2] >> (i % 2 == 0 ? 8U : 0U));
    }
  } else {
    return not_a_network;
  }
  if (slash == text.size()) return make(is_ipv6, octets, is_ipv6 ? ipv6_bits : ipv4_bits);
  const auto length = read_length(text.substr(slash + 1));
  if (!length) return not_a_network;
  return make(is_ipv6, octets, *length);
}

Result<Network> Network::of(const Address& address, unsigned prefix_length) noexcept {
  const Address plain = address.unmapped();
  if (!plain.is_ip()) return not_a_network;
  Octets octets{};
  const Bytes bytes = plain.ip_bytes();
  std::memcpy(octets.data(), bytes.data(), bytes.size());
  return make(plain.family() == Address::Family::Ipv6, octets, prefix_length);
}

Result<Network> Network::of(const Address& address) noexcept {
  const bool is_ipv6 = address.unmapped().family() == Address::Family::Ipv6;
  return of(address, is_ipv6 ? ipv6_bits : ipv4_bits);
}

bool Network::contains(const Network& other) const noexcept {
  if (is_ipv6_ != other.is_ipv6_ || prefix_length_ > other.prefix_length_) return false;
  const unsigned whole = prefix_length_ / 8;
  if (std::memcmp(octets_.data(), other.octets_.data(), whole) != 0) return false;
  if (prefix_length_ % 8 == 0) return true;
  return ((octets_[whole] ^ other.octets_[whole]) & (0xff00U >> prefix_length_ % 8) & 0xffU) == 0;
}

bool Network::contains(const Address& address) const noexcept {
  const Result<Network> alone = of(address);
  return alone && contains(*alone);
}

std::string Network::to_string() const {
  std::string out;
  if (is_ipv6_) {
    std::array<std::uint16_t, 8> groups{};
    for (std::size_t i = 0; i < groups.size(); ++i) {
      groups[i] = static_cast<std::uint16_t>(octets_[2 * i] << 8U | octets_[2 * i + 1]);
    }
    append_ipv6(out, groups);
  } else {
    for (std::size_t i = 0; i < 4; ++i) {
      out.append(i == 0 ? "" : ".").append(std::to_string(std::uint64_t{octets_[i]}));
    }
  }
  return out.append("/").append(std::to_string(std::uint64_t{prefix_length_}));
}

Result<std::vector<Network>, Problem> parse_networks(std::string_view text) {
  std::vector<Network> networks;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::string_view entry = trimmed(line.substr(0, line.find('#')));
    if (entry.empty()) continue;
    const Result<Network> network = Network::parse(entry);
    if (!network) {
      constexpr std::size_t shown = Address::max_text_bytes;
      return Problem{network.error(), "line " + std::to_string(number) + ": \"" +
                                          std::string(entry.substr(0, shown)) +
                                          "\" is not a network such as 10.0.0.0/8"};
    }
    networks.push_back(*network);
  }
  return networks;
}

struct IpFilter::Table {
  base::NetworkSet allow;
  base::NetworkSet deny;
};

IpFilter::~IpFilter() { const std::unique_ptr<const Table> last(table_.load()); }

bool IpFilter::accepts(const Address& peer) const noexcept {
  if (peer.family() == Address::Family::Unix) return true;
  const Result<Network> alone = Network::of(peer);
  if (!alone) return false;
  // Both are sequentially consistent, as is install(): either it sees this reader, or this reader
  // sees the new table.
  readers_.fetch_add(1);
  const Table* const table = table_.load();
  const bool is_accepted =
      table == nullptr ||
      ((table->allow.empty() || table->allow.contains(*alone)) && !table->deny.contains(*alone));
  readers_.fetch_sub(1);
  return is_accepted;
}

void IpFilter::replace(IpRules rules) {
  const std::lock_guard lock(changing_);
  install(std::move(rules));
}

void IpFilter::change(const std::function<void(IpRules&)>& edit) {
  const std::lock_guard lock(changing_);
  IpRules edited = rules_;
  edit(edited);
  install(std::move(edited));
}

IpRules IpFilter::rules() const {
  const std::lock_guard lock(changing_);
  return rules_;
}

void IpFilter::install(IpRules rules) {
  auto table = std::make_unique<const Table>(
      Table{base::NetworkSet(rules.allow), base::NetworkSet(rules.deny)});
  rules_ = std::move(rules);
  const std::unique_ptr<const Table> old(table_.exchange(table.release()));
  while (readers_.load() != 0) std::this_thread::yield();  // each reads for less than 1 us
}

}  // namespace skua
