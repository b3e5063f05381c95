// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "skua/bytes.hpp"
#include "tls/problem.hpp"

namespace skua::tls {

/// A certificate that was made, with its key; all but the fingerprint as PEM.
struct Issued {
  std::string certificate{};
  std::string private_key{};
  std::string fingerprint{};  ///< SHA-256 of the certificate: `AB:CD:...`
};

/// What a new certificate says.
struct CertificateDetails {
  std::string common_name{};
  std::vector<std::string> hosts{};  ///< DNS names and addresses, as subjectAltName
  bool is_authority = false;         ///< it may sign other certificates
  bool has_rsa_key = false;          ///< RSA of 2048 bits, for peers that know no ECDSA
  Duration starts_in = -24h;         ///< before now, as clocks differ
  Duration ends_in = std::chrono::hours(24 * 30);
};

/// Makes a key, ECDSA on P-256 unless told otherwise, and a certificate with it, signed by
/// `issuer`, or by itself where that is null.
///
/// Ends with: TlsConfiguration where a PEM text of the issuer cannot be read.
Result<Issued, Problem> issue(const CertificateDetails& details, const Issued* issuer = nullptr);

/// A certificate for `localhost`, the loopback addresses and `more_hosts`, signed by itself.
Result<Issued, Problem> make_self_signed(const std::vector<std::string>& more_hosts);

/// The same for this machine: its name and every address it is reached by.
Result<Issued, Problem> make_self_signed_for_this_machine();

}  // namespace skua::tls
