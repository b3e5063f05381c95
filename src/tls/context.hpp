// SPDX-License-Identifier: MIT
/// Setup that server and client contexts share; include only in builds with OpenSSL.
#pragma once

#include <string>
#include <vector>

#include "skua/tls.hpp"
#include "tls/certificate.hpp"
#include "tls/failure.hpp"
#include "tls/openssl.hpp"

namespace skua::tls {

/// Creates a context with our versions, suites, groups and options, and OpenSSL's session cache
/// off. `method` is TLS_server_method() or TLS_client_method().
Result<ContextPointer, Problem> make_context(const SSL_METHOD* method, TlsVersion minimum,
                                             TlsVersion maximum);

/// Sets the certificate to present to peers.
Result<void, Problem> use_credentials(SSL_CTX& context, const Credentials& credentials);

/// Encodes protocol names (`h2`, `http/1.1`) as in RFC 7301 §3.1.
[[nodiscard]] std::string protocol_list(const std::vector<std::string>& protocols);

/// Trusts exactly the certificates in a file or PEM text. Returns their joined fingerprints.
Result<std::string, Problem> trust(SSL_CTX& context, const std::string& source,
                                   std::string_view role);

/// A callback for SSL_CTX_set_verify: records a rejection in the engine, and lets it stand.
int note_verification(int is_accepted, X509_STORE_CTX* store_context) noexcept;

}  // namespace skua::tls
