// SPDX-License-Identifier: MIT
// In: options, and files that change. Out: a context that is always usable.
#include "tls/reloadable_context.hpp"

#include <utility>

#include "base/disk.hpp"
#include "tls/issue.hpp"

namespace skua::tls {
namespace {

// Reports whether all options have their defaults. A new one does not compile without a line here.
bool has_defaults(const TlsOptions& options) noexcept {
  const auto& [certificate, key, more, is_self_signed, client_ca, client_certificate, version,
               has_tickets, lifetime, interval, refuses_names] = options;
  return certificate.empty() && key.empty() && more.empty() && !is_self_signed &&
         client_ca.empty() && client_certificate == ClientCertificate::Auto &&
         version == TlsVersion::Tls12 && has_tickets && lifetime == 12h && interval == 1min &&
         !refuses_names;
}

}  // namespace

ReloadableContext::ReloadableContext(TlsOptions options, std::vector<std::string> protocols,
                                     const loop::Clock& clock)
    : options_(std::move(options)),
      protocols_(std::move(protocols)),
      keys_(std::make_shared<TicketKeys>(options_.ticket_key_lifetime, clock)) {}

Result<std::unique_ptr<ReloadableContext>, Problem> ReloadableContext::create(
    TlsOptions options, std::vector<std::string> protocols, const loop::Clock& clock) {
  if (options.self_signed && options.certificate.empty()) {
    if (!options.private_key.empty()) {
      return unusable("self_signed and private_key are mutually exclusive");
    }
    // Generated once: a reload must not change our identity.
    auto made = make_self_signed_for_this_machine();
    if (!made) return made.error();
    options.certificate = std::move(made->certificate);
    options.private_key = std::move(made->private_key);
    options.self_signed = false;
  }
  std::unique_ptr<ReloadableContext> context(
      new ReloadableContext(std::move(options), std::move(protocols), clock));
  if (auto loaded = context->reload(); !loaded) return std::move(loaded).error();
  return context;
}

// A program that sets any option wants TLS: serving plain text instead would let everybody in.
Result<std::unique_ptr<ReloadableContext>, Problem> ReloadableContext::create_if_enabled(
    const TlsOptions& options, const std::vector<std::string>& protocols,
    const loop::Clock& clock) {
  if (options.is_enabled()) return create(options, protocols, clock);
  if (has_defaults(options)) return std::unique_ptr<ReloadableContext>();
  return unusable(
      "TLS options are set, but no certificate: set TlsOptions::certificate, or self_signed for "
      "tests");
}

std::shared_ptr<const ServerContext> ReloadableContext::current() const {
  const std::lock_guard lock(swapping_);
  return current_;
}

Result<void, Problem> ReloadableContext::reload() {
  const std::lock_guard lock(reloading_);
  seen_ = stamps();
  return load();
}

Result<bool, Problem> ReloadableContext::reload_if_changed() {
  const std::lock_guard lock(reloading_);
  std::vector<Stamp> now = stamps();
  if (now == seen_) return false;
  // Before the files are read, so that the next call sees a change made in the meantime.
  seen_ = std::move(now);
  if (auto loaded = load(); !loaded) return std::move(loaded).error();
  return true;
}

Result<void, Problem> ReloadableContext::load() {
  auto loaded = ServerContext::create(options_, protocols_, keys_);
  if (!loaded) return loaded.error();
  const std::lock_guard lock(swapping_);
  current_ = *std::move(loaded);
  return {};
}

std::vector<ReloadableContext::Stamp> ReloadableContext::stamps() const {
  std::vector<Stamp> found;
  const auto add = [&found](const std::string& source) {
    if (source.empty() || source.find("-----BEGIN") != std::string::npos) return;
    const Result<disk::FileStat> stat = disk::stat_of(source);
    found.push_back(stat ? Stamp{stat->modified_ns, stat->size_bytes, stat->inode} : Stamp{});
  };
  add(options_.certificate);
  add(options_.private_key);
  add(options_.client_ca);
  for (const TlsCertificate& more : options_.more_certificates) {
    add(more.certificate);
    add(more.private_key);
  }
  return found;
}

}  // namespace skua::tls
