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

/// Who the peer is, by the certificate that it showed.
struct PeerCertificate {
  std::string subject{};      ///< `CN = example.com`; empty: it showed none
  std::string fingerprint{};  ///< SHA-256 of the whole: `AB:CD:...`
  bool is_verified = false;   ///< an authority that we trust vouches for it
};

/// One TLS connection without a socket: the peer's bytes in, plain bytes out, and the other way
/// round. Made by a context; all functions after a failure fail.
///
/// RFC:       8446, 5246
class Engine final {
 public:
  enum class Step : std::uint8_t {
    Done,
    WantsInput,  ///< all that was fed has been used; more is needed
    Ended,       ///< the peer said that it sends no more (close_notify)
    Failed,      ///< see error(); what output() holds may be an alert that tells the peer
  };
  struct Read {
    Step step;
    std::size_t count_bytes;
  };

  /// The most plain bytes that read() gives and that write() takes at once.
  static constexpr std::size_t record_bytes = 16_KiB;

  /// Takes over `ssl`, which lives by `context`.
  Engine(ssl_st* ssl, std::shared_ptr<const void> context);
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  ~Engine();

  /// What the peer sent, to be used by the next calls and valid until they are over.
  void feed(std::span<const char> bytes) noexcept { input_ = bytes; }
  /// What is left of it. Parts of records are kept inside.
  [[nodiscard]] std::span<const char> unused() const noexcept { return input_; }
  /// What is to be sent to the peer; the caller takes it away.
  [[nodiscard]] std::string& output() noexcept { return output_; }

  /// Goes on with the handshake as far as the input reaches.
  Step handshake();
  /// Decrypts the next record into `into`, which has record_bytes.
  Read read(std::span<char> into);
  /// Encrypts one record of at most record_bytes; false where the connection has failed.
  bool write(std::span<const char> bytes);
  /// Tells the peer that no more will come.
  void close_notify();

  /// Why it failed; its context is text of static lifetime.
  [[nodiscard]] Error error() const noexcept { return error_; }
  /// The same for a log: what exactly, of which certificate, and what helps.
  [[nodiscard]] std::string error_text() const;

  [[nodiscard]] bool is_established() const noexcept { return is_established_; }
  [[nodiscard]] std::string_view protocol() const noexcept;
  /// The name that the client asked for (SNI), in lower case; empty where it named none.
  [[nodiscard]] const std::string& server_name() const noexcept { return server_name_; }
  /// Server: whether the certificate that it showed is for `host`.
  [[nodiscard]] bool covers(std::string_view host) const {
    return names_ != nullptr && names_->covers(host);
  }
  [[nodiscard]] TlsVersion version() const noexcept;
  /// `TLS_AES_128_GCM_SHA256`.
  [[nodiscard]] std::string_view cipher() const noexcept;
  [[nodiscard]] bool is_resumed() const noexcept;
  [[nodiscard]] PeerCertificate peer_certificate() const;
  /// Client: what resumes this session later (ClientContext::connect); empty where nothing does.
  [[nodiscard]] std::string session() const;

  // For the contexts' callbacks.
  void choose(std::string server_name, const CertificateNames& names);
  void note_rejection(int code, int depth, std::string subject, std::string issuer);
  void expect(std::string host, std::string store);  // client: for error_text
  /// Client: keeps the sessions that the server gives under its name; they live by the context.
  void remember(SessionStore& sessions, std::string server);
  void note_session(const ssl_session_st* session);
  std::size_t take_input(char* into, std::size_t count_bytes) noexcept;
  void note_message() noexcept { ++messages_; }
  /// More records and messages in a row than any honest peer sends without data.
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

  [[maybe_unused]] ssl_st* ssl_;
  std::shared_ptr<const void> context_;  // shared: a reload drops it while connections go on
  std::span<const char> input_{};
  std::string output_;
  std::string server_name_;
  const CertificateNames* names_ = nullptr;  // of the context
  std::unique_ptr<Rejection> rejection_;
  [[maybe_unused]] SessionStore* sessions_ = nullptr;  // of the context
  std::string session_name_;                           // what they are kept under
  Error error_ = Errc::None;
  std::uint32_t messages_ = 0;  // since there was data
  bool is_established_ = false;
  [[maybe_unused]] bool is_client_ = false;
};

}  // namespace skua::tls
