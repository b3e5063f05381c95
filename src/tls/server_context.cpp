// SPDX-License-Identifier: MIT
// In: the octets of a server_name extension. Out: the name in it.
//
//   0        2      3        5
//   | length | type | length | name ...        type 0 is host_name; exactly one is allowed
//
// In: options and the contents of their files. Out: engines that know which certificate to present.
// The certificate is chosen on the ClientHello, before OpenSSL looks at a ticket in it: a ticket
// carries the identity of the certificate and the client certificate policy it was issued under,
// and opens only there (anything else leads to CVE-2014-3616 and CVE-2025-23419).
#include "tls/server_context.hpp"

#include <algorithm>
#include <cstddef>
#include <new>
#include <utility>

#ifdef SKUA_HAS_TLS
#include <openssl/core_names.h>
#include <openssl/rand.h>

#include "crypto/digest.hpp"
#include "tls/context.hpp"
#include "tls/issue.hpp"
#endif

namespace skua::tls {
namespace {

constexpr std::size_t head_bytes = 5;

std::size_t number(std::string_view two_octets) noexcept {
  return static_cast<std::size_t>(static_cast<unsigned char>(two_octets[0])) << 8U |
         static_cast<unsigned char>(two_octets[1]);
}

}  // namespace

std::optional<std::string_view> parse_server_name(std::string_view extension) noexcept {
  if (extension.size() <= head_bytes || number(extension) != extension.size() - 2) {
    return std::nullopt;
  }
  if (extension[2] != 0 || number(extension.substr(3)) != extension.size() - head_bytes) {
    return std::nullopt;
  }
  const std::string_view name = extension.substr(head_bytes);
  if (name.size() > 255 || name.find('\0') != std::string_view::npos) return std::nullopt;
  return name;
}

#ifdef SKUA_HAS_TLS

namespace {

struct Entry {
  Credentials credentials;
  std::string identity;  // 32 octets: a hash of the certificate and the client policy
};

// A client whose certificate has expired since its ticket was issued must present one again.
SSL_TICKET_RETURN on_opened_ticket(SSL*, SSL_SESSION* session, const unsigned char*, std::size_t,
                                   SSL_TICKET_STATUS status, void*) noexcept {
  const bool is_opened = status == SSL_TICKET_SUCCESS || status == SSL_TICKET_SUCCESS_RENEW;
  if (!is_opened || is_peer_expired(session)) return SSL_TICKET_RETURN_IGNORE_RENEW;
  return status == SSL_TICKET_SUCCESS ? SSL_TICKET_RETURN_USE : SSL_TICKET_RETURN_USE_RENEW;
}

class OpensslServerContext final : public ServerContext,
                                   public std::enable_shared_from_this<OpensslServerContext> {
 public:
  explicit OpensslServerContext(std::shared_ptr<TicketKeys> keys) : keys_(std::move(keys)) {}

  Result<void, Problem> load(const TlsOptions& options, const std::vector<std::string>& protocols);
  [[nodiscard]] std::unique_ptr<Engine> accept() const override;

 private:
  Result<void, Problem> load_certificates(const TlsOptions& options);
  Result<void, Problem> load_client_ca(const TlsOptions& options);
  Result<void, Problem> identify();
  void set_callbacks(const TlsOptions& options);

  static int on_client_hello(SSL* ssl, int* alert, void* self) noexcept;
  static int on_protocols(SSL* ssl, const unsigned char** chosen, unsigned char* chosen_size,
                          const unsigned char* offered, unsigned offered_size, void* self) noexcept;
  static int on_ticket(SSL* ssl, unsigned char* name, unsigned char* iv, EVP_CIPHER_CTX* cipher,
                       EVP_MAC_CTX* authentication, int is_sealing) noexcept;

  const std::shared_ptr<TicketKeys> keys_;  // shared with the contexts before and after a reload
  ContextPointer context_;
  std::vector<Entry> entries_;
  NameIndex index_;
  std::string protocols_;  // RFC 7301 §3.1
  std::string demands_;    // the client certificate policy, as text
};

Result<void, Problem> OpensslServerContext::load(const TlsOptions& options,
                                                 const std::vector<std::string>& protocols) {
  auto made = make_context(TLS_server_method(), options.minimum_version, TlsVersion::Tls13);
  if (!made) return made.error();
  context_ = *std::move(made);
  protocols_ = protocol_list(protocols);
  if (auto loaded = load_client_ca(options); !loaded) return loaded;
  if (auto loaded = load_certificates(options); !loaded) return loaded;
  if (auto done = identify(); !done) return done;
  set_callbacks(options);
  return {};
}

Result<void, Problem> OpensslServerContext::load_certificates(const TlsOptions& options) {
  std::vector<TlsCertificate> sources{{options.certificate, options.private_key}};
  if (options.self_signed) {
    auto made = make_self_signed_for_this_machine();
    if (!made) return made.error();
    sources.front() = {made->certificate, made->private_key};
  }
  sources.insert(sources.end(), options.more_certificates.begin(), options.more_certificates.end());
  for (const TlsCertificate& source : sources) {
    auto read = read_credentials(source);
    if (!read) return read.error();
    // Tried here, so that an unusable certificate fails the start and not every handshake.
    if (auto used = use_credentials(*context_, *read); !used) return used;
    if (std::string warning = validity_warning(*read); !warning.empty()) {
      warnings_.push_back(std::move(warning));
    }
    const std::time_t end = end_of(*read->own);
    ends_at_ = entries_.empty() ? end : std::min(ends_at_, end);
    index_.add(read->names, entries_.size());
    entries_.push_back({*std::move(read), {}});
  }
  fingerprint_ = tls::fingerprint(*entries_.front().credentials.own);
  return use_credentials(*context_, entries_.front().credentials);
}

Result<void, Problem> OpensslServerContext::load_client_ca(const TlsOptions& options) {
  using enum ClientCertificate;
  const bool has_ca = !options.client_ca.empty();
  ClientCertificate wanted = options.client_certificate;
  if (wanted == Auto) wanted = has_ca ? Required : None;
  if (wanted == None && has_ca) {
    return unusable("client_ca is set, but client_certificate is None: leave one of them out");
  }
  if (wanted == None) return {};
  if (!has_ca) {
    return unusable("client_ca names no authority for client_certificate");
  }
  auto identity = trust(*context_, options.client_ca, "the client_ca");
  if (!identity) return identity.error();
  demands_ = (wanted == Required ? "required " : "optional ") + *identity;
  const auto authorities = read_certificates(options.client_ca, "the client_ca");
  if (!authorities) return authorities.error();
  for (int i = 0; i < sk_X509_num((*authorities).get()); ++i) {
    SSL_CTX_add_client_CA(context_.get(), sk_X509_value((*authorities).get(), i));
  }
  SSL_CTX_set_verify(
      context_.get(),
      SSL_VERIFY_PEER | (wanted == Required ? SSL_VERIFY_FAIL_IF_NO_PEER_CERT : SSL_VERIFY_NONE),
      note_verification);
  return {};
}

Result<void, Problem> OpensslServerContext::identify() {
  for (Entry& entry : entries_) {
    auto identity = crypto::hash(crypto::Hash::Sha256,
                                 tls::fingerprint(*entry.credentials.own) + '\n' + demands_);
    if (!identity) return Problem{identity.error(), "SHA-256 is not available in OpenSSL"};
    entry.identity = *std::move(identity);
  }
  return {};
}

void OpensslServerContext::set_callbacks(const TlsOptions& options) {
  SSL_CTX* const context = context_.get();
  SSL_CTX_set_app_data(context, this);
  SSL_CTX_set_client_hello_cb(context, on_client_hello, this);
  if (!protocols_.empty()) SSL_CTX_set_alpn_select_cb(context, on_protocols, this);
  if (!options.session_tickets) {
    SSL_CTX_set_options(context, SSL_OP_NO_TICKET);
    SSL_CTX_set_num_tickets(context, 0);
    return;
  }
  const auto lifetime = std::chrono::duration_cast<std::chrono::seconds>(keys_->lifetime());
  constexpr std::chrono::seconds longest = std::chrono::hours(24 * 7);  // RFC 8446 §4.6.1
  SSL_CTX_set_timeout(context, static_cast<long>(std::min(lifetime, longest).count()));
  SSL_CTX_set_tlsext_ticket_key_evp_cb(context, on_ticket);
  SSL_CTX_set_session_ticket_cb(context, nullptr, on_opened_ticket, nullptr);
}

std::unique_ptr<Engine> OpensslServerContext::accept() const {
  SslPointer ssl(SSL_new(context_.get()));
  if (!ssl) throw std::bad_alloc();
  SSL_set_accept_state(ssl.get());
  auto engine = std::make_unique<Engine>(ssl.get(), shared_from_this());
  static_cast<void>(ssl.release());  // owned by the engine
  return engine;
}

// Runs before a ticket is opened and before anything is negotiated.
int OpensslServerContext::on_client_hello(SSL* ssl, int* alert, void* self) noexcept try {
  const auto& context = *static_cast<const OpensslServerContext*>(self);
  const unsigned char* data = nullptr;
  std::size_t size = 0;
  std::string name;
  if (SSL_client_hello_get0_ext(ssl, TLSEXT_TYPE_server_name, &data, &size) == 1) {
    const auto parsed = parse_server_name({reinterpret_cast<const char*>(data), size});
    if (!parsed) {
      *alert = SSL_AD_DECODE_ERROR;
      return SSL_CLIENT_HELLO_ERROR;
    }
    name = normal_name(*parsed);
  }
  const Entry& entry = context.entries_[context.index_.find(name).value_or(0)];
  const Credentials& shown = entry.credentials;
  static_cast<Engine*>(SSL_get_app_data(ssl))->choose(std::move(name), shown.names);
  // An only certificate is there already, and setting it again compares it with its key, which
  // takes long. Of several, those of the context are cleared: OpenSSL might present one of another
  // key type.
  const bool is_only = context.entries_.size() == 1;
  if (!is_only) SSL_certs_clear(ssl);
  const bool is_set =
      (is_only || SSL_use_cert_and_key(ssl, shown.own.get(), shown.key.get(),
                                       shown.intermediates.get(), 1) == 1) &&
      SSL_set_session_id_context(ssl, reinterpret_cast<const unsigned char*>(entry.identity.data()),
                                 static_cast<unsigned>(entry.identity.size())) == 1;
  *alert = SSL_AD_INTERNAL_ERROR;
  return is_set ? SSL_CLIENT_HELLO_SUCCESS : SSL_CLIENT_HELLO_ERROR;
} catch (const std::bad_alloc&) {
  *alert = SSL_AD_INTERNAL_ERROR;
  return SSL_CLIENT_HELLO_ERROR;
}

int OpensslServerContext::on_protocols(SSL*, const unsigned char** chosen,
                                       unsigned char* chosen_size, const unsigned char* offered,
                                       unsigned offered_size, void* self) noexcept {
  const std::string& ours = static_cast<const OpensslServerContext*>(self)->protocols_;
  unsigned char* found = nullptr;
  const int result = SSL_select_next_proto(
      &found, chosen_size, reinterpret_cast<const unsigned char*>(ours.data()),
      static_cast<unsigned>(ours.size()), offered, offered_size);
  *chosen = found;
  return result == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_ALERT_FATAL;
}

bool set_authentication(EVP_MAC_CTX* authentication, TicketKey& key) noexcept {
  char digest[] = "SHA256";
  const OSSL_PARAM parameters[] = {
      OSSL_PARAM_construct_octet_string(OSSL_MAC_PARAM_KEY, key.authentication.data(),
                                        key.authentication.size()),
      OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest, 0),
      OSSL_PARAM_construct_end(),
  };
  return EVP_MAC_CTX_set_params(authentication, parameters) == 1;
}

// Returns 1 on success, 2 if the client needs a new ticket too, 0 for unknown keys, -1 on failure.
int OpensslServerContext::on_ticket(SSL* ssl, unsigned char* name, unsigned char* iv,
                                    EVP_CIPHER_CTX* cipher, EVP_MAC_CTX* authentication,
                                    int is_sealing) noexcept try {
  auto* const context =
      static_cast<const OpensslServerContext*>(SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl)));
  const EVP_CIPHER* const aes = EVP_aes_256_cbc();
  if (is_sealing == 1) {
    Result<TicketKey> key = context->keys_->sealing();
    if (!key || RAND_bytes(iv, EVP_CIPHER_get_iv_length(aes)) != 1) return -1;
    std::ranges::copy(key->name, name);
    const bool is_set = EVP_EncryptInit_ex2(cipher, aes, key->cipher.data(), iv, nullptr) == 1 &&
                        set_authentication(authentication, *key);
    return is_set ? 1 : -1;
  }
  auto found = context->keys_->opening(std::span<const unsigned char, 16>(name, 16));
  if (!found) return 0;
  const bool is_set =
      EVP_DecryptInit_ex2(cipher, aes, found->key.cipher.data(), iv, nullptr) == 1 &&
      set_authentication(authentication, found->key);
  if (!is_set) return -1;
  // RFC 8446 §C.4: a client uses a ticket only once, so it needs another for the next connection.
  return found->is_current && SSL_version(ssl) != TLS1_3_VERSION ? 1 : 2;
} catch (const std::bad_alloc&) {
  return -1;
}

}  // namespace

Result<std::shared_ptr<const ServerContext>, Problem> ServerContext::create(
    const TlsOptions& options, const std::vector<std::string>& protocols,
    std::shared_ptr<TicketKeys> keys) {
  if (options.self_signed == !options.certificate.empty()) {
    return unusable(options.self_signed ? "self_signed and certificate are mutually exclusive"
                                        : "no certificate is given");
  }
  auto context = std::make_shared<OpensslServerContext>(std::move(keys));
  if (const auto loaded = context->load(options, protocols); !loaded) return loaded.error();
  return std::shared_ptr<const ServerContext>(std::move(context));
}

#else

Result<std::shared_ptr<const ServerContext>, Problem> ServerContext::create(
    const TlsOptions&, const std::vector<std::string>&, std::shared_ptr<TicketKeys>) {
  return no_openssl();
}

#endif

}  // namespace skua::tls
