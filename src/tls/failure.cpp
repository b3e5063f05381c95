// SPDX-License-Identifier: MIT
// In: OpenSSL's codes. Out: errors, and texts that say how to fix them. No text ever suggests
// switching verification off.
#include "tls/failure.hpp"

#ifdef SKUA_HAS_TLS

#include "tls/openssl.hpp"

namespace skua::tls {
namespace {

// Describes the peer's alerts about our certificate; returns null for others. RFC 8446 §6.2
const char* words_of_alert(int alert) noexcept {
  switch (alert) {
    case SSL_AD_BAD_CERTIFICATE: return "the peer rejected our certificate";
    case SSL_AD_UNSUPPORTED_CERTIFICATE:
      return "the peer rejected our certificate: its type is not supported";
    case SSL_AD_CERTIFICATE_REVOKED: return "the peer rejected our certificate: it was revoked";
    case SSL_AD_CERTIFICATE_EXPIRED: return "the peer rejected our certificate: it has expired";
    case SSL_AD_CERTIFICATE_UNKNOWN:
      return "the peer rejected our certificate without giving a reason";
    case SSL_AD_UNKNOWN_CA:
      return "the peer rejected our certificate: it does not trust the issuer";
    case SSL_AD_CERTIFICATE_REQUIRED: return "the peer requires a certificate, but we sent none";
    default: return nullptr;
  }
}

const char* words(int reason) noexcept {
  switch (reason) {
    case SSL_R_NO_SHARED_CIPHER: return "the peer offers no acceptable cipher suite";
    case SSL_R_UNSUPPORTED_PROTOCOL:
    case SSL_R_VERSION_TOO_LOW: return "the peer's version of TLS is too old";
    case SSL_R_WRONG_VERSION_NUMBER: return "the peer does not speak TLS";
    case SSL_R_NO_APPLICATION_PROTOCOL: return "no common application protocol";
    case SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE: return "the client sent no certificate";
    case SSL_R_NO_SUITABLE_SIGNATURE_ALGORITHM:
      return "the peer supports no signature algorithm for this key";
    case SSL_R_DECRYPTION_FAILED_OR_BAD_RECORD_MAC: return "a record failed authentication";
    default: return nullptr;
  }
}

// A peer that sends intermediate certificates omits only its root.
std::string unknown_issuer(const RejectedCertificate& rejected) {
  std::string text = "its issuer '" + std::string(rejected.issuer) + "' is ";
  return text.append(rejected.depth == 0
                         ? "unknown: either the peer leaves out an intermediate certificate (its "
                           "certificate file must contain the whole chain), or the issuer is "
                           "missing from the trust store: add it there, or install the package "
                           "ca-certificates"
                         : "missing from the trust store: add it there, or install the package "
                           "ca-certificates");
}

std::string remedy(const RejectedCertificate& rejected) {
  switch (rejected.code) {
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE: return unknown_issuer(rejected);
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
      return "it is self-signed and not in the trust store: if it is your own, name its file as "
             "the trusted authority";
    case X509_V_ERR_CERT_HAS_EXPIRED:
      return "its owner must renew it; also check this machine's clock";
    case X509_V_ERR_CERT_NOT_YET_VALID: return "check this machine's clock";
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
      return "it is for another name: use a name that the certificate covers, or get one for "
             "this name";
    case X509_V_ERR_INVALID_PURPOSE: return "it was issued for another purpose";
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
  text.append(" (at depth ")
      .append(std::to_string(static_cast<std::uint64_t>(rejected.depth)))
      .append(" of the chain, '");
  text.append(rejected.subject).append("'; trusted: ").append(rejected.store).append(")");
  if (const std::string help = remedy(rejected); !help.empty()) {
    text.append("; ").append(help);
  }
  return text;
}

}  // namespace skua::tls

#endif
