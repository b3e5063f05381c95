// SPDX-License-Identifier: MIT
#pragma once

#include <ctime>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "skua/tls.hpp"
#include "tls/engine.hpp"
#include "tls/failure.hpp"
#include "tls/ticket_keys.hpp"

namespace skua::tls {

/// A snapshot of a server's certificates and settings.
///
/// Immutable: all threads share one, and a connection keeps the one it started with.
class ServerContext {
 public:
  /// Reads all files. `protocols` lists the server's protocols (`h2`, `http/1.1`) in order of
  /// preference. A client that offers only others is refused (RFC 7301 §3.2), one without ALPN is
  /// not. `keys` seal session tickets; they are shared across reloads, so that tickets stay valid.
  ///
  /// Ends with: TlsConfiguration and the reason; Unsupported in a build without OpenSSL.
  static Result<std::shared_ptr<const ServerContext>, Problem> create(
      const TlsOptions& options, const std::vector<std::string>& protocols,
      std::shared_ptr<TicketKeys> keys);

  ServerContext(const ServerContext&) = delete;
  ServerContext& operator=(const ServerContext&) = delete;
  virtual ~ServerContext() = default;

  /// Creates the engine for a new connection; it keeps this context alive.
  [[nodiscard]] virtual std::unique_ptr<Engine> accept() const = 0;

  /// Warnings for the operator: certificates that are not valid, or expire soon.
  [[nodiscard]] const std::vector<std::string>& warnings() const noexcept { return warnings_; }
  /// SHA-256 of the first certificate: `AB:CD:...`.
  [[nodiscard]] const std::string& fingerprint() const noexcept { return fingerprint_; }
  /// The earliest expiry of all certificates, in seconds since 1970.
  [[nodiscard]] std::time_t ends_at() const noexcept { return ends_at_; }

 protected:
  ServerContext() = default;
  std::vector<std::string> warnings_;
  std::string fingerprint_;
  std::time_t ends_at_ = 0;
};

/// Returns the DNS name in a server_name extension, or nullopt if the extension is malformed.
///
/// RFC:       6066 §3
[[nodiscard]] std::optional<std::string_view> parse_server_name(
    std::string_view extension) noexcept;

}  // namespace skua::tls
