// SPDX-License-Identifier: MIT
// In: names and the issuer. Out: a key and an X.509 v3 certificate (RFC 5280) as PEM.
#include "tls/issue.hpp"

#include <algorithm>
#include <array>

#include "base/ascii.hpp"
#include "loop/sockets.hpp"
#include "skua/address.hpp"
#include "tls/certificate_names.hpp"

#ifdef SKUA_HAS_TLS
#include <openssl/rand.h>

#include "tls/certificate.hpp"
#include "tls/openssl.hpp"
#endif

namespace skua::tls {

Result<Issued, Problem> make_self_signed(const std::vector<std::string>& more_hosts) {
  CertificateDetails details;
  details.common_name = "skua self-signed";
  details.hosts = {"localhost", "127.0.0.1", "::1"};
  for (const std::string& host : more_hosts) {
    if (!host.empty() && std::ranges::find(details.hosts, host) == details.hosts.end()) {
      details.hosts.push_back(host);
    }
  }
  return issue(details);
}

Result<Issued, Problem> make_self_signed_for_this_machine() {
  std::vector<std::string> hosts{bsd::machine_name()};
  const Result<std::vector<NetworkInterface>> interfaces = network_interfaces();
  if (!interfaces) return make_self_signed(hosts);
  for (const NetworkInterface& network : *interfaces) {
    if (!network.is_up) continue;
    for (const Address& address : network.addresses) {
      if (address.is_loopback() || address.is_link_local()) continue;
      std::array<char, Address::max_text_bytes> text;
      hosts.emplace_back(address.format_host(text));
    }
  }
  return make_self_signed(hosts);
}

#ifdef SKUA_HAS_TLS

namespace {

Problem failed(const char* what) {
  return unusable("cannot create a certificate: " + std::string(what) + ": " + take_reason());
}

bool set_names(X509& certificate, const CertificateDetails& details, const X509_NAME* issuer) {
  X509_NAME* const subject = X509_get_subject_name(&certificate);
  const auto* const text = reinterpret_cast<const unsigned char*>(details.common_name.data());
  const int size = static_cast<int>(std::min<std::size_t>(details.common_name.size(), 64));
  const bool is_named =
      size == 0 || X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8, text, size, -1, 0) == 1;
  return is_named && X509_set_issuer_name(&certificate, issuer != nullptr ? issuer : subject) == 1;
}

// RFC 5280 §4.1.2.2: positive, at most 20 octets; random, so that it is unique.
bool set_serial(X509& certificate) {
  std::array<unsigned char, 16> octets;
  if (RAND_bytes(octets.data(), static_cast<int>(octets.size())) != 1) return false;
  octets[0] &= 0x7FU;
  octets[0] |= 0x40U;
  using Number = std::unique_ptr<BIGNUM, FreeBy<BN_free>>;
  const Number number(BN_bin2bn(octets.data(), static_cast<int>(octets.size()), nullptr));
  return number && BN_to_ASN1_INTEGER(number.get(), X509_get_serialNumber(&certificate)) != nullptr;
}

bool set_validity(X509& certificate, const CertificateDetails& details) {
  const auto seconds = [](Duration time) {
    return static_cast<long>(std::chrono::duration_cast<std::chrono::seconds>(time).count());
  };
  return X509_gmtime_adj(X509_getm_notBefore(&certificate), seconds(details.starts_in)) !=
             nullptr &&
         X509_gmtime_adj(X509_getm_notAfter(&certificate), seconds(details.ends_in)) != nullptr;
}

bool add_extension(X509& certificate, X509& issuer, int kind, const std::string& value) {
  X509V3_CTX context{};
  X509V3_set_ctx(&context, &issuer, &certificate, nullptr, nullptr, 0);
  using Extension = std::unique_ptr<X509_EXTENSION, FreeBy<X509_EXTENSION_free>>;
  const Extension extension(X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str()));
  return extension && X509_add_ext(&certificate, extension.get(), -1) == 1;
}

bool is_host_text(std::string_view host) {
  return !host.empty() && std::ranges::all_of(host, [](char c) {
    return ascii::is(c, ascii::Alpha | ascii::Digit) || c == '-' || c == '.' || c == '*' ||
           c == '_';
  });
}

// Returns e.g. `DNS:localhost,IP:127.0.0.1`; skips invalid hosts and addresses with a zone.
std::string alternative_names(const std::vector<std::string>& hosts) {
  std::string text;
  for (const std::string& host : hosts) {
    const std::string octets = address_octets(host);
    if (octets.empty() && !is_host_text(host)) continue;
    if (!text.empty()) text += ',';
    text += octets.empty() ? "DNS:" + host : "IP:" + address_text(octets);
  }
  return text;
}

bool add_extensions(X509& certificate, X509& issuer, const CertificateDetails& details) {
  const bool is_authority = details.is_authority;
  const std::string names = alternative_names(details.hosts);
  return add_extension(certificate, issuer, NID_basic_constraints,
                       is_authority ? "critical,CA:TRUE" : "critical,CA:FALSE") &&
         add_extension(
             certificate, issuer, NID_key_usage,
             is_authority ? "critical,keyCertSign,cRLSign" : "critical,digitalSignature") &&
         add_extension(certificate, issuer, NID_subject_key_identifier, "hash") &&
         (&certificate == &issuer ||
          add_extension(certificate, issuer, NID_authority_key_identifier, "keyid")) &&
         (is_authority ||
          add_extension(certificate, issuer, NID_ext_key_usage, "serverAuth,clientAuth")) &&
         (names.empty() || add_extension(certificate, issuer, NID_subject_alt_name, names));
}

Result<Issued, Problem> to_pem(X509& certificate, EVP_PKEY& key) {
  const BioPointer certificate_out(BIO_new(BIO_s_mem()));
  const BioPointer key_out(BIO_new(BIO_s_mem()));
  if (!certificate_out || !key_out ||
      PEM_write_bio_X509(certificate_out.get(), &certificate) != 1 ||
      PEM_write_bio_PKCS8PrivateKey(key_out.get(), &key, nullptr, nullptr, 0, nullptr, nullptr) !=
          1) {
    return failed("writing it as PEM");
  }
  return Issued{text_of(certificate_out), text_of(key_out), fingerprint(certificate)};
}

}  // namespace

Result<Issued, Problem> issue(const CertificateDetails& details, const Issued* issuer) {
  const KeyPointer key(details.has_rsa_key ? EVP_RSA_gen(2048) : EVP_EC_gen("P-256"));
  const CertificatePointer certificate(X509_new());
  if (!key || !certificate) return failed("generating the key");
  CertificatePointer issuer_certificate;
  KeyPointer issuer_key;
  if (issuer != nullptr) {
    auto read = read_credentials({issuer->certificate, issuer->private_key});
    if (!read) return read.error();
    issuer_certificate = std::move(read->own);
    issuer_key = std::move(read->key);
  }
  X509& signer = issuer != nullptr ? *issuer_certificate : *certificate;
  const X509_NAME* const issuer_name = issuer != nullptr ? X509_get_subject_name(&signer) : nullptr;
  const bool is_made =
      X509_set_version(certificate.get(), X509_VERSION_3) == 1 && set_serial(*certificate) &&
      set_validity(*certificate, details) && set_names(*certificate, details, issuer_name) &&
      X509_set_pubkey(certificate.get(), key.get()) == 1 &&
      add_extensions(*certificate, signer, details) &&
      X509_sign(certificate.get(), issuer_key ? issuer_key.get() : key.get(), EVP_sha256()) > 0;
  if (!is_made) return failed("signing it");
  return to_pem(*certificate, *key);
}

#else

Result<Issued, Problem> issue(const CertificateDetails&, const Issued*) { return no_openssl(); }

#endif

}  // namespace skua::tls
