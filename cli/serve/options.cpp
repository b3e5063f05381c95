// SPDX-License-Identifier: MIT
// The options of `skua serve`. Their texts repeat the defaults of ServeOptions.
#include "serve/options.hpp"

#include <CLI/CLI.hpp>

#include "coding/coding.hpp"
#include "common_options.hpp"
#include "crypto/digest.hpp"
#include "serve/auth/password_hash.hpp"
#include "serve/launch/launch.hpp"
#include "serve/readme/readme.hpp"
#include "serve/site/host_check.hpp"
#include "serve/site/rate.hpp"
#include "serve/site/virtual_hosts.hpp"
#include "serve/tls.hpp"
#include "settings/settings.hpp"
#include "settings/settings_file.hpp"
#include "skua/admin.hpp"

#include <charconv>
#include <chrono>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace skua::cli {
namespace {

using coding::Coding;

// Only the server as a whole has these; a site is made again.
std::map<std::string, std::vector<std::string>> fixed_values(const CLI::App& parser) {
  std::map<std::string, std::vector<std::string>> values;
  for (const CLI::Option* const option : parser.get_options()) {
    const std::string& group = option->get_group();
    const std::string name = option->get_name();
    const bool is_of_server = group == "Server" || group == "HTTPS" || group == "Output";
    const bool is_of_site = name == "--allow" || name == "--deny" || name == "--auth" ||
                            name == "--rate" || name == "--hsts" || name == "--allow-host";
    if (is_of_server && !is_of_site) values[name] = option->results();
  }
  return values;
}

void declare_config(CLI::App& parser, ServeOptions& options) {
  CLI::Option* const config =
      parser
          .add_option("--config", options.config,
                      "Also take options from this TOML file; those of the command line win")
          ->option_text("FILE");
  if (!has_settings_files()) disable(*config, "toml++");
  // After the command line is parsed, and before the options are checked together.
  parser.parse_complete_callback([&parser, &options] {
    options.words = words_of(parser);
    apply_environment(parser);
    if (!options.config.empty()) apply_settings(parser, options.config);
    read_logins(options.site);
    options.fixed = fixed_values(parser);
  });
}

void declare_end(CLI::App& parser, ServeOptions& options) {
  Timeouts& timeouts = options.server.timeouts;
  const auto add = [&parser](const char* name, Duration& time, const char* text) {
    return parser
        .add_option_function<double>(
            name,
            [&time](const double& seconds) {
              time = Duration(static_cast<Duration::rep>(seconds * 1e9));
            },
            text)
        ->check(in_range(0.0, 86'400.0));
  };
  parser.add_flag("--hand-over", options.hand_over,
                  "On SIGUSR2, start a new process, which takes over without a gap");
  add("--drain-delay", timeouts.drain_delay,
      "Once a signal has arrived, serve for this long as before, then stop")
      ->option_text("SECONDS [0]");
  add("--drain-grace", timeouts.drain_grace,
      "While stopping, keep idle connections for this long, as requests may be on their way")
      ->option_text("SECONDS [0.05]");
}

}  // namespace

void declare_server(CLI::App& parser, ServeOptions& options) {
  ServerOptions& server = options.server;
  CLI::Option* const host =
      parser
          .add_option("--host", server.host,
                      "Address to listen on; 0.0.0.0 for all IPv4, [::] for all, or unix:/PATH")
          ->option_text("ADDRESS [127.0.0.1]");
  parser
      .add_flag_callback(
          "--public",
          [&options] {
            options.is_public = true;
            options.server.host = "0.0.0.0";
          },
          "Let other machines connect: listen on all IPv4 addresses, and print them")
      ->excludes(host);
  parser.add_option("-p,--port", server.port, "Port to listen on; 0 picks a free one")
      ->check(whole_in_range(0, 65'535))
      ->option_text("PORT [8080]");
  parser.add_option("--threads", server.threads, "Number of server threads; 0 for one per core")
      ->check(whole_in_range(0, 1024))
      ->option_text("COUNT [0]");
  declare_end(parser, options);
  parser.add_flag("--reuse-port", server.reuse_port,
                  "Let other processes of this user listen on the port, too");
  declare_backend(parser, server.backend);
  parser.add_flag_callback("--no-http2", [&server] { server.http2 = false; }, "Disable HTTP/2");
}

namespace {

void declare_trusted_proxies(CLI::App& parser, ServeOptions& options) {
  CLI::Option* const proxies =
      parser
          .add_option("--trust-proxy", options.proxies,
                      "Believe proxies of this network who the client is, or with unix those on a "
                      "Unix socket; @FILE has one network a line")
          ->allow_extra_args(false)
          ->option_text("NETWORK|unix|@FILE ...");
  parser
      .add_option_function<std::string>(
          "--forwarded",
          [&options](const std::string& kind) {
            options.forwarded =
                kind == "x-forwarded" ? ForwardedFields::XForwarded : ForwardedFields::Forwarded;
          },
          "Fields in which these proxies tell of the client: X-Forwarded-For, -Proto and -Host, or "
          "Forwarded")
      ->check(one_of({"x-forwarded", "forwarded"}))
      ->needs(proxies)
      ->option_text("x-forwarded|forwarded");
  parser
      .add_flag("--proxy-protocol", options.proxy_protocol,
                "Accept connections of these proxies only, each with a PROXY header")
      ->needs(proxies)
      ->option_text(" ");
}

}  // namespace

void declare_clients(CLI::App& parser, ServeOptions& options) {
  const auto add_list = [&parser](const char* name, std::vector<std::string>& list,
                                  const char* text) {
    parser.add_option(name, list, text)->allow_extra_args(false)->option_text("NETWORK|@FILE ...");
  };
  add_list("--allow", options.allow,
           "Accept only clients of this network, such as 10.0.0.0/8 or ::1; @FILE has one a line");
  add_list("--deny", options.deny, "Refuse clients of this network, even if they are allowed");
  declare_trusted_proxies(parser, options);
}

namespace {

void declare_auth(CLI::App& parser, ServeOptions& options) {
  CLI::Option* const auth =
      parser
          .add_option("--auth", options.auth,
                      "Require a login of this htpasswd file, hashed by bcrypt, yescrypt or "
                      "SHA-crypt")
          ->option_text("FILE");
  if (!has_password_hashes()) disable(*auth, "libcrypt");
}

// Splits ADDRESS:PORT; a port alone is one of the loopback interface.
std::pair<std::string, std::uint16_t> admin_place(const std::string& text) {
  if (text.starts_with("unix:")) return {text, std::uint16_t{0}};
  const std::size_t colon = text.rfind(':');
  const std::string digits = colon == text.npos ? text : text.substr(colon + 1);
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (digits.empty() || error != std::errc() || end != digits.data() + digits.size()) {
    throw CLI::ValidationError("--admin", "'" + text + "' is not PORT, ADDRESS:PORT or unix:/PATH");
  }
  return {colon == text.npos ? "127.0.0.1" : text.substr(0, colon), port};
}

}  // namespace

void declare_admin(CLI::App& parser, ServeOptions& options) {
  parser
      .add_option_function<std::string>(
          "--admin",
          [&options](const std::string& text) {
            static_cast<void>(admin_place(text));
            options.admin = text;
          },
          "Serve /metrics, /livez, /readyz and a page for operators there; a PORT is one of "
          "127.0.0.1")
      ->option_text("PORT|ADDRESS:PORT|unix:/PATH");
}

void declare_privileges(CLI::App& parser, ServeOptions& options) {
  parser
      .add_option("--user", options.user,
                  "Become this user, with this group only, once the server listens; needs root")
      ->option_text("NAME[:GROUP]");
  parser.add_flag_callback(
      "--no-sandbox", [&options] { options.sandbox = false; },
      "Keep all rights, instead of those to read the served files and answer clients (Linux)");
}

namespace {

void declare_files(CLI::App& parser, FileOptions& files) {
  parser.add_option("--index", files.index, "Index file to serve for a folder; empty for none")
      ->option_text("NAME [index.html]");
  parser.add_flag_callback(
      "--no-listing", [&files] { files.listing = false; },
      "Respond with 404 for folders without an index file");
  files.render_readme = &readme_html;
  parser.add_flag_callback(
      "--no-readme", [&files] { files.render_readme = nullptr; },
      "Do not show README.md or README.txt below the listing of their folder");
  parser.add_flag("--dotfiles", files.dotfiles, "Also serve files whose names start with a dot");
  parser.add_flag_callback(
      "--archive", [&files] { files.archives = 8; },
      "Let clients download folders as zip, tar.gz or tar, 8 at a time");
  parser.add_flag_callback(
      "--no-follow-symlinks", [&files] { files.follow_symlinks = false; },
      "Refuse all symbolic links, not only those that lead out of DIR");
  parser
      .add_option_function<long long>(
          "--max-age",
          [&files](const long long& seconds) { files.max_age = std::chrono::seconds(seconds); },
          "Cache-Control max-age; 0 to make clients revalidate, -1 to send no Cache-Control")
      ->check(whole_in_range(-1, 31'536'000))
      ->option_text("SECONDS [0]");
  parser.add_flag("--precompressed", files.precompressed,
                  "Send app.js.br, .zst or .gz for app.js, if the client accepts it");
  parser
      .add_flag("--compress", files.compress,
                "Compress text with zstd, brotli or gzip, if the client accepts it")
      ->each([](const std::string&) {
        for (const Coding coding : {Coding::Gzip, Coding::Brotli, Coding::Zstd}) {
          if (coding::is_available(coding)) return;
        }
        throw CLI::ValidationError("--compress", "this build has no compression library");
      });
}

}  // namespace

void declare_messages(CLI::App& parser, ServeOptions& options) {
  parser.add_flag_callback(
      "--no-status", [&options] { options.status = false; },
      "Show no status line, if standard error is a terminal");
  parser.add_flag("-q,--quiet", options.quiet,
                  "Print only the address, the access log, warnings and errors");
}

void declare(CLI::App& parser, ServeOptions& options) {
  parser.add_option("DIR", options.folder, "Folder to serve")->option_text("[.]");
  parser.option_defaults()->group("Server");
  declare_config(parser, options);
  declare_server(parser, options);
  parser.add_flag("--watch", options.watch,
                  "Reload pages in browsers when a file in DIR changes, and keep nothing cached");
  declare_clients(parser, options);
  declare_allowed_hosts(parser, options.site);
  declare_auth(parser, options);
  declare_admin(parser, options);
  declare_rate(parser, options.site);
  declare_privileges(parser, options);
  declare_launch(parser, options);
  parser.option_defaults()->group("HTTPS");
  declare_https(parser, options);
  parser.option_defaults()->group("Files");
  declare_files(parser, options.files);
  declare_virtual_hosts(parser, options.site);
  parser.option_defaults()->group("Uploads");
  declare_uploads(parser, options.uploads);
  declare_webdav(parser, options.webdav);
  parser.option_defaults()->group("Responses");
  declare_site(parser, options.site);
  parser.option_defaults()->group("Output");
  declare_log(parser, options.log);
  parser.add_flag("--print-config", options.print_config,
                  "Print all options as a file for --config, and all limits, and exit");
  declare_messages(parser, options);
  parser.get_help_ptr()->group("Output");
  const bool has_tls = crypto::is_available();
  parser.footer(
      std::string("Ctrl-C or SIGTERM stops the server once the requests in progress are answered, "
                  "within\n30 s; a second signal stops it at once. SIGHUP reloads ") +
      (has_tls ? "certificates and " : "") +
      "the files\nof --config, --auth, --allow and --deny. With --hand-over, SIGUSR2 restarts "
      "it.\n\n"
      "SKUA_AUTH=USER:PASSWORD in the environment makes the server require this login, and\n"
      "SKUA_UPLOAD_AUTH=USER:PASSWORD this one for uploads. Each option can also be set there:\n"
      "--max-age 60 is SKUA_SERVE_MAX_AGE=60.\n\n"
      "Exit codes: 0 (stopped by a signal), 1 (the folder or the address cannot be used), 2 "
      "(usage).\n\n"
      "Examples:\n"
      "  skua serve ~/Downloads --port 9000" +
      (has_tls ? "\n  skua serve www --host 0.0.0.0 --port 443 --tls-cert chain.pem "
                 "--redirect-http 80"
               : ""));
}

ServerOptions admin_options(const ServeOptions& options) {
  const auto [host, port] = admin_place(options.admin);
  ServerOptions admin = admin_server_options(port);
  admin.host = host;
  admin.listeners = options.admin_listeners;
  admin.backend = options.server.backend;
  admin.hooks.log = options.server.hooks.log;
  return admin;
}

Result<ServeOptions, Problem> parse_again(const std::vector<std::string>& words) {
  CLI::App parser;
  parser.allow_windows_style_options(false);
  ServeOptions options;
  declare(parser, options);
  std::vector<std::string> reversed(words.rbegin(), words.rend());
  try {
    parser.parse(std::move(reversed));
  } catch (const CLI::ParseError& error) {
    return Problem{Error(Errc::MalformedText, "--config"), error.what()};
  }
  return options;
}

}  // namespace skua::cli
