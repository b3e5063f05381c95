// SPDX-License-Identifier: MIT
// In: the TLS settings that both sides share. Out: an OpenSSL context with exactly these, whatever
// the defaults of the library or the machine.
#ifdef SKUA_HAS_TLS

#include "tls/context.hpp"

#include <new>
#include <utility>

#include "tls/engine.hpp"

namespace skua::tls {
namespace {

// Forward secrecy and authenticated encryption only. ChaCha20 goes first for peers that prefer it.
constexpr const char* suites_of_tls12 =
    "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-GCM-SHA384:"
    "ECDHE-RSA-AES256-GCM-SHA384:ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305";
constexpr const char* suites_of_tls13 =
    "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256";

constexpr int max_chain_depth = 10;

constexpr int number(TlsVersion version) noexcept {
  return version == TlsVersion::Tls13 ? TLS1_3_VERSION : TLS1_2_VERSION;
}

}  // namespace

Result<ContextPointer, Problem> make_context(const SSL_METHOD* method, TlsVersion minimum,
                                             TlsVersion maximum) {
  ERR_clear_error();
  ContextPointer made(SSL_CTX_new(method));
  if (!made) return unusable("cannot set up OpenSSL: " + take_reason());
  SSL_CTX* const context = made.get();
  const bool is_set = SSL_CTX_set_min_proto_version(context, number(minimum)) == 1 &&
                      SSL_CTX_set_max_proto_version(context, number(maximum)) == 1 &&
                      SSL_CTX_set_cipher_list(context, suites_of_tls12) == 1 &&
                      SSL_CTX_set_ciphersuites(context, suites_of_tls13) == 1 &&
                      SSL_CTX_set1_groups_list(context, "X25519:P-256:P-384") == 1;
  if (!is_set) return unusable("OpenSSL lacks suites or groups that TLS needs: " + take_reason());
  SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION |
                                   SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_PRIORITIZE_CHACHA);
  SSL_CTX_clear_options(context, SSL_OP_IGNORE_UNEXPECTED_EOF | SSL_OP_LEGACY_SERVER_CONNECT);
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_max_early_data(context, 0);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_verify_depth(context, max_chain_depth);
  return made;
}

Result<void, Problem> use_credentials(SSL_CTX& context, const Credentials& credentials) {
  ERR_clear_error();
  if (SSL_CTX_use_cert_and_key(&context, credentials.own.get(), credentials.key.get(),
                               credentials.intermediates.get(), 1) == 1) {
    return {};
  }
  return unusable(credentials.source + " cannot be used: " + take_reason());
}

std::string protocol_list(const std::vector<std::string>& protocols) {
  std::string list;
  for (const std::string& protocol : protocols) {
    SKUA_ASSERT(!protocol.empty() && protocol.size() < 256);
    list += static_cast<char>(protocol.size());
    list += protocol;
  }
  return list;
}

Result<std::string, Problem> trust(SSL_CTX& context, const std::string& source,
                                   std::string_view role) {
  const Result<ChainPointer, Problem> read = read_certificates(source, role);
  if (!read) return read.error();
  const ChainPointer& authorities = *read;
  X509_STORE* const store = SSL_CTX_get_cert_store(&context);
  // Every certificate in the file is trusted, whether it is a root or not.
  X509_STORE_set_flags(store, X509_V_FLAG_PARTIAL_CHAIN);
  std::string identity;
  for (int i = 0; i < sk_X509_num(authorities.get()); ++i) {
    X509* const authority = sk_X509_value(authorities.get(), i);
    identity += fingerprint(*authority);
    if (X509_STORE_add_cert(store, authority) != 1) {
      return unusable(std::string(role) + " cannot be used: " + take_reason());
    }
  }
  return identity;
}

int note_verification(int is_accepted, X509_STORE_CTX* store_context) noexcept try {
  if (is_accepted == 1) return 1;
  auto* const ssl = static_cast<SSL*>(
      X509_STORE_CTX_get_ex_data(store_context, SSL_get_ex_data_X509_STORE_CTX_idx()));
  const X509* const certificate = X509_STORE_CTX_get_current_cert(store_context);
  std::string subject;
  std::string issuer;
  if (certificate != nullptr) {
    subject = name_text(X509_get_subject_name(certificate));
    issuer = name_text(X509_get_issuer_name(certificate));
  }
  static_cast<Engine*>(SSL_get_app_data(ssl))
      ->note_rejection(X509_STORE_CTX_get_error(store_context),
                       X509_STORE_CTX_get_error_depth(store_context), std::move(subject),
                       std::move(issuer));
  return 0;
} catch (const std::bad_alloc&) {
  return 0;
}

}  // namespace skua::tls

#endif
