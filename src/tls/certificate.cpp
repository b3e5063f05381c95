// SPDX-License-Identifier: MIT
// In: paths or PEM texts. Out: a chain and its matching key, or an error that says which file is
// wrong, why, and how to fix it.
#ifdef SKUA_HAS_TLS

#include "tls/certificate.hpp"

#include <array>
#include <cerrno>

#include "base/disk.hpp"
#include "base/system_text.hpp"

namespace skua::tls {
namespace {

constexpr std::size_t max_pem_bytes = 16_MiB;

std::string quoted(std::string_view role, const std::string& source) {
  const std::string text(role);
  return is_pem_text(source) ? text + " (given as text)" : text + " '" + source + "'";
}

Result<std::string, Problem> read_source(const std::string& source, std::string_view role) {
  if (is_pem_text(source)) return source;
  const auto failed = [&](int code) {
    return unusable(quoted(role, source) + " cannot be read: " + base::system_text(code) +
                    "; check the path and the file's permissions");
  };
  const disk::Descriptor file(disk::open_stream(source.c_str()));
  if (!file) return failed(errno);
  std::string text;
  std::array<char, 4096> piece;
  while (const auto count = disk::read(file.number(), piece.data(), piece.size())) {
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return failed(errno);
    text.append(piece.data(), static_cast<std::size_t>(count));
    if (text.size() > max_pem_bytes) return failed(EFBIG);
  }
  if (!is_pem_text(text)) {
    return unusable(quoted(role, source) + (text.empty()
                                                ? " is empty"
                                                : " is not PEM (it has no '-----BEGIN' line); "
                                                  "`openssl x509` or `openssl pkey` converts it"));
  }
  return text;
}

// Replaces OpenSSL's prompt on the terminal, which would block a server forever.
int refuse_pass_phrase(char*, int, int, void* was_asked) {
  *static_cast<bool*>(was_asked) = true;
  return -1;
}

Result<KeyPointer, Problem> read_key(const std::string& source, std::string_view role) {
  const Result<std::string, Problem> text = read_source(source, role);
  if (!text) return text.error();
  if ((*text).find("PRIVATE KEY-----") == std::string::npos) {
    return unusable(quoted(role, source) +
                    " has no private key in it; set the private key to the file that has one");
  }
  ERR_clear_error();
  bool was_asked = false;
  const BioPointer in = memory_bio(*text);
  KeyPointer key(PEM_read_bio_PrivateKey(in.get(), nullptr, refuse_pass_phrase, &was_asked));
  if (key) return key;
  const std::string reason = take_reason();
  if (was_asked) {
    return unusable(quoted(role, source) +
                    " needs a pass phrase; store it without one, readable by this user only: "
                    "`openssl pkey -in OLD -out NEW`");
  }
  return unusable(quoted(role, source) + " has a private key that cannot be read: " + reason);
}

std::string text_of(const ASN1_STRING* text) {
  const unsigned char* const data = ASN1_STRING_get0_data(text);
  return {reinterpret_cast<const char*>(data), static_cast<std::size_t>(ASN1_STRING_length(text))};
}

std::string common_name(const X509& certificate) {
  const X509_NAME* const subject = X509_get_subject_name(&certificate);
  const int at = X509_NAME_get_index_by_NID(subject, NID_commonName, -1);
  return at < 0 ? std::string()
                : text_of(X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at)));
}

// A name with a NUL in it would look like another name to code that stops there.
bool is_plain(const std::string& name) noexcept {
  return !name.empty() && name.find('\0') == std::string::npos;
}

}  // namespace

bool is_pem_text(std::string_view source) noexcept {
  return source.find("-----BEGIN") != std::string_view::npos;
}

Result<ChainPointer, Problem> read_certificates(const std::string& source, std::string_view role) {
  Result<std::string, Problem> text = read_source(source, role);
  if (!text) return text.error();
  ChainPointer chain(sk_X509_new_null());
  const BioPointer in = memory_bio(*text);
  if (!chain || !in) throw std::bad_alloc();
  ERR_clear_error();
  bool was_asked = false;
  while (X509* const next = PEM_read_bio_X509(in.get(), nullptr, refuse_pass_phrase, &was_asked)) {
    if (sk_X509_push(chain.get(), next) <= 0) throw std::bad_alloc();
  }
  // OpenSSL reports the end of the text as this error; any other is a real one.
  const bool is_end = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
  const std::string reason = take_reason();
  if (!is_end) return unusable(quoted(role, source) + " has a damaged certificate: " + reason);
  if (sk_X509_num(chain.get()) == 0) {
    return unusable(quoted(role, source) + " has no certificate in it");
  }
  return chain;
}

Result<Credentials, Problem> read_credentials(const TlsCertificate& source) {
  auto chain = read_certificates(source.certificate, "the certificate");
  if (!chain) return chain.error();
  const bool is_together = source.private_key.empty();
  const std::string& key_source = is_together ? source.certificate : source.private_key;
  auto key = read_key(key_source, is_together ? "the certificate" : "the private key");
  if (!key) return key.error();
  Credentials read;
  read.own.reset(sk_X509_shift(chain->get()));
  read.intermediates = *std::move(chain);
  read.key = *std::move(key);
  read.source = quoted("the certificate", source.certificate);
  ERR_clear_error();
  if (X509_check_private_key(read.own.get(), read.key.get()) != 1) {
    ERR_clear_error();
    return unusable(quoted("the private key", key_source) + " does not belong to " + read.source +
                    "; the server's own certificate must come first in its file, and the key must "
                    "be its own");
  }
  read.names = names_of(*read.own);
  return read;
}

std::string fingerprint(const X509& certificate) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest;
  unsigned size = 0;
  if (X509_digest(&certificate, EVP_sha256(), digest.data(), &size) != 1) return {};
  constexpr std::string_view digits = "0123456789ABCDEF";
  std::string text;
  for (unsigned i = 0; i < size; ++i) {
    if (i > 0) text += ':';
    text += digits[digest[i] >> 4U];
    text += digits[digest[i] & 0xFU];
  }
  return text;
}

CertificateNames names_of(const X509& certificate) {
  using Names = std::unique_ptr<GENERAL_NAMES, FreeBy<GENERAL_NAMES_free>>;
  const Names all(static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(&certificate, NID_subject_alt_name, nullptr, nullptr)));
  CertificateNames names;
  for (int i = 0; i < sk_GENERAL_NAME_num(all.get()); ++i) {
    int kind = 0;
    const void* const value = GENERAL_NAME_get0_value(sk_GENERAL_NAME_value(all.get(), i), &kind);
    if (kind == GEN_DNS) {
      const std::string name = text_of(static_cast<const ASN1_STRING*>(value));
      if (is_plain(name)) names.dns.push_back(normal_name(name));
    } else if (kind == GEN_IPADD) {
      names.addresses.push_back(text_of(static_cast<const ASN1_STRING*>(value)));
    }
  }
  // RFC 9525 retired the common name; it counts only if the certificate has no subjectAltName.
  if (!all) {
    const std::string name = common_name(certificate);
    if (is_plain(name)) names.dns.push_back(normal_name(name));
  }
  return names;
}

std::time_t end_of(const X509& certificate) noexcept {
  std::tm end{};
  if (ASN1_TIME_to_tm(X509_get0_notAfter(&certificate), &end) != 1) return 0;
  return ::timegm(&end);
}

std::string validity_warning(const Credentials& credentials) {
  constexpr std::time_t day = 24 * 60 * 60;
  const X509& own = *credentials.own;
  if (X509_cmp_current_time(X509_get0_notBefore(&own)) > 0) {
    return credentials.source +
           " is not valid yet: clients will refuse it; check this machine's clock";
  }
  const std::time_t left = end_of(own) - std::time(nullptr);
  if (left <= 0) {
    return credentials.source + " has expired: clients will refuse it; renew it";
  }
  if (left < 7 * day && credentials.source.find("as text") == std::string::npos) {
    const auto days = static_cast<std::uint64_t>(left / day);
    return credentials.source + " expires in " + std::to_string(days) + " days: renew it";
  }
  return {};
}

}  // namespace skua::tls

#endif
