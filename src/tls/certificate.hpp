// SPDX-License-Identifier: MIT
/// Certificates and keys as OpenSSL has them; included only where OpenSSL is there.
#pragma once

#include <ctime>
#include <string>
#include <string_view>
#include <vector>

#include "skua/tls.hpp"
#include "tls/certificate_names.hpp"
#include "tls/openssl.hpp"
#include "tls/problem.hpp"

namespace skua::tls {

/// A chain and the key to its first certificate, where they belong together.
struct Credentials {
  CertificatePointer own;
  ChainPointer intermediates;
  KeyPointer key;
  CertificateNames names{};
  std::string source{};  ///< which it is, for messages
};

/// Whether this is PEM text itself, and not the path of a file.
[[nodiscard]] bool is_pem_text(std::string_view source) noexcept;

/// Reads a chain and its key.
///
/// Ends with: TlsConfiguration: no file, no PEM, nothing in it, a key for another certificate, or
/// one with a pass phrase (nobody is asked for it).
Result<Credentials, Problem> read_credentials(const TlsCertificate& source);

/// Reads every certificate of a file or text; at least one. `role` names the setting it is for.
Result<ChainPointer, Problem> read_certificates(const std::string& source, std::string_view role);

/// `AB:CD:...` of the SHA-256 of the whole certificate.
[[nodiscard]] std::string fingerprint(const X509& certificate);
[[nodiscard]] CertificateNames names_of(const X509& certificate);
/// When it ends, in seconds since 1970; 0 where that cannot be said.
[[nodiscard]] std::time_t end_of(const X509& certificate) noexcept;
/// Words about a certificate that is not valid now, or soon no longer; empty otherwise.
[[nodiscard]] std::string validity_warning(const Credentials& credentials);

}  // namespace skua::tls
