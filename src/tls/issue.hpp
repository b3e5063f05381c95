// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "skua/bytes.hpp"
#include "tls/failure.hpp"

namespace skua::tls {

/// A new certificate and its private key, both as PEM.
struct Issued {
  std::string certificate{};
  std::string private_key{};
  std::string fingerprint{};  ///< SHA-256 of the certificate: `AB:CD:...`
};

/// The contents of a new certificate.
struct CertificateDetails {
  std::string common_name{};
  std::vector<std::string> hosts{};  ///< DNS names and IP addresses for subjectAltName
  bool is_authority = false;         ///< may sign other certificates
  bool has_rsa_key = false;          ///< 2048-bit RSA, for peers without ECDSA
  Duration starts_in = -24h;         ///< in the past, as clocks differ
  Duration ends_in = std::chrono::hours(24 * 30);
};

/// Generates a key, ECDSA on P-256 by default, and a certificate for it, signed by `issuer`, or
/// self-signed if `issuer` is null.
///
/// Ends with: TlsConfiguration if the issuer's PEM cannot be read.
Result<Issued, Problem> issue(const CertificateDetails& details, const Issued* issuer = nullptr);

/// Issues a self-signed certificate for `localhost`, the loopback addresses and `more_hosts`.
Result<Issued, Problem> make_self_signed(const std::vector<std::string>& more_hosts);

/// Issues a self-signed certificate for this machine: also its host name and all its addresses.
Result<Issued, Problem> make_self_signed_for_this_machine();

}  // namespace skua::tls
