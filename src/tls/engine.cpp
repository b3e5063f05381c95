// SPDX-License-Identifier: MIT
// In: the peer's records, and plain bytes to send. Out: plain bytes, and records to send. OpenSSL
// does the work; this file maps its results to steps and its failures to errors.
#include "tls/engine.hpp"

#include <algorithm>
#include <utility>

#ifdef SKUA_HAS_TLS
#include "tls/certificate.hpp"
#include "tls/failure.hpp"
#include "tls/openssl.hpp"
#include "tls/session_store.hpp"
#include "tls/wire_bio.hpp"
#endif

namespace skua::tls {

void Engine::choose(std::string server_name, const CertificateNames& names) {
  server_name_ = std::move(server_name);
  names_ = &names;
}

std::size_t Engine::take_input(char* into, std::size_t count_bytes) noexcept {
  const std::size_t count = std::min(count_bytes, input_.size());
  std::copy_n(input_.data(), count, into);
  input_ = input_.subspan(count);
  return count;
}

void Engine::note_rejection(int code, int depth, std::string subject, std::string issuer) {
  if (!rejection_) rejection_ = std::make_unique<Rejection>();
  if (rejection_->code != 0) return;  // later rejections follow from the first
  rejection_->code = code;
  rejection_->depth = depth;
  rejection_->subject = std::move(subject);
  rejection_->issuer = std::move(issuer);
}

void Engine::expect(std::string host, std::string store) {
  rejection_ = std::make_unique<Rejection>();
  rejection_->host = std::move(host);
  rejection_->store = std::move(store);
}

#ifdef SKUA_HAS_TLS

namespace {

// Counts everything received: record headers, handshake messages, alerts.
void count_message(int is_sent, int, int, const void*, std::size_t, SSL*, void* engine) {
  if (is_sent == 0) static_cast<Engine*>(engine)->note_message();
}

// The queue is empty nearly always, and emptying it costs more than asking.
void clear_errors() noexcept {
  if (ERR_peek_error() != 0) ERR_clear_error();
}

// Removes the errors of a failed call and returns its cause: the oldest one, unless a certificate
// was refused. Authorities that could not be read leave older ones then.
unsigned long take_cause() noexcept {
  unsigned long cause = ERR_get_error();
  for (unsigned long code = cause; code != 0; code = ERR_get_error()) {
    const bool is_refusal =
        ERR_GET_LIB(code) == ERR_LIB_SSL && ERR_GET_REASON(code) == SSL_R_CERTIFICATE_VERIFY_FAILED;
    if (is_refusal) cause = code;
  }
  return cause;
}

}  // namespace

Engine::Engine(ssl_st* ssl, std::shared_ptr<const void> context)
    : ssl_(ssl), context_(std::move(context)), is_client_(SSL_is_server(ssl) == 0) {
  SSL_set_app_data(ssl_, this);
  SSL_set_msg_callback(ssl_, count_message);
  SSL_set_msg_callback_arg(ssl_, this);
  BIO* const bio = make_wire_bio(*this).release();
  SSL_set_bio(ssl_, bio, bio);
}

Engine::~Engine() { SSL_free(ssl_); }

Engine::Step Engine::failed(int result) {
  const int kind = SSL_get_error(ssl_, result);
  if (kind == SSL_ERROR_WANT_READ && !is_flooded()) return Step::WantsInput;
  if (kind == SSL_ERROR_ZERO_RETURN) return Step::Ended;
  const Errc otherwise = is_established_ ? Errc::TlsFailed : Errc::TlsHandshakeFailed;
  const unsigned long cause = take_cause();
  error_ = is_flooded() ? Error(otherwise, "the peer sends records without data")
                        : failure_of(cause, SSL_get_verify_result(ssl_), is_established_);
  // RFC 5246 §7.2.2, 8446 §6.2: the sessions of a failed connection must be forgotten.
  if (sessions_ != nullptr) sessions_->forget(session_name_);
  return Step::Failed;
}

Engine::Step Engine::handshake() {
  if (error_.code() != Errc::None) return Step::Failed;
  ERR_clear_error();
  const int result = SSL_do_handshake(ssl_);
  if (result != 1) return failed(result);
  is_established_ = true;
  messages_ = 0;
  if (is_client_) rejection_.reset();
  // RFC 5077 §3.3: a TLS 1.2 session may be resumed many times. OpenSSL reports new sessions only,
  // and those of TLS 1.3 when their tickets arrive.
  if (is_resumed() && version() == TlsVersion::Tls12) note_session(SSL_get_session(ssl_));
  return Step::Done;
}

Engine::Read Engine::read(std::span<char> into) {
  if (error_.code() != Errc::None) return {Step::Failed, 0};
  clear_errors();
  std::size_t count = 0;
  const int result = SSL_read_ex(ssl_, into.data(), into.size(), &count);
  if (result != 1) return {failed(result), 0};
  messages_ = 0;
  return {Step::Done, count};
}

// OpenSSL allocates its buffer for each record, unless it is told to keep it.
bool Engine::write(std::span<const char> bytes, bool more) {
  if (error_.code() != Errc::None) return false;
  clear_errors();
  const std::size_t last_bytes = more || bytes.empty() ? 0 : (bytes.size() - 1) % record_bytes + 1;
  const std::span<const char> first = bytes.first(bytes.size() - last_bytes);
  if (!first.empty()) {
    SSL_clear_mode(ssl_, SSL_MODE_RELEASE_BUFFERS);
    if (!write_records(first)) return false;
  }
  if (last_bytes == 0) return true;
  SSL_set_mode(ssl_, SSL_MODE_RELEASE_BUFFERS);
  return write_records(bytes.last(last_bytes));
}

bool Engine::write_records(std::span<const char> bytes) {
  std::size_t count = 0;
  const int result = SSL_write_ex(ssl_, bytes.data(), bytes.size(), &count);
  if (result == 1) return true;
  if (failed(result) != Step::Failed) error_ = Error(Errc::TlsFailed, "TLS");
  return false;
}

void Engine::close_notify() {
  if (error_.code() != Errc::None || !is_established_) return;
  ERR_clear_error();
  SSL_shutdown(ssl_);
  ERR_clear_error();
}

std::string Engine::error_text() const {
  if (error_.code() == Errc::TlsCertificate && rejection_ && rejection_->code != 0) {
    return rejection_text({rejection_->code, rejection_->depth, rejection_->subject,
                           rejection_->issuer, rejection_->host, rejection_->store});
  }
  return error_.message();
}

std::string_view Engine::protocol() const noexcept {
  const unsigned char* name = nullptr;
  unsigned size = 0;
  SSL_get0_alpn_selected(ssl_, &name, &size);
  return {reinterpret_cast<const char*>(name), size};
}

TlsVersion Engine::version() const noexcept {
  return SSL_version(ssl_) == TLS1_3_VERSION ? TlsVersion::Tls13 : TlsVersion::Tls12;
}

std::string_view Engine::cipher() const noexcept { return SSL_get_cipher_name(ssl_); }

bool Engine::is_resumed() const noexcept { return SSL_session_reused(ssl_) == 1; }

PeerCertificate Engine::peer_certificate() const {
  const X509* const shown = SSL_get0_peer_certificate(ssl_);
  if (shown == nullptr) return {};
  const bool is_asked = (SSL_get_verify_mode(ssl_) & SSL_VERIFY_PEER) != 0;
  return {name_text(X509_get_subject_name(shown)), fingerprint(*shown),
          is_asked && SSL_get_verify_result(ssl_) == X509_V_OK};
}

void Engine::remember(SessionStore& sessions, std::string server) {
  sessions_ = &sessions;
  session_name_ = std::move(server);
}

// Copies the session: OpenSSL invalidates one whose connection ends without close_notify, which
// RFC 5246 §7.2.1 no longer requires.
void Engine::note_session(const ssl_session_st* session) {
  if (sessions_ == nullptr || SSL_SESSION_is_resumable(session) != 1) return;
  SessionPointer copy(SSL_SESSION_dup(session));
  if (copy) sessions_->keep(session_name_, std::move(copy));
}

std::string Engine::session() const {
  SSL_SESSION* const session = SSL_get_session(ssl_);
  if (session == nullptr || SSL_SESSION_is_resumable(session) != 1) return {};
  const int size = i2d_SSL_SESSION(session, nullptr);
  if (size <= 0) return {};
  std::string bytes(static_cast<std::size_t>(size), '\0');
  auto* out = reinterpret_cast<unsigned char*>(bytes.data());
  i2d_SSL_SESSION(session, &out);
  return bytes;
}

#else

// Contexts cannot be created in this build, so neither can engines.
Engine::Engine(ssl_st* ssl, std::shared_ptr<const void> context)
    : ssl_(ssl), context_(std::move(context)) {}
Engine::~Engine() = default;
Engine::Step Engine::failed(int) { return Step::Failed; }
Engine::Step Engine::handshake() { return Step::Failed; }
Engine::Read Engine::read(std::span<char>) { return {Step::Failed, 0}; }
bool Engine::write(std::span<const char>, bool) { return false; }
bool Engine::write_records(std::span<const char>) { return false; }
void Engine::close_notify() {}
std::string Engine::error_text() const { return {}; }
std::string_view Engine::protocol() const noexcept { return {}; }
TlsVersion Engine::version() const noexcept { return TlsVersion::Tls12; }
std::string_view Engine::cipher() const noexcept { return {}; }
bool Engine::is_resumed() const noexcept { return false; }
PeerCertificate Engine::peer_certificate() const { return {}; }
std::string Engine::session() const { return {}; }
void Engine::remember(SessionStore&, std::string) {}
void Engine::note_session(const ssl_session_st*) {}

#endif

}  // namespace skua::tls
