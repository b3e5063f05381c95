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
#include "tls/problem.hpp"
#include "tls/server_context.hpp"

namespace skua::tls {

/// A server's current context, and the way to the next: files are read anew, and what was there
/// stays if they cannot be used. Any thread may call any function.
class ReloadableContext {
 public:
  /// Loads the first context; `clock` times ticket keys and outlives the result.
  ///
  /// Ends with: as ServerContext::create.
  static Result<std::unique_ptr<ReloadableContext>, Problem> create(
      TlsOptions options, std::vector<std::string> protocols, const loop::Clock& clock);

  /// What new connections are accepted with.
  [[nodiscard]] std::shared_ptr<const ServerContext> current() const;

  /// Loads everything anew; tickets stay good where certificate and demands on clients are the
  /// same. Ends with: why the old context stays.
  Result<void, Problem> reload();

  /// The same where a file is not the one that was loaded: its time, size or inode is another. Says
  /// whether one is; a problem is told once for each change of the files.
  Result<bool, Problem> reload_if_changed();

 private:
  struct Stamp {
    std::int64_t seconds = 0;
    std::int64_t nanoseconds = 0;
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
  const std::shared_ptr<TicketKeys> keys_;  // shared with every context that was ever current
  std::mutex reloading_;
  std::vector<Stamp> seen_;  // of the last attempt; guarded by reloading_
  mutable std::mutex swapping_;
  std::shared_ptr<const ServerContext> current_;  // shared with connections; guarded by swapping_
};

}  // namespace skua::tls
