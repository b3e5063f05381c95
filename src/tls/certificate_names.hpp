// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace skua::tls {

/// The names in a certificate: DNS names in lower case, a wildcard as `*.example.com`, and IP
/// addresses as their 4 or 16 octets.
///
/// RFC:       9525 §6
struct CertificateNames {
  std::vector<std::string> dns{};
  std::vector<std::string> addresses{};

  /// Reports whether the certificate is valid for `host`: a name, or an IP address as text (IPv6
  /// with or without brackets). A wildcard matches exactly one label.
  [[nodiscard]] bool covers(std::string_view host) const;
};

/// Parses an IP address into its octets; returns an empty string if `host` is not an address.
[[nodiscard]] std::string address_octets(std::string_view host);
/// Formats the 4 or 16 octets of an address; returns an empty string for any other size.
[[nodiscard]] std::string address_text(std::string_view octets);
/// Returns a host name in lower case, without a trailing dot.
[[nodiscard]] std::string normal_name(std::string_view host);

/// Chooses among several certificates by host name: exact names win over wildcards, and the first
/// certificate with a name over later ones.
class NameIndex {
 public:
  void add(const CertificateNames& names, std::size_t certificate);
  [[nodiscard]] std::optional<std::size_t> find(std::string_view host) const;

 private:
  std::unordered_map<std::string, std::size_t> exact_;
  std::unordered_map<std::string, std::size_t> wildcards_;  // by the part after the `*`
};

}  // namespace skua::tls
