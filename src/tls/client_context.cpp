// SPDX-License-Identifier: MIT
// In: trusted authorities and a host. Out: engines that continue only if a trusted authority signed
// the server's certificate for that very host (RFC 9110 §4.3.4).
#include "tls/client_context.hpp"

#include <utility>

#include "tls/certificate_names.hpp"

#ifdef SKUA_HAS_TLS
#include <array>
#include <cstdlib>
#include <filesystem>

#include "tls/context.hpp"
#include "tls/session_store.hpp"
#endif

namespace skua::tls {

// RFC 1035 §2.3.4; OpenSSL sends no longer name.
constexpr std::size_t longest_name_bytes = 255;

std::string_view ClientContext::fault_of(std::string_view host) {
  const std::string name = normal_name(host);
  if (name.empty()) return "there is no host name to verify";
  if (name.size() > longest_name_bytes) return "the host name is longer than 255 bytes";
  if (name.find('\0') != name.npos) return "the host name has a null byte";
  return {};
}

#ifdef SKUA_HAS_TLS

namespace {

// Common trust store locations, for an OpenSSL that was not built for this system.
constexpr std::array<const char*, 5> known_stores{
    "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem", "/etc/ssl/cert.pem", "/usr/local/etc/openssl@3/cert.pem"};

std::string environment_or(const char* name, const char* otherwise) {
  const char* const value = std::getenv(name);
  return value != nullptr && *value != '\0' ? value : otherwise;
}

// Returns 0: OpenSSL keeps ownership of the session.
int on_session(SSL* ssl, SSL_SESSION* session) noexcept try {
  static_cast<Engine*>(SSL_get_app_data(ssl))->note_session(session);
  return 0;
} catch (const std::bad_alloc&) {
  return 0;
}

class OpensslClientContext final : public ClientContext,
                                   public std::enable_shared_from_this<OpensslClientContext> {
 public:
  Result<void, Problem> load(const ClientTlsOptions& options,
                             const std::vector<std::string>& protocols);
  [[nodiscard]] std::unique_ptr<Engine> connect(std::string_view host,
                                                std::uint16_t port) const override;
  [[nodiscard]] std::unique_ptr<Engine> connect(std::string_view host,
                                                std::string_view session) const override;

 private:
  [[nodiscard]] std::unique_ptr<Engine> start(std::string_view host, SSL_SESSION* session) const;
  Result<void, Problem> load_trust(const ClientTlsOptions& options);
  Result<void, Problem> load_system_store();

  ContextPointer context_;
  std::string store_;  // the trust store, for messages
  mutable SessionStore sessions_;
};

Result<void, Problem> OpensslClientContext::load(const ClientTlsOptions& options,
                                                 const std::vector<std::string>& protocols) {
  auto made = make_context(TLS_client_method(), options.minimum_version, options.maximum_version);
  if (!made) return made.error();
  context_ = *std::move(made);
  // SessionStore replaces OpenSSL's cache: it is bounded and tells ports apart.
  SSL_CTX_set_session_cache_mode(context_.get(),
                                 SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
  SSL_CTX_sess_set_new_cb(context_.get(), on_session);
  if (options.certificate.certificate.empty()) {
    if (!options.certificate.private_key.empty()) {
      return unusable(
          "a private key is given, but no certificate: set ClientTlsOptions::certificate");
    }
  } else {
    const auto read = read_credentials(options.certificate);
    if (!read) return read.error();
    if (auto used = use_credentials(*context_, *read); !used) return used;
  }
  const std::string list = protocol_list(protocols);
  // Unlike the other functions, this one returns 0 on success.
  if (!list.empty() &&
      SSL_CTX_set_alpn_protos(context_.get(), reinterpret_cast<const unsigned char*>(list.data()),
                              static_cast<unsigned>(list.size())) != 0) {
    return unusable("the protocol list cannot be used: " + take_reason());
  }
  return load_trust(options);
}

Result<void, Problem> OpensslClientContext::load_trust(const ClientTlsOptions& options) {
  if (options.insecure) return {};
  SSL_CTX_set_verify(context_.get(), SSL_VERIFY_PEER, note_verification);
  if (options.authorities.empty()) return load_system_store();
  const auto trusted = trust(*context_, options.authorities, "the file of trusted authorities");
  if (!trusted) return trusted.error();
  store_ = is_pem_text(options.authorities) ? "the given certificates" : options.authorities;
  return {};
}

// OpenSSL itself honors SSL_CERT_FILE and SSL_CERT_DIR.
Result<void, Problem> OpensslClientContext::load_system_store() {
  std::error_code ignored;
  const std::string file = environment_or("SSL_CERT_FILE", X509_get_default_cert_file());
  const std::string folder = environment_or("SSL_CERT_DIR", X509_get_default_cert_dir());
  store_ = file + " and " + folder;
  ERR_clear_error();
  if (SSL_CTX_set_default_verify_paths(context_.get()) != 1) {
    return unusable("the system's authorities (" + store_ + ") cannot be read: " + take_reason());
  }
  if (std::filesystem::exists(file, ignored) || std::filesystem::exists(folder, ignored)) {
    return {};
  }
  for (const char* const known : known_stores) {
    if (!std::filesystem::exists(known, ignored)) continue;
    store_ = known;
    if (SSL_CTX_load_verify_file(context_.get(), known) == 1) return {};
    return unusable("the system's authorities (" + store_ + ") cannot be read: " + take_reason());
  }
  return unusable("there are no trusted authorities: neither " + store_ +
                  " exists; install the package ca-certificates, or set SSL_CERT_FILE");
}

std::unique_ptr<Engine> OpensslClientContext::connect(std::string_view host,
                                                      std::uint16_t port) const {
  std::string server = normal_name(host) + ":" + std::to_string(port);
  auto engine = start(host, sessions_.take(server).get());
  engine->remember(sessions_, std::move(server));
  return engine;
}

std::unique_ptr<Engine> OpensslClientContext::connect(std::string_view host,
                                                      std::string_view session) const {
  const auto* octet = reinterpret_cast<const unsigned char*>(session.data());
  const SessionPointer resumed(
      session.empty() ? nullptr
                      : d2i_SSL_SESSION(nullptr, &octet, static_cast<long>(session.size())));
  return start(host, resumed.get());
}

std::unique_ptr<Engine> OpensslClientContext::start(std::string_view host,
                                                    SSL_SESSION* session) const {
  SslPointer ssl(SSL_new(context_.get()));
  if (!ssl) throw std::bad_alloc();
  SSL_set_connect_state(ssl.get());
  X509_VERIFY_PARAM* const checks = SSL_get0_param(ssl.get());
  const std::string name = normal_name(host);
  const std::string octets = address_octets(host);
  bool is_set = !name.empty();
  if (!octets.empty()) {
    const auto* const address = reinterpret_cast<const unsigned char*>(octets.data());
    is_set = X509_VERIFY_PARAM_set1_ip(checks, address, octets.size()) == 1;
  } else if (is_set) {
    // RFC 9525 appendix A: the common name never counts, even if there is no other name.
    X509_VERIFY_PARAM_set_hostflags(
        checks, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
    // RFC 6066 §3: literal addresses are not permitted in SNI.
    is_set = X509_VERIFY_PARAM_set1_host(checks, name.c_str(), name.size()) == 1 &&
             SSL_set_tlsext_host_name(ssl.get(), name.c_str()) == 1;
  }
  // Without a name to check, any certificate would be accepted.
  if (!is_set) throw std::bad_alloc();
  if (session != nullptr) SSL_set_session(ssl.get(), session);
  auto engine = std::make_unique<Engine>(ssl.get(), shared_from_this());
  static_cast<void>(ssl.release());  // owned by the engine
  engine->expect(std::string(host), store_);
  return engine;
}

}  // namespace

Result<std::shared_ptr<const ClientContext>, Problem> ClientContext::create(
    const ClientTlsOptions& options, const std::vector<std::string>& protocols) {
  auto context = std::make_shared<OpensslClientContext>();
  if (const auto loaded = context->load(options, protocols); !loaded) return loaded.error();
  return std::shared_ptr<const ClientContext>(std::move(context));
}

#else

Result<std::shared_ptr<const ClientContext>, Problem> ClientContext::create(
    const ClientTlsOptions&, const std::vector<std::string>&) {
  return no_openssl();
}

#endif

}  // namespace skua::tls
