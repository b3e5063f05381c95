// SPDX-License-Identifier: MIT
// In: what a server needs. Out: a process that can do nothing else, and a text that says so.
#include "serve/sandbox/sandbox.hpp"

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "serve/ip_rules.hpp"
#include "serve/site/virtual_hosts.hpp"
#include "system.hpp"

namespace skua::cli {
namespace {

std::string folder_of(const std::string& file) {
  const std::filesystem::path folder = std::filesystem::path(file).parent_path();
  return folder.empty() ? "." : folder.string();
}

// Returns ` (TCP port 3000 4000)`; an empty text for Unix sockets only.
std::string ports_text(const std::vector<std::uint16_t>& ports) {
  std::string text;
  for (const std::uint16_t port : ports) text.append(" ").append(std::to_string(port));
  return text.empty() ? text : " (TCP port" + text + ")";
}

/// Collects what holds, and what does not.
class Findings {
 public:
  void hold(std::string_view what) { add(held_, what); }
  void miss(const Error& why) { add(missing_, why.message()); }
  [[nodiscard]] std::string text() const {
    const std::string held = held_.empty() ? "none" : held_;
    return missing_.empty() ? held : held + "; missing: " + missing_;
  }

 private:
  static void add(std::string& list, std::string_view what) {
    list.append(list.empty() ? "" : ", ").append(what);
  }

  std::string held_;
  std::string missing_;
};

}  // namespace

SandboxNeeds needs_of(const ServeOptions& options, BackendChoice backend) {
  SandboxNeeds needs;
  needs.access.listed = served_folders(options);
  std::vector<std::string> files = ip_rule_files(options);
  const TlsOptions& tls = options.server.tls;
  for (const std::string& file :
       {tls.certificate, tls.private_key, tls.client_ca, options.config, options.auth}) {
    if (!file.empty()) files.push_back(file);
  }
  needs.access.readable = {"/dev/null"};  // stands in for a connection if descriptors run out
  for (const std::string& file : files) {
    needs.access.readable.push_back(folder_of(file));
    needs.access.readable.push_back(folder_of(resolved(file)));
  }
  constexpr std::string_view unix_prefix = "unix:";
  const std::vector<ListeningSocket>& inherited = options.server.listeners;
  const bool is_own =
      inherited.empty() || std::ranges::any_of(inherited, &ListeningSocket::owns_path);
  for (const std::string& place : {is_own ? options.server.host : std::string(), options.admin}) {
    if (!place.starts_with(unix_prefix) || place.starts_with("unix:@")) continue;
    needs.access.removable.push_back(folder_of(place.substr(unix_prefix.size())));
    needs.calls.unlink = true;
  }
  if (!options.uploads.folder.empty()) {
    for (const std::string& folder : needs.access.listed) {
      needs.access.writable.push_back(folder + options.uploads.folder);
    }
    needs.calls.uploads = true;
  }
  if (!options.webdav.folder.empty()) {
    for (const std::string& folder : needs.access.listed) {
      needs.access.changeable.push_back(folder + options.webdav.folder);
    }
    needs.calls.uploads = true;
    needs.calls.webdav = true;
  }
  needs.access.logged = log_folders(options.log);
  needs.calls.logs = !needs.access.logged.empty();
  needs.access.connected = upstream_ports(options.site.proxies);
  needs.calls.connect = !options.site.proxies.empty();
  needs.calls.wait = options.open;
  needs.calls.watch = options.watch;
  needs.calls.terminal = options.shows_status;
  needs.calls.io_uring = backend == BackendChoice::IoUring;
  return needs;
}

std::string missing_in(const SandboxNeeds& needs, const SandboxNeeds& wanted) {
  const KeptAccess& kept = needs.access;
  std::vector<std::string> readable = kept.readable;
  readable.insert(readable.end(), kept.listed.begin(), kept.listed.end());
  for (const auto& [paths, allowed] : {std::pair(&wanted.access.listed, &kept.listed),
                                       std::pair(&wanted.access.readable, &std::as_const(readable)),
                                       std::pair(&wanted.access.removable, &kept.removable),
                                       std::pair(&wanted.access.writable, &kept.writable),
                                       std::pair(&wanted.access.changeable, &kept.changeable),
                                       std::pair(&wanted.access.logged, &kept.logged)}) {
    for (const std::string& path : *paths) {
      if (std::ranges::find(*allowed, path) == allowed->end()) return path;
    }
  }
  for (const std::uint16_t port : wanted.access.connected) {
    if (std::ranges::find(kept.connected, port) == kept.connected.end()) {
      return "port " + std::to_string(port);
    }
  }
  const bool has_calls = (needs.calls.io_uring || !wanted.calls.io_uring) &&
                         (needs.calls.unlink || !wanted.calls.unlink) &&
                         (needs.calls.uploads || !wanted.calls.uploads) &&
                         (needs.calls.webdav || !wanted.calls.webdav) &&
                         (needs.calls.terminal || !wanted.calls.terminal) &&
                         (needs.calls.connect || !wanted.calls.connect) &&
                         (needs.calls.watch || !wanted.calls.watch);
  return has_calls ? "" : "a system call";
}

// Files come first, because the user may not reach the folders; system calls last, because the
// other steps need some that the server does not.
Result<std::string, Problem> enter_sandbox(const SandboxNeeds& needs,
                                           const std::optional<User>& user) {
  const Result<void> privileges = forbid_new_privileges();
  const Result<int> landlock = restrict_access(needs.access);
  Findings findings;
  if (user) {
    if (auto changed = become(*user); !changed) return std::move(changed).error();
    findings.hold("user " + user->name);
  }
  const Result<void> calls = restrict_system_calls(needs.calls);
  privileges ? findings.hold("no new privileges") : findings.miss(privileges.error());
  if (landlock) {
    findings.hold("Landlock " + std::to_string(*landlock));
    if (*landlock < landlock_with_tcp) findings.miss(Error(Errc::Unsupported, "Landlock for TCP"));
  } else {
    findings.miss(landlock.error());
  }
  calls ? findings.hold("seccomp") : findings.miss(calls.error());
  if (needs.calls.connect)
    findings.hold("connections for --proxy" + ports_text(needs.access.connected));
  return findings.text();
}

}  // namespace skua::cli
