// SPDX-License-Identifier: MIT
/// What server and client contexts set alike; included only where OpenSSL is there.
#pragma once

#include <string>
#include <vector>

#include "skua/tls.hpp"
#include "tls/certificate.hpp"
#include "tls/openssl.hpp"
#include "tls/problem.hpp"

namespace skua::tls {

/// A context with our versions, suites, groups and switches, and nothing of the system's session
/// cache. `method` is TLS_server_method() or TLS_client_method().
Result<ContextPointer, Problem> make_context(const SSL_METHOD* method, TlsVersion minimum,
                                             TlsVersion maximum);

/// Sets the certificate that is shown to peers.
Result<void, Problem> use_credentials(SSL_CTX& context, const Credentials& credentials);

/// `h2`, `http/1.1` as the octets of RFC 7301 §3.1.
[[nodiscard]] std::string protocol_list(const std::vector<std::string>& protocols);

/// Trusts the certificates of a file or text, and nobody else. Returns what identifies them.
Result<std::string, Problem> trust(SSL_CTX& context, const std::string& source,
                                   std::string_view role);

/// For SSL_CTX_set_verify: notes in the engine what was wrong, and lets it be wrong.
int note_verification(int is_accepted, X509_STORE_CTX* store_context) noexcept;

}  // namespace skua::tls
