// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "skua/bytes.hpp"

namespace skua {

/// A certificate chain, the leaf certificate first, and its private key.
struct TlsCertificate {
  std::string certificate{};  ///< the path of a PEM file, or PEM text
  std::string private_key{};  ///< likewise; empty: the key is in `certificate` too
};

/// A version of TLS that is supported. RFC 5246, RFC 8446
enum class TlsVersion : std::uint8_t { Tls12, Tls13 };

/// Whether clients are asked for a certificate.
enum class ClientCertificate : std::uint8_t {
  Auto,      ///< Required if there is a `client_ca`, otherwise None
  None,      ///< clients are not asked
  Optional,  ///< a client without a certificate is accepted, one with a bad one is not
  Required,  ///< a client without a valid certificate is refused in the handshake
};

/// TLS options of a server. Options that cannot be used keep it from starting, never weaken it:
/// without a certificate, all others have to have their default values.
///
/// Versions before 1.2, suites without forward secrecy and authentication, renegotiation,
/// compression and early data are not supported.
struct TlsOptions {
  std::string certificate{};  ///< the chain, leaf certificate first: the path of a PEM file, or PEM
  std::string private_key{};  ///< its key, likewise; empty: the key is in `certificate` too
  /// For other names, chosen by SNI; exact names take precedence over wildcards. Clients that send
  /// no name, or an unknown one, get the certificate above.
  std::vector<TlsCertificate> more_certificates{};
  /// Makes a key and a certificate for this machine's names and addresses when the server starts,
  /// instead of `certificate`: for tests and home networks, as no browser trusts it.
  bool self_signed = false;

  std::string client_ca{};  ///< CAs for clients' certificates: the path of a PEM file, or PEM text
  ClientCertificate client_certificate = ClientCertificate::Auto;

  TlsVersion minimum_version = TlsVersion::Tls12;
  bool session_tickets = true;             ///< faster handshakes for returning clients
  Duration ticket_key_lifetime = 12h;      ///< then a new key; tickets live as long
  Duration reload_interval = 1min;         ///< between checks for changed files; zero: no checks
  bool refuses_misdirected_names = false;  ///< 421 for a host that the certificate does not cover

  /// Reports whether TLS is enabled.
  [[nodiscard]] bool is_enabled() const noexcept { return self_signed || !certificate.empty(); }
};

/// The TLS of a server's connection, as negotiated with the client.
struct TlsInfo {
  TlsVersion version = TlsVersion::Tls13;
  std::string cipher{};              ///< the cipher suite: `TLS_AES_128_GCM_SHA256`
  std::string server_name{};         ///< that the client asked for (SNI), in lower case; or empty
  std::string client_subject{};      ///< of the client's certificate; empty: it sent none
  std::string client_fingerprint{};  ///< SHA-256 of the client's certificate: `AB:CD:...`
  bool is_client_verified = false;   ///< its certificate is signed by one of TlsOptions::client_ca
  bool is_resumed = false;           ///< continues an earlier session
};

/// TLS options of a client.
struct ClientTlsOptions {
  std::string authorities{};     ///< CAs for servers' certificates: the path of a PEM file, or PEM
                                 ///< text; empty: those that the system trusts
  TlsCertificate certificate{};  ///< shown to servers that ask; empty: none
  TlsVersion minimum_version = TlsVersion::Tls12;
  TlsVersion maximum_version = TlsVersion::Tls13;
  bool insecure = false;  ///< accepts any certificate: attackers can read and change everything
};

}  // namespace skua
