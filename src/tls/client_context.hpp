// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "skua/tls.hpp"
#include "tls/engine.hpp"
#include "tls/failure.hpp"

namespace skua::tls {

/// A client's trust store, settings and sessions. Sessions are never resumed in another context,
/// as that may trust other authorities. Thread-safe.
class ClientContext {
 public:
  /// Reads all files. `protocols` are offered to the server in order of preference.
  ///
  /// Ends with: TlsConfiguration and the reason; Unsupported in a build without OpenSSL.
  static Result<std::shared_ptr<const ClientContext>, Problem> create(
      const ClientTlsOptions& options, const std::vector<std::string>& protocols);

  ClientContext(const ClientContext&) = delete;
  ClientContext& operator=(const ClientContext&) = delete;
  virtual ~ClientContext() = default;

  /// Returns why no certificate can be verified for `host`; empty if one can.
  [[nodiscard]] static std::string_view fault_of(std::string_view host);

  /// Creates the engine for a new connection to `host`, a name or an IP address as text, for which
  /// the server's certificate must be valid, and which must have no fault. It resumes the newest
  /// session for the same host and port, and stores its own. A resumed session keeps the
  /// certificate of the original handshake, and is not resumed once that has expired.
  ///
  /// RFC:       8446 §2.2
  [[nodiscard]] virtual std::unique_ptr<Engine> connect(std::string_view host,
                                                        std::uint16_t port) const = 0;
  /// Like the other connect(), but without the stored sessions. Resumes `session`, which must come
  /// from Engine::session() for the same host and context.
  [[nodiscard]] virtual std::unique_ptr<Engine> connect(std::string_view host,
                                                        std::string_view session = {}) const = 0;

 protected:
  ClientContext() = default;
};

}  // namespace skua::tls
