// SPDX-License-Identifier: MIT
#pragma once

#include "loop/loop.hpp"
#include "net/log.hpp"
#include "tls/reloadable_context.hpp"

namespace skua::tls {

/// Tells the log of problems of the certificates that do not keep a server from using them.
void log_warnings(const net::Log& log, const ReloadableContext& context);
/// Tells the log that the certificates were reloaded, or of the problem why not, if there is one.
void log_reload(const net::Log& log, const ReloadableContext& context, const Problem* problem);

/// Reloads a server's certificates when their files change, and tells the log of it.
///
/// All members are for the loop's thread.
class CertificateWatch final {
 public:
  /// All arguments must outlive the object; the log must not throw. With an interval of zero, it
  /// never looks.
  CertificateWatch(loop::Loop& loop, ReloadableContext& context, Duration interval,
                   const net::Log& log);

  void stop() noexcept { timer_.stop(); }

 private:
  void start() noexcept;
  void check();

  ReloadableContext& context_;
  const Duration interval_;
  const net::Log& log_;
  loop::Timer timer_;
};

}  // namespace skua::tls
