// SPDX-License-Identifier: MIT
/// Certificates and keys as OpenSSL objects; include only in builds with OpenSSL.
#pragma once

#include <ctime>
#include <string>
#include <string_view>
#include <vector>

#include "skua/tls.hpp"
#include "tls/certificate_names.hpp"
#include "tls/failure.hpp"
#include "tls/openssl.hpp"

namespace skua::tls {

/// A certificate chain and the private key that matches its first certificate.
struct Credentials {
  CertificatePointer own;
  ChainPointer intermediates;
  KeyPointer key;
  CertificateNames names{};
  std::string source{};  ///< where it was read from, for messages
};

/// Reports whether `source` is PEM text rather than a file path.
[[nodiscard]] bool is_pem_text(std::string_view source) noexcept;

/// Reads a chain and its key.
///
/// Ends with: TlsConfiguration: the file is missing, empty or not PEM, the key belongs to another
///            certificate, or it is encrypted (there is no prompt for a pass phrase).
Result<Credentials, Problem> read_credentials(const TlsCertificate& source);

/// Reads all certificates in a file or PEM text, at least one. `role` names the setting in errors.
Result<ChainPointer, Problem> read_certificates(const std::string& source, std::string_view role);

/// Returns the SHA-256 of the whole certificate as `AB:CD:...`.
[[nodiscard]] std::string fingerprint(const X509& certificate);
[[nodiscard]] CertificateNames names_of(const X509& certificate);
/// Returns the end of its validity in seconds since 1970, or 0 if that cannot be read.
[[nodiscard]] std::time_t end_of(const X509& certificate) noexcept;
/// Returns a warning if the certificate is not valid now or expires soon, else an empty string.
[[nodiscard]] std::string validity_warning(const Credentials& credentials);

}  // namespace skua::tls
