// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "skua/bytes.hpp"

namespace skua {

/// Who a server is: a certificate chain, its own certificate first, and the private key to it.
struct TlsCertificate {
  std::string certificate{};  ///< the path of a PEM file, or PEM text
  std::string private_key{};  ///< the same; empty: it stands in `certificate` too
};

enum class TlsVersion : std::uint8_t { Tls12, Tls13 };

/// Whether clients are asked who they are.
enum class ClientCertificate : std::uint8_t {
  Auto,      ///< Required where there is a `client_ca`, otherwise None
  None,      ///< nobody is asked
  Optional,  ///< asked; who shows none may stay, who shows a bad one may not
  Required,  ///< who shows none, or a bad one, is refused in the handshake
};

/// How a server speaks TLS; what cannot be used is a refusal to start, never a weaker server.
///
/// Versions before 1.2, suites without forward secrecy and authentication, renegotiation,
/// compression and early data do not exist here.
struct TlsOptions {
  std::string certificate{};  ///< the chain, own certificate first: the path of a PEM file, or PEM
  std::string private_key{};  ///< its key: the same; empty: it stands in `certificate` too
  /// For other names: the client says which it wants (SNI), exact names go before wildcards. Who
  /// says none, or one that nobody has, gets the certificate above.
  std::vector<TlsCertificate> more_certificates{};
  /// Makes a key and a certificate for this machine's names and addresses when the server starts,
  /// instead of `certificate`: for tests and home networks, as no browser trusts it.
  bool self_signed = false;

  std::string client_ca{};  ///< who may sign clients' certificates: a PEM file's path, or PEM text
  ClientCertificate client_certificate = ClientCertificate::Auto;

  TlsVersion minimum_version = TlsVersion::Tls12;
  bool session_tickets = true;             ///< clients that come again shake hands faster
  Duration ticket_key_lifetime = 12h;      ///< then a new key; a ticket lives as long
  Duration reload_interval = 1min;         ///< between looks whether a file changed; zero: none
  bool refuses_misdirected_names = false;  ///< 421 for a host that the certificate does not cover

  /// Whether TLS is wanted at all.
  [[nodiscard]] bool is_enabled() const noexcept { return self_signed || !certificate.empty(); }
};

/// How a client speaks TLS, and whom it trusts.
struct ClientTlsOptions {
  std::string authorities{};     ///< who may sign servers' certificates: a PEM file's path, or PEM
                                 ///< text; empty: those whom the system trusts
  TlsCertificate certificate{};  ///< shown to servers that ask; empty: none
  TlsVersion minimum_version = TlsVersion::Tls12;
  TlsVersion maximum_version = TlsVersion::Tls13;
  bool insecure = false;  ///< takes any certificate: who can reach the wire can read and change all
};

}  // namespace skua
