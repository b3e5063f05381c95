// SPDX-License-Identifier: MIT
// In: what a server needs. Out: a process that can do nothing else, and a text that says so.
#include "serve/sandbox.hpp"

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "serve/ip_rules.hpp"
#include "system.hpp"

namespace skua::cli {
namespace {

std::string folder_of(const std::string& file) {
  const std::filesystem::path folder = std::filesystem::path(file).parent_path();
  return folder.empty() ? "." : folder.string();
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
  needs.files.listed = {options.folder};
  std::vector<std::string> files = ip_rule_files(options);
  const TlsOptions& tls = options.server.tls;
  for (const std::string& file : {tls.certificate, tls.private_key, tls.client_ca}) {
    if (!file.empty()) files.push_back(file);
  }
  needs.files.readable = {"/dev/null"};  // stands in for a connection if descriptors run out
  for (const std::string& file : files) {
    needs.files.readable.push_back(folder_of(file));
    needs.files.readable.push_back(folder_of(resolved(file)));
  }
  constexpr std::string_view unix_prefix = "unix:";
  const std::string& host = options.server.host;
  const bool is_path = host.starts_with(unix_prefix) && !host.starts_with("unix:@");
  if (is_path && options.server.listeners.empty()) {
    needs.files.removable = {folder_of(host.substr(unix_prefix.size()))};
    needs.calls.unlink = true;
  }
  needs.calls.io_uring = backend == BackendChoice::IoUring;
  return needs;
}

// Files come first, because the user may not reach the folders; system calls last, because the
// other steps need some that the server does not.
Result<std::string, Problem> enter_sandbox(const SandboxNeeds& needs,
                                           const std::optional<User>& user) {
  const Result<void> privileges = forbid_new_privileges();
  const Result<int> landlock = restrict_files(needs.files);
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
  return findings.text();
}

}  // namespace skua::cli
