// SPDX-License-Identifier: MIT
// What HTTPS adds to `skua serve`: options, which of them exclude each other, and the second server
// that sends plain HTTP to the first.
#include "serve_tls.hpp"

#include <CLI/CLI.hpp>

#include "common_options.hpp"
#include "skua/middleware.hpp"

#include <chrono>
#include <cstdio>
#include <string>

namespace skua::cli {
namespace {

// An option that makes no sense, and why, as a sentence.
[[noreturn]] void refuse(const char* option, const std::string& why) {
  throw CLI::ValidationError(option, why);
}

void check(const ServeOptions& options) {
  const TlsOptions& tls = options.server.tls;
  if (tls.self_signed && !tls.certificate.empty()) {
    refuse("--tls-self-signed", "it cannot be used together with --tls-cert");
  }
  if (tls.self_signed && !tls.private_key.empty()) {
    refuse("--tls-self-signed", "it cannot be used together with --tls-key");
  }
  if (!tls.is_enabled()) {
    constexpr const char* how = "add --tls-cert FILE or --tls-self-signed";
    if (!tls.private_key.empty())
      refuse("--tls-key", "a key needs its certificate: add --tls-cert FILE");
    if (!tls.client_ca.empty())
      refuse("--tls-client-ca", std::string("client certificates need HTTPS: ") + how);
    if (options.redirect_port)
      refuse("--redirect-http", std::string("there is no HTTPS to redirect to: ") + how);
    if (options.hsts_seconds != 0) refuse("--hsts", std::string("it needs HTTPS: ") + how);
  }
  if (tls.self_signed && options.hsts_seconds != 0) {
    refuse("--hsts",
           "browsers would refuse the new certificate after the next start: use --tls-cert FILE");
  }
  if (!options.redirect_port) return;
  if (options.server.host.starts_with("unix:")) {
    refuse("--redirect-http", "a Unix socket has no port: --host must be an address");
  }
  if (*options.redirect_port != 0 && *options.redirect_port == options.server.port) {
    refuse("--redirect-http", "it must differ from --port, which serves HTTPS");
  }
}

}  // namespace

void declare_https(CLI::App& parser, ServeOptions& options) {
  TlsOptions& tls = options.server.tls;
  const auto add_file = [&parser](const char* name, std::string& file, const char* text) {
    parser.add_option(name, file, text)
        ->check([](const std::string& given) {
          return given.empty() ? std::string("the name of the file is empty") : std::string();
        })
        ->option_text("FILE");
  };
  add_file("--tls-cert", tls.certificate,
           "Serve HTTPS with this certificate chain (PEM); reloaded when it changes");
  add_file("--tls-key", tls.private_key,
           "Private key (PEM); not needed if it is in the certificate's file");
  parser.add_flag("--tls-self-signed", tls.self_signed,
                  "Serve HTTPS with a new certificate for this machine's names; for tests");
  add_file("--tls-client-ca", tls.client_ca,
           "Require client certificates signed by one of these authorities (PEM)");
  parser
      .add_option("--redirect-http", options.redirect_port,
                  "Also listen here for plain HTTP, and redirect it; 0 picks a free port")
      ->check(whole_in_range(0, 65'535))
      ->option_text("PORT");
  parser
      .add_option("--hsts", options.hsts_seconds,
                  "Tell browsers to use HTTPS only for this time (Strict-Transport-Security)")
      ->check(whole_in_range(1, 63'072'000))
      ->option_text("SECONDS");
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
  return redirect;
}

void announce_https(const ServeOptions& options, const Server& server, const Server* redirect) {
  if (redirect != nullptr) {
    std::fprintf(stderr, "redirecting %s to HTTPS\n", redirect->url().c_str());
  }
  if (!options.server.tls.self_signed) return;
  std::fprintf(
      stderr,
      "self-signed certificate, SHA-256 %s\n"
      "Browsers warn about it; compare the fingerprint that they show. Each start makes a new "
      "one.\n",
      server.tls_fingerprint().c_str());
}

}  // namespace skua::cli
