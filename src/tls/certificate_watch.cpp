// SPDX-License-Identifier: MIT
// In: the time. Out: new certificates, and lines for a log.
#include "tls/certificate_watch.hpp"

#include <string>

namespace skua::tls {

void log_warnings(const net::Log& log, const ReloadableContext& context) {
  if (!log) return;
  for (const std::string& warning : context.current()->warnings()) {
    log(LogLevel::Warning, "TLS: " + warning);
  }
}

void log_reload(const net::Log& log, const ReloadableContext& context, const Problem* problem) {
  if (!log) return;
  if (problem != nullptr) {
    return log(LogLevel::Error, "TLS: keeping the old certificates: " + problem->text);
  }
  log(LogLevel::Info, "TLS: certificates reloaded");
  log_warnings(log, context);
}

CertificateWatch::CertificateWatch(loop::Loop& loop, ReloadableContext& context, Duration interval,
                                   const net::Log& log)
    : context_(context),
      interval_(interval),
      log_(log),
      timer_(loop.timers(), loop::call_member<&CertificateWatch::check>, this) {
  start();
}

void CertificateWatch::start() noexcept {
  if (interval_ > Duration::zero()) timer_.start(interval_);
}

void CertificateWatch::check() {
  const Result<bool, Problem> reloaded = context_.reload_if_changed();
  start();
  if (!reloaded) {
    log_reload(log_, context_, &reloaded.error());
  } else if (*reloaded) {
    log_reload(log_, context_, nullptr);
  }
}

}  // namespace skua::tls
