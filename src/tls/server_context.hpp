// SPDX-License-Identifier: MIT
#pragma once

#include <ctime>
#include <memory>
#include <string>
#include <vector>

#include "skua/tls.hpp"
#include "tls/engine.hpp"
#include "tls/problem.hpp"
#include "tls/ticket_keys.hpp"

namespace skua::tls {

/// The certificates and settings of a server, as they were when it was made.
///
/// Immutable: all threads share one, and connections keep the one that they began with.
class ServerContext {
 public:
  /// Reads every file. `protocols` are what the server speaks, the best first (`h2`, `http/1.1`);
  /// a client that speaks none of them is refused (RFC 7301 §3.2), one that does not say may stay.
  /// `keys` seal session tickets: the same object over reloads, so that tickets stay good.
  ///
  /// Ends with: TlsConfiguration and the reason; Unsupported in a build without OpenSSL.
  static Result<std::shared_ptr<const ServerContext>, Problem> create(
      const TlsOptions& options, const std::vector<std::string>& protocols,
      std::shared_ptr<TicketKeys> keys);

  ServerContext(const ServerContext&) = delete;
  ServerContext& operator=(const ServerContext&) = delete;
  virtual ~ServerContext() = default;

  /// A new connection's TLS; it keeps this context.
  [[nodiscard]] virtual std::unique_ptr<Engine> accept() const = 0;

  /// What an operator ought to know: certificates that are not valid, or soon no longer.
  [[nodiscard]] const std::vector<std::string>& warnings() const noexcept { return warnings_; }
  /// SHA-256 of the first certificate: `AB:CD:...`.
  [[nodiscard]] const std::string& fingerprint() const noexcept { return fingerprint_; }
  /// When the first of the certificates to end ends, in seconds since 1970.
  [[nodiscard]] std::time_t ends_at() const noexcept { return ends_at_; }

 protected:
  ServerContext() = default;
  std::vector<std::string> warnings_;
  std::string fingerprint_;
  std::time_t ends_at_ = 0;
};

}  // namespace skua::tls
