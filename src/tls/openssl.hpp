// SPDX-License-Identifier: MIT
/// OpenSSL helpers for the sources in this folder; include only in builds with OpenSSL.
#pragma once

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <memory>
#include <string>

namespace skua::tls {

template <auto Free>
struct FreeBy {
  template <class T>
  void operator()(T* object) const noexcept {
    Free(object);
  }
};

using BioPointer = std::unique_ptr<BIO, FreeBy<BIO_free_all>>;
using CertificatePointer = std::unique_ptr<X509, FreeBy<X509_free>>;
using KeyPointer = std::unique_ptr<EVP_PKEY, FreeBy<EVP_PKEY_free>>;
using SslPointer = std::unique_ptr<SSL, FreeBy<SSL_free>>;
using ContextPointer = std::unique_ptr<SSL_CTX, FreeBy<SSL_CTX_free>>;
using SessionPointer = std::unique_ptr<SSL_SESSION, FreeBy<SSL_SESSION_free>>;

struct FreeChain {
  void operator()(STACK_OF(X509) * chain) const noexcept { sk_X509_pop_free(chain, X509_free); }
};
using ChainPointer = std::unique_ptr<STACK_OF(X509), FreeChain>;

/// Returns OpenSSL's text for the last error on this thread, and clears the error queue.
inline std::string take_reason() {
  const unsigned long code = ERR_peek_last_error();
  const char* const reason = ERR_reason_error_string(code);
  ERR_clear_error();
  return reason != nullptr ? reason : "no reason was given";
}

inline BioPointer memory_bio(std::string_view text) {
  return BioPointer(
      BIO_new_mem_buf(text.empty() ? "" : text.data(), static_cast<int>(text.size())));
}

/// Reports whether the peer certificate of a session has expired. It is verified only once, while
/// a session can be resumed forever, as each connection brings new tickets.
inline bool is_peer_expired(const SSL_SESSION* session) noexcept {
  const X509* const certificate = SSL_SESSION_get0_peer(const_cast<SSL_SESSION*>(session));
  return certificate != nullptr && X509_cmp_current_time(X509_get0_notAfter(certificate)) < 0;
}

/// Returns the text written to a memory BIO.
inline std::string text_of(const BioPointer& bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &data);
  return size > 0 ? std::string(data, static_cast<std::size_t>(size)) : std::string();
}

/// Formats a name as `CN = example.com, O = Example`.
inline std::string name_text(const X509_NAME* name) {
  const BioPointer out(BIO_new(BIO_s_mem()));
  if (!out || X509_NAME_print_ex(out.get(), name, 0, XN_FLAG_ONELINE & ~ASN1_STRFLGS_ESC_MSB) < 0) {
    return {};
  }
  return text_of(out);
}

}  // namespace skua::tls
