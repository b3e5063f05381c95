// SPDX-License-Identifier: MIT
// In: the names in a certificate, and a host. Out: whether the certificate is valid for that host.
// Only a whole first label may be a wildcard (RFC 9525 §6.3), and never below a top-level domain.
#include "tls/certificate_names.hpp"

#include <algorithm>
#include <array>

#include "base/ascii.hpp"
#include "base/ip_text.hpp"

namespace skua::tls {
namespace {

// Returns `.example.com` for `*.example.com`, nullopt for other names.
std::optional<std::string_view> wildcard_suffix(std::string_view name) noexcept {
  if (!name.starts_with("*.") || name.find('.', 2) == std::string_view::npos) return std::nullopt;
  if (name.find('*', 1) != std::string_view::npos) return std::nullopt;
  return name.substr(1);
}

// Returns `.example.com` for `www.example.com`, nullopt if there is no first label.
std::optional<std::string_view> parent(std::string_view host) noexcept {
  const std::size_t dot = host.find('.');
  if (dot == std::string_view::npos || dot == 0) return std::nullopt;
  return host.substr(dot);
}

}  // namespace

std::string normal_name(std::string_view host) {
  if (host.ends_with('.')) host.remove_suffix(1);
  std::string name(host);
  std::ranges::transform(name, name.begin(), ascii::to_lower);
  return name;
}

std::string address_octets(std::string_view host) {
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  std::string octets;
  if (const auto ipv4 = parse_ipv4(host)) {
    for (const std::uint8_t octet : *ipv4) octets += static_cast<char>(octet);
  } else if (const auto ipv6 = parse_ipv6(host)) {
    for (const std::uint16_t group : *ipv6) {
      octets += static_cast<char>(group >> 8U);
      octets += static_cast<char>(group & 0xFFU);
    }
  }
  return octets;
}

std::string address_text(std::string_view octets) {
  const auto octet = [&](std::size_t at) { return static_cast<unsigned char>(octets[at]); };
  std::string text;
  if (octets.size() == 4) {
    for (std::size_t i = 0; i < 4; ++i)
      text += (i > 0 ? "." : "") + std::to_string(std::uint64_t{octet(i)});
  } else if (octets.size() == 16) {
    std::array<std::uint16_t, 8> groups{};
    for (std::size_t i = 0; i < 8; ++i) {
      groups[i] = static_cast<std::uint16_t>(octet(2 * i) << 8U | octet(2 * i + 1));
    }
    append_ipv6(text, groups);
  }
  return text;
}

bool CertificateNames::covers(std::string_view host) const {
  if (const std::string octets = address_octets(host); !octets.empty()) {
    return std::ranges::find(addresses, octets) != addresses.end();
  }
  const std::string wanted = normal_name(host);
  if (wanted.empty()) return false;
  const auto above = parent(wanted);
  return std::ranges::any_of(dns, [&](const std::string& name) {
    return name == wanted || (above && wildcard_suffix(name) == above);
  });
}

void NameIndex::add(const CertificateNames& names, std::size_t certificate) {
  for (const std::string& name : names.dns) {
    if (const auto suffix = wildcard_suffix(name)) {
      wildcards_.emplace(*suffix, certificate);
    } else {
      exact_.emplace(name, certificate);
    }
  }
}

std::optional<std::size_t> NameIndex::find(std::string_view host) const {
  const std::string wanted = normal_name(host);
  if (const auto found = exact_.find(wanted); found != exact_.end()) return found->second;
  if (const auto above = parent(wanted)) {
    const auto found = wildcards_.find(std::string(*above));
    if (found != wildcards_.end()) return found->second;
  }
  return std::nullopt;
}

}  // namespace skua::tls
