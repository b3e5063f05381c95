// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "skua/tls.hpp"
#include "tls/engine.hpp"
#include "tls/problem.hpp"

namespace skua::tls {

/// The trust and settings of a client. Immutable: all threads may share one.
class ClientContext {
 public:
  /// Reads every file. `protocols` are offered to the server, the best first.
  ///
  /// Ends with: TlsConfiguration and the reason; Unsupported in a build without OpenSSL.
  static Outcome<std::shared_ptr<const ClientContext>> create(
      const ClientTlsOptions& options, const std::vector<std::string>& protocols);

  ClientContext(const ClientContext&) = delete;
  ClientContext& operator=(const ClientContext&) = delete;
  virtual ~ClientContext() = default;

  /// TLS for a new connection to `host`, a name or the text of an IP address, whose certificate has
  /// to be for it. `session` resumes what Engine::session() gave; it has to be of the same host and
  /// the same context.
  [[nodiscard]] virtual std::unique_ptr<Engine> connect(std::string_view host,
                                                        std::string_view session = {}) const = 0;

 protected:
  ClientContext() = default;
};

}  // namespace skua::tls
