// SPDX-License-Identifier: MIT
// In: a name. Out: the answer of the system's resolver (files, name servers). Text that the
// resolver might read differently than we do never gets there.
#include "net/name_lookup.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
#include <string_view>
#include <utility>

#include "base/ascii.hpp"
#include "base/disk.hpp"
#include "net/problem.hpp"
#include "net/socket.hpp"

namespace skua::net {
namespace {

constexpr std::size_t longest_name = 253;  // RFC 1035 §2.3.4, without the root's empty label

// Letters, digits and hyphens (RFC 1123 §2.1), and underscores, which many names contain anyway.
// Names in other scripts come as A-labels (RFC 5890 §2.3.2.1).
bool is_name(std::string_view text) noexcept {
  if (text.ends_with('.')) text.remove_suffix(1);
  return !text.empty() && text.size() <= longest_name && std::ranges::all_of(text, [](char c) {
    return ascii::is(c, ascii::Alpha | ascii::Digit) || c == '-' || c == '_' || c == '.';
  });
}

struct Found {
  std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> first{nullptr, ::freeaddrinfo};
  int failure = 0;
};

Found ask(const std::string& name, int flags, int family = AF_UNSPEC) noexcept {
  addrinfo hints{};
  hints.ai_family = family;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags;
  addrinfo* first = nullptr;
  Found found;
  found.failure = bsd::getaddrinfo(name.c_str(), nullptr, &hints, &first);
  if (found.failure == 0) found.first.reset(first);
  return found;
}

Error error_of(int failure, int system_code) noexcept {
  if (failure == EAI_SYSTEM) return Error::from_system(system_code, "resolve");
  if (failure == EAI_MEMORY) return {Errc::OutOfMemory, "resolve"};
  return {Errc::NameNotResolved, bsd::lookup_failure_text(failure)};
}

// The systems disagree on the code for a name that has addresses of another family only.
bool is_absence(int failure) noexcept {
  return failure != EAI_SYSTEM && failure != EAI_MEMORY && failure != EAI_AGAIN &&
         failure != EAI_FAIL;
}

int system_family(Address::Family family) noexcept {
  if (family == Address::Family::Ipv4) return AF_INET;
  return family == Address::Family::Ipv6 ? AF_INET6 : AF_UNSPEC;
}

constexpr std::string_view hosts_blanks = " \t\r\n\f\v";

/// Reports whether a line of a hosts file, `address name name... # comment`, contains the name.
bool line_has(std::string_view line, std::string_view name) noexcept {
  line = line.substr(0, line.find('#'));
  bool is_address = true;
  while (true) {
    const std::size_t begin = line.find_first_not_of(hosts_blanks);
    if (begin == line.npos) return false;
    line.remove_prefix(begin);
    const std::string_view word = line.substr(0, line.find_first_of(hosts_blanks));
    if (!std::exchange(is_address, false) && ascii::equals_ignoring_case(word, name)) return true;
    line.remove_prefix(word.size());
  }
}

}  // namespace

bool is_in_hosts_file(const std::string& name) {
  return hosts_file_contains(bsd::hosts_file().c_str(), name);
}

bool hosts_file_contains(const char* path, const std::string& name) {
  const disk::Descriptor file(disk::open(path, disk::for_reading));
  if (!file) return false;
  std::string text;  // what was read, without the lines before
  std::array<char, 4096> piece;
  for (ssize_t size = 1; size > 0;) {
    size = disk::read(file.number(), piece.data(), piece.size());
    // The last line may lack its end.
    text.append(size > 0 ? std::string_view(piece.data(), static_cast<std::size_t>(size)) : "\n");
    std::size_t begin = 0;
    for (std::size_t end = 0; (end = text.find('\n', begin)) != text.npos; begin = end + 1) {
      if (line_has(std::string_view(text).substr(begin, end - begin), name)) return true;
    }
    text.erase(0, begin);
  }
  return false;
}

Result<std::vector<Address>> look_up(const std::string& name) {
  return look_up_in(Address::Family::None, name);
}

Error has_no_address(Address::Family family) noexcept {
  switch (family) {
    case Address::Family::Ipv4: return {Errc::NameNotResolved, "it has no IPv4 address"};
    case Address::Family::Ipv6: return {Errc::NameNotResolved, "it has no IPv6 address"};
    default: return {Errc::NameNotResolved, "it has no address"};
  }
}

Result<std::vector<Address>> look_up_in(Address::Family family, const std::string& name) {
  // Strict parsers found no address in it, so a lenient one must not decide where we connect to.
  if (!is_name(name) || ask(name, AI_NUMERICHOST).failure == 0) {
    return Error(Errc::InvalidAddress, "resolve");
  }
  const Found found = ask(name, 0, system_family(family));
  if (found.failure != 0) {
    const bool has_others = family != Address::Family::None && is_absence(found.failure);
    return has_others ? has_no_address(family) : error_of(found.failure, errno);
  }
  std::vector<Address> addresses;
  for (const addrinfo* next = found.first.get(); next != nullptr; next = next->ai_next) {
    const Address address = Address::from_sockaddr(next->ai_addr, next->ai_addrlen);
    const bool is_new = std::ranges::find(addresses, address) == addresses.end();
    if (address.is_ip() && is_new) addresses.push_back(address);
  }
  if (addresses.empty()) return has_no_address(family);
  return addresses;
}

}  // namespace skua::net

namespace skua {

Result<std::vector<Address>, Problem> resolve(std::string_view host, std::uint16_t port) {
  if (const Result<Address> address = Address::parse(host, port)) return std::vector{*address};
  Result<std::vector<Address>> found = net::look_up(std::string(host));
  if (!found) return net::could_not("resolve", host, found.error());
  for (Address& address : *found) address = address.with_port(port);
  return *std::move(found);
}

}  // namespace skua
