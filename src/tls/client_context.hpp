// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "skua/tls.hpp"
#include "tls/engine.hpp"
#include "tls/problem.hpp"

namespace skua::tls {

/// The trust and settings of a client, and the sessions that servers have given it: those go on in
/// no other context, whose trust may be another. All threads may share one.
class ClientContext {
 public:
  /// Reads every file. `protocols` are offered to the server, the best first.
  ///
  /// Ends with: TlsConfiguration and the reason; Unsupported in a build without OpenSSL.
  static Result<std::shared_ptr<const ClientContext>, Problem> create(
      const ClientTlsOptions& options, const std::vector<std::string>& protocols);

  ClientContext(const ClientContext&) = delete;
  ClientContext& operator=(const ClientContext&) = delete;
  virtual ~ClientContext() = default;

  /// TLS for a new connection to `host`, a name or the text of an IP address, whose certificate has
  /// to be for it. It goes on with the newest session that a connection to the same host and port
  /// has left, and leaves its own; the certificate is that of the first of them, and none goes on
  /// when that has expired.
  ///
  /// RFC:       8446 §2.2
  [[nodiscard]] virtual std::unique_ptr<Engine> connect(std::string_view host,
                                                        std::uint16_t port) const = 0;
  /// The same apart from those: `session` resumes what Engine::session() gave; it has to be of the
  /// same host and the same context.
  [[nodiscard]] virtual std::unique_ptr<Engine> connect(std::string_view host,
                                                        std::string_view session = {}) const = 0;

 protected:
  ClientContext() = default;
};

}  // namespace skua::tls
