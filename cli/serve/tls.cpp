// SPDX-License-Identifier: MIT
// The HTTPS part of `skua serve`: options, checks of their combinations, and the second server that
// redirects plain HTTP to the first.
#include "serve/tls.hpp"

#include <CLI/CLI.hpp>

#include "common_options.hpp"
#include "serve/site/virtual_hosts.hpp"
#include "skua/middleware.hpp"
#include "system.hpp"

#include <chrono>
#include <cstdio>
#include <string>

namespace skua::cli {
namespace {

// Rejects an option, with the reason.
[[noreturn]] void refuse(const char* option, const std::string& why) {
  throw CLI::ValidationError(option, why);
}

void check(const ServeOptions& options) {
  const TlsOptions& tls = options.server.tls;
  if (tls.self_signed && !tls.certificate.empty()) {
    refuse("--tls-self-signed", "cannot be used together with --tls-cert");
  }
  if (tls.self_signed && !tls.private_key.empty()) {
    refuse("--tls-self-signed", "cannot be used together with --tls-key");
  }
  if (!tls.is_enabled()) {
    constexpr const char* how = "add --tls-cert FILE or --tls-self-signed";
    if (!tls.private_key.empty()) refuse("--tls-key", "needs a certificate: add --tls-cert FILE");
    if (!tls.client_ca.empty()) refuse("--tls-client-ca", std::string("needs HTTPS: ") + how);
    if (options.redirect_port) refuse("--redirect-http", std::string("needs HTTPS: ") + how);
    if (options.hsts_seconds != 0) refuse("--hsts", std::string("needs HTTPS: ") + how);
  }
  if (tls.self_signed && options.hsts_seconds != 0) {
    refuse("--hsts",
           "browsers would reject the new certificate after a restart: use --tls-cert FILE");
  }
  if (!options.redirect_port) return;
  if (options.server.host.starts_with("unix:")) {
    refuse("--redirect-http", "cannot be used with a Unix socket: --host must be an IP address");
  }
  if (*options.redirect_port != 0 && *options.redirect_port == options.server.port) {
    refuse("--redirect-http", "must differ from --port, which serves HTTPS");
  }
}

}  // namespace

void declare_https(CLI::App& parser, ServeOptions& options) {
  TlsOptions& tls = options.server.tls;
  const auto add_file = [&parser](const char* name, std::string& file, const char* text) {
    parser.add_option(name, file, text)
        ->check([](const std::string& given) {
          return given.empty() ? std::string("the file name is empty") : std::string();
        })
        ->option_text("FILE");
  };
  add_file("--tls-cert", tls.certificate,
           "Serve HTTPS with this certificate chain (PEM); reloaded when it changes");
  add_file("--tls-key", tls.private_key,
           "Private key (PEM); not needed if it is in the --tls-cert file");
  parser.add_flag("--tls-self-signed", tls.self_signed,
                  "Serve HTTPS with a new self-signed certificate for this machine (for testing)");
  add_file("--tls-client-ca", tls.client_ca,
           "Require client certificates signed by one of these CAs (PEM)");
  parser
      .add_option("--redirect-http", options.redirect_port,
                  "Redirect plain HTTP on this port to HTTPS; 0 picks a free one")
      ->check(whole_in_range(0, 65'535))
      ->option_text("PORT");
  parser
      .add_option("--hsts", options.hsts_seconds,
                  "Tell browsers to use only HTTPS for this long (Strict-Transport-Security)")
      ->check(whole_in_range(1, 63'072'000))
      ->option_text("SECONDS");
  require_tls(parser);
  parser.callback([&options] { check(options); });
}

void add_transport_security(Router& router, const ServeOptions& options) {
  if (options.hsts_seconds == 0) return;
  router.use(security_headers({.nosniff = false,
                               .referrer_policy = "",
                               .frame_options = "",
                               .cross_origin_opener_policy = "",
                               .cross_origin_resource_policy = "",
                               .strict_transport = std::chrono::seconds(options.hsts_seconds)}));
}

ServerOptions redirect_options(const ServeOptions& options) {
  ServerOptions redirect = options.server;
  redirect.port = options.redirect_port.value_or(0);
  redirect.threads = 1;
  redirect.tls = {};
  redirect.listeners = options.redirect_listeners;
  return redirect;
}

void announce_https(const ServeOptions& options, const Server& server, const Server* redirect) {
  if (redirect != nullptr) {
    std::fprintf(stderr, "redirecting %s to HTTPS\n", redirect->url().c_str());
  }
  const TlsOptions& tls = options.server.tls;
  const std::string& key = tls.private_key.empty() ? tls.certificate : tls.private_key;
  if (!key.empty() && is_served(resolved(key), options)) {
    std::fprintf(stderr,
                 "WARNING: the private key is in the served folder: move %s, so that no client can "
                 "ask for it\n",
                 key.c_str());
  }
  if (!tls.self_signed) return;
  std::fprintf(
      stderr,
      "self-signed certificate, SHA-256 %s\n"
      "Browsers warn about it; compare the fingerprint they show. Each start creates a new one.\n",
      server.tls_fingerprint().c_str());
}

}  // namespace skua::cli
