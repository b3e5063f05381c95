// SPDX-License-Identifier: MIT
// In: numbers of OpenSSL. Out: errors, and texts that say what helps. None of them ever tells to
// switch verification off.
#include "tls/failure.hpp"

#ifdef SKUA_HAS_TLS

#include "tls/openssl.hpp"

namespace skua::tls {
namespace {

// The peer's alerts about our certificate; null for others. RFC 8446 §6.2
const char* words_of_alert(int alert) noexcept {
  switch (alert) {
    case SSL_AD_BAD_CERTIFICATE: return "the peer did not accept our certificate";
    case SSL_AD_UNSUPPORTED_CERTIFICATE:
      return "the peer did not accept our certificate: its kind is not supported";
    case SSL_AD_CERTIFICATE_REVOKED:
      return "the peer did not accept our certificate: it was revoked";
    case SSL_AD_CERTIFICATE_EXPIRED:
      return "the peer did not accept our certificate: it has expired";
    case SSL_AD_CERTIFICATE_UNKNOWN:
      return "the peer did not accept our certificate, and does not say why";
    case SSL_AD_UNKNOWN_CA:
      return "the peer did not accept our certificate: it does not trust who signed it";
    case SSL_AD_CERTIFICATE_REQUIRED:
      return "the peer wants a certificate of ours, and was shown none";
    default: return nullptr;
  }
}

const char* words(int reason) noexcept {
  switch (reason) {
    case SSL_R_NO_SHARED_CIPHER: return "the peer has no cipher suite that is allowed here";
    case SSL_R_UNSUPPORTED_PROTOCOL:
    case SSL_R_VERSION_TOO_LOW: return "the peer's version of TLS is too old";
    case SSL_R_WRONG_VERSION_NUMBER: return "the peer does not speak TLS";
    case SSL_R_NO_APPLICATION_PROTOCOL: return "the peer speaks no protocol that is spoken here";
    case SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE: return "the client showed no certificate";
    case SSL_R_NO_SUITABLE_SIGNATURE_ALGORITHM:
      return "the peer has no signature algorithm for this key";
    case SSL_R_DECRYPTION_FAILED_OR_BAD_RECORD_MAC: return "a record was changed on its way";
    default: return nullptr;
  }
}

// A peer that sends intermediate certificates leaves out its root alone.
std::string unknown_issuer(const RejectedCertificate& rejected) {
  std::string text = "'" + std::string(rejected.issuer) + "' signed it, ";
  return text.append(rejected.depth == 0
                         ? "whose certificate is not here: either the peer leaves out an "
                           "intermediate certificate (its certificate file has to have the whole "
                           "chain), or this authority is missing in the store: add it there, or "
                           "install the package ca-certificates"
                         : "an authority that is missing in the store: add it there, or install "
                           "the package ca-certificates");
}

std::string remedy(const RejectedCertificate& rejected) {
  switch (rejected.code) {
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE: return unknown_issuer(rejected);
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
      return "it is signed by nobody whom the store knows: if it is your own, name its file as the "
             "authority to trust";
    case X509_V_ERR_CERT_HAS_EXPIRED:
      return "it has to be renewed where it comes from; check this machine's clock, too";
    case X509_V_ERR_CERT_NOT_YET_VALID: return "check this machine's clock";
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
      return "it is for another name: use a name that the certificate has, or get one for this "
             "name";
    case X509_V_ERR_INVALID_PURPOSE: return "it was made for something else";
    default: return {};
  }
}

}  // namespace

Error failure_of(unsigned long code, long verify_code, bool is_established) noexcept {
  const Errc otherwise = is_established ? Errc::TlsFailed : Errc::TlsHandshakeFailed;
  if (code == 0) return {otherwise, "TLS"};
  const int reason = ERR_GET_REASON(code);
  if (reason > SSL_AD_REASON_OFFSET && reason < SSL_AD_REASON_OFFSET + 256) {
    const int alert = reason - SSL_AD_REASON_OFFSET;
    if (const char* const text = words_of_alert(alert)) return {Errc::TlsCertificate, text};
    return {otherwise, SSL_alert_desc_string_long(alert)};
  }
  if (reason == SSL_R_HTTP_REQUEST) return {Errc::PlainHttp, "TLS"};
  if (reason == SSL_R_CERTIFICATE_VERIFY_FAILED) {
    return {Errc::TlsCertificate, X509_verify_cert_error_string(verify_code)};
  }
  if (reason == SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE) {
    return {Errc::TlsCertificate, words(reason)};
  }
  if (const char* const text = words(reason)) return {otherwise, text};
  const char* const text = ERR_reason_error_string(code);
  return {otherwise, text != nullptr ? text : "TLS"};
}

std::string rejection_text(const RejectedCertificate& rejected) {
  std::string text = rejected.host.empty() ? "the client's certificate" : "the certificate of ";
  text.append(rejected.host).append(" was not accepted: ");
  text.append(X509_verify_cert_error_string(rejected.code));
  text.append(" (at depth ").append(std::to_string(rejected.depth)).append(" of the chain, '");
  text.append(rejected.subject).append("'; trusted: ").append(rejected.store).append(")");
  if (const std::string help = remedy(rejected); !help.empty()) {
    text.append("; ").append(help);
  }
  return text;
}

}  // namespace skua::tls

#endif
