// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace skua::tls {

/// Whom a certificate names: DNS names in lower case, a wildcard as `*.example.com`, and addresses
/// as their 4 or 16 octets.
///
/// RFC:       9525 §6
struct CertificateNames {
  std::vector<std::string> dns{};
  std::vector<std::string> addresses{};

  /// Whether the certificate is for this host: a name, or the text of an IP address (IPv6 with or
  /// without brackets). A wildcard stands for exactly one label.
  [[nodiscard]] bool covers(std::string_view host) const;
};

/// The octets of an IP address's text; empty for what is none.
[[nodiscard]] std::string address_octets(std::string_view host);
/// The text of an address's 4 or 16 octets; empty for any other number.
[[nodiscard]] std::string address_text(std::string_view octets);
/// A host name in lower case, without the dot that may end it.
[[nodiscard]] std::string normal_name(std::string_view host);

/// Which of several certificates a client wants: exact names first, then wildcards; of two
/// certificates with one name the first.
class NameIndex {
 public:
  void add(const CertificateNames& names, std::size_t certificate);
  [[nodiscard]] std::optional<std::size_t> find(std::string_view host) const;

 private:
  std::unordered_map<std::string, std::size_t> exact_;
  std::unordered_map<std::string, std::size_t> wildcards_;  // by what follows the `*`
};

}  // namespace skua::tls
