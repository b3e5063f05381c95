// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "skua/error.hpp"
#include "skua/tls.hpp"
#include "tls/certificate_names.hpp"

struct ssl_st;
struct ssl_session_st;

namespace skua::tls {

class SessionStore;

/// The identity of the peer, from its certificate.
struct PeerCertificate {
  std::string subject{};      ///< `CN = example.com`; empty if the peer sent no certificate
  std::string fingerprint{};  ///< SHA-256 of the whole certificate: `AB:CD:...`
  bool is_verified = false;   ///< signed by a trusted authority
};

/// One TLS connection without a socket: converts the peer's bytes to plain bytes and back. Created
/// by a context. After a failure every function fails.
///
/// RFC:       8446, 5246
class Engine final {
 public:
  enum class Step : std::uint8_t {
    Done,
    WantsInput,  ///< all input is used up; more is needed
    Ended,       ///< the peer sent close_notify: no more data will come
    Failed,      ///< see error(); output() may hold an alert for the peer
  };
  struct Read {
    Step step;
    std::size_t count_bytes;
  };

  /// The most plain bytes of a record, and so those that read() returns at once.
  static constexpr std::size_t record_bytes = 16_KiB;

  /// Takes ownership of `ssl`, which depends on `context`.
  Engine(ssl_st* ssl, std::shared_ptr<const void> context);
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  ~Engine();

  /// Sets the peer's bytes as input for the next calls; they must stay valid until then.
  void feed(std::span<const char> bytes) noexcept { input_ = bytes; }
  /// Returns the unused input. Incomplete records are buffered in the engine.
  [[nodiscard]] std::span<const char> unused() const noexcept { return input_; }
  /// The records to send to the peer; the caller removes them.
  [[nodiscard]] std::string& output() noexcept { return output_; }

  /// Continues the handshake as far as the input allows.
  Step handshake();
  /// Decrypts the next record into `into`, which must have room for record_bytes.
  Read read(std::span<char> into);
  /// Encrypts records of at most record_bytes; returns false if the connection has failed. If
  /// `more` follows, the engine keeps a buffer for it.
  bool write(std::span<const char> bytes, bool more = false);
  /// Tells the peer that no more data will follow.
  void close_notify();

  /// Returns why the connection failed; the error's context has static lifetime.
  [[nodiscard]] Error error() const noexcept { return error_; }
  /// Describes the error for a log: the exact cause, the certificate, and how to fix it.
  [[nodiscard]] std::string error_text() const;

  [[nodiscard]] bool is_established() const noexcept { return is_established_; }
  [[nodiscard]] std::string_view protocol() const noexcept;
  /// The server name from the client (SNI) in lower case; empty if it sent none.
  [[nodiscard]] const std::string& server_name() const noexcept { return server_name_; }
  /// Server: reports whether the certificate it presented is valid for `host`.
  [[nodiscard]] bool covers(std::string_view host) const {
    return names_ != nullptr && names_->covers(host);
  }
  [[nodiscard]] TlsVersion version() const noexcept;
  /// The cipher suite, e.g. `TLS_AES_128_GCM_SHA256`.
  [[nodiscard]] std::string_view cipher() const noexcept;
  [[nodiscard]] bool is_resumed() const noexcept;
  [[nodiscard]] PeerCertificate peer_certificate() const;
  /// Client: returns this session for ClientContext::connect; empty if it cannot be resumed.
  [[nodiscard]] std::string session() const;

  // For the contexts' callbacks.
  void choose(std::string server_name, const CertificateNames& names);
  void note_rejection(int code, int depth, std::string subject, std::string issuer);
  void expect(std::string host, std::string store);  // client: for error_text
  /// Client: stores new sessions under the name `server`; `sessions` belongs to the context.
  void remember(SessionStore& sessions, std::string server);
  void note_session(const ssl_session_st* session);
  std::size_t take_input(char* into, std::size_t count_bytes) noexcept;
  void note_message() noexcept { ++messages_; }
  /// Reports whether the peer sent more records and messages without data than is plausible.
  [[nodiscard]] bool is_flooded() const noexcept { return messages_ > max_messages; }

 private:
  static constexpr std::uint32_t max_messages = 2000;

  struct Rejection {  // of the peer's certificate
    int code = 0;
    int depth = 0;
    std::string subject{};
    std::string issuer{};
    std::string host{};
    std::string store{};
  };

  Step failed(int result);
  bool write_records(std::span<const char> bytes);

  [[maybe_unused]] ssl_st* ssl_;
  std::shared_ptr<const void> context_;  // shared: a reload drops it while connections continue
  std::span<const char> input_{};
  std::string output_;
  std::string server_name_;
  const CertificateNames* names_ = nullptr;  // of the context
  std::unique_ptr<Rejection> rejection_;
  [[maybe_unused]] SessionStore* sessions_ = nullptr;  // of the context
  std::string session_name_;                           // the key for sessions_
  Error error_ = Errc::None;
  std::uint32_t messages_ = 0;  // since the last data
  bool is_established_ = false;
  [[maybe_unused]] bool is_client_ = false;
};

}  // namespace skua::tls
