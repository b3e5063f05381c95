// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "loop/clock.hpp"
#include "skua/tls.hpp"
#include "tls/failure.hpp"
#include "tls/server_context.hpp"

namespace skua::tls {

/// A server's current context, which can be reloaded from its files. If they cannot be used, the
/// current context stays. Thread-safe.
class ReloadableContext {
 public:
  /// Loads the first context. `clock` times ticket keys and outlives the result.
  ///
  /// Ends with: the errors of ServerContext::create.
  static Result<std::unique_ptr<ReloadableContext>, Problem> create(
      TlsOptions options, std::vector<std::string> protocols, const loop::Clock& clock);

  /// Like create(), but returns null for options that do not enable TLS.
  ///
  /// Ends with: likewise; TlsConfiguration if there is no certificate, but another option is set.
  static Result<std::unique_ptr<ReloadableContext>, Problem> create_if_enabled(
      const TlsOptions& options, const std::vector<std::string>& protocols,
      const loop::Clock& clock);

  /// The context for new connections.
  [[nodiscard]] std::shared_ptr<const ServerContext> current() const;

  /// Reloads everything. Tickets stay valid if the certificate and the client certificate policy
  /// are unchanged. On an error the old context stays.
  Result<void, Problem> reload();

  /// Reloads if the time, size or inode of a file has changed, and reports whether it did. A
  /// problem is reported once per change of the files.
  Result<bool, Problem> reload_if_changed();

 private:
  struct Stamp {
    std::int64_t modified_ns = 0;
    std::uint64_t size_bytes = 0;
    std::uint64_t inode = 0;
    friend bool operator==(const Stamp&, const Stamp&) = default;
  };

  ReloadableContext(TlsOptions options, std::vector<std::string> protocols,
                    const loop::Clock& clock);
  [[nodiscard]] std::vector<Stamp> stamps() const;
  Result<void, Problem> load();

  TlsOptions options_;
  const std::vector<std::string> protocols_;
  const std::shared_ptr<TicketKeys> keys_;  // shared with all contexts, past and current
  std::mutex reloading_;
  std::vector<Stamp> seen_;  // of the last attempt; guarded by reloading_
  mutable std::mutex swapping_;
  std::shared_ptr<const ServerContext> current_;  // shared with connections; guarded by swapping_
};

}  // namespace skua::tls
