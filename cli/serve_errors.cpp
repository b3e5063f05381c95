// SPDX-License-Identifier: MIT
// In: the error that keeps a server from running. Out: that error and advice, on stderr.
#include "serve_errors.hpp"

#include "command.hpp"

#include <cerrno>
#include <cstdio>
#include <string_view>

namespace skua::cli {
namespace {

// The text of such an error already names the file, the problem and the remedy.
bool is_about_tls(Error error) noexcept {
  if (error.code() == Errc::TlsConfiguration) return true;
  return error.code() == Errc::Unsupported && error.context().find("TLS") != std::string_view::npos;
}

}  // namespace

int report_folder(const std::string& folder, Error error) {
  const char* advice = "Check the name, or choose another folder: skua serve DIR";
  std::string reason(message(error.code()));
  if (error.system_code() == ENOENT) reason = "no such folder";
  if (error.system_code() == ENOTDIR) reason = "not a folder";
  if (error.system_code() == EACCES) advice = "Make it readable, or choose another folder";
  std::fprintf(stderr, "skua: %s: %s\n%s.\n", folder.c_str(), reason.c_str(), advice);
  return failed;
}

int report_start(const ServerOptions& options, const Problem& problem,
                 const std::string& port_option) {
  if (is_about_tls(problem.error)) {
    std::fprintf(stderr, "skua: cannot serve HTTPS: %s\n", problem.text.c_str());
    return failed;
  }
  const bool is_unix = options.host.starts_with("unix:");
  std::string advice;
  switch (problem.code()) {
    case Errc::AddressInUse: {
      if (is_unix) {
        advice = "Another program is listening there; if the socket file is stale, remove it.";
        break;
      }
      const unsigned other = options.port < 65'535 ? options.port + 1U : 8080U;
      advice = "Another program is listening there. Choose another port, such as " + port_option +
               " " + std::to_string(other) + ", or use " + port_option + " 0 to pick a free one.";
      break;
    }
    case Errc::PermissionDenied:
      advice = is_unix ? "Choose a path in a folder that you may write to."
                       : "Ports below 1024 need privileges. Try " + port_option + " 8080.";
      break;
    case Errc::AddressUnavailable:
    case Errc::InvalidAddress:
      advice =
          "--host must be an address of this machine (127.0.0.1, 0.0.0.0, [::1], [::]) or "
          "unix:/PATH.";
      break;
    case Errc::Unsupported: advice = "Use --backend auto."; break;
    default: break;
  }
  std::string place = options.host;
  if (!is_unix) place += ":" + std::to_string(options.port);
  std::fprintf(stderr, "skua: cannot listen on %s: %s\n%s%s", place.c_str(), problem.text.c_str(),
               advice.c_str(), advice.empty() ? "" : "\n");
  return failed;
}

}  // namespace skua::cli
