// SPDX-License-Identifier: MIT
#pragma once

#include "configure.hpp"
#include "serve/log/log_options.hpp"
#include "serve/site/site_options.hpp"
#include "serve/site/uploads.hpp"
#include "serve/site/webdav.hpp"
#include "skua/error.hpp"
#include "skua/file_options.hpp"
#include "skua/inherited_sockets.hpp"
#include "skua/options.hpp"
#include "skua/trusted_proxies.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace skua::cli {

/// Options of `skua serve`.
struct ServeOptions {
  std::vector<std::string> words{};  ///< of the command line, to parse them again
  /// The values of the options, by name, that a running server cannot change.
  std::map<std::string, std::vector<std::string>> fixed{};
  std::string config{};  ///< TOML file that sets the others; empty: none
  std::string folder = ".";
  FileOptions files{.listing = true};
  SiteOptions site{};
  ServeUploads uploads{};
  ServeWebDav webdav{};
  ServerOptions server{.host = "127.0.0.1"};
  std::string admin{};  ///< where operators' tools connect: PORT, ADDRESS:PORT or unix:/PATH
  std::vector<ListeningSocket> admin_listeners{};  ///< inherited, in place of that place
  bool hand_over = false;  ///< SIGUSR2 starts a new process, which takes over
  std::vector<ListeningSocket> redirect_listeners{};  ///< inherited, in place of redirect_port
  std::optional<std::uint16_t> redirect_port{};       ///< redirects plain HTTP to HTTPS
  std::uint32_t hsts_seconds = 0;                     ///< Strict-Transport-Security; 0: not sent
  std::vector<std::string> allow{};                   ///< networks, or @FILE with a list of them
  std::vector<std::string> deny{};                    ///< likewise
  std::vector<std::string> proxies{};                 ///< likewise, or `unix`: trusted proxies
  ForwardedFields forwarded = ForwardedFields::None;  ///< the fields that these set
  bool proxy_protocol = false;                        ///< these begin with a PROXY header
  std::string auth{};      ///< htpasswd file whose users may log in; empty: none
  bool is_public = false;  ///< listens on all IPv4 addresses, which are printed
  std::string user{};      ///< NAME[:GROUP] to become once the server listens; empty: stay
  bool sandbox = true;     ///< gives up what the server does not need, see enter_sandbox()
  bool open = false;       ///< opens the site in a browser of this machine
  bool qr = false;         ///< prints a QR code of the URL
  bool watch = false;      ///< reloads pages when the folder changes
  LogOptions log{};
  bool print_config = false;
  bool quiet = false;
  bool status = true;         ///< shows a status line, if stderr is a terminal
  bool shows_status = false;  ///< it does, as found at the start
};

/// Adds the options, in groups, to the command. They are taken from the command line, the
/// environment and the file of --config, in this order; `options` must outlive the parser.
void declare(CLI::App& parser, ServeOptions& options);

// Options that commands for other servers have, too; each adds a part of them.

/// Adds where and how the server listens, and how it ends.
void declare_server(CLI::App& parser, ServeOptions& options);
/// Adds which clients it accepts, and which proxies it believes.
void declare_clients(CLI::App& parser, ServeOptions& options);
void declare_admin(CLI::App& parser, ServeOptions& options);
void declare_privileges(CLI::App& parser, ServeOptions& options);
/// Adds what it prints, apart from the access log.
void declare_messages(CLI::App& parser, ServeOptions& options);

/// Returns the options of the server of --admin.
ServerOptions admin_options(const ServeOptions& options);

/// Takes the options again from these words, the environment and the file of --config.
///
/// Ends with: the text of the error on the command line.
Result<ServeOptions, Problem> parse_again(const std::vector<std::string>& words);

}  // namespace skua::cli
