// SPDX-License-Identifier: MIT
// HTTPS, HTTP/2 for clients that support it, and a redirect from plain HTTP:
// `example-https [PORT]` makes its own certificate, `example-https CERT KEY PORT` takes yours.
// Try `curl -k https://localhost:8443/`.
#include <skua.hpp>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>

int main(int count, char** arguments) {
  const bool has_certificate = count > 3;
  const char* const given = has_certificate ? arguments[3] : count > 1 ? arguments[1] : "8443";

  skua::Router router;
  // This also tells browsers to stay with TLS, so only use it with a certificate that they trust.
  if (has_certificate) router.use(skua::security_headers());
  router.get("/", [](const skua::Request& request) {
    const bool is_http2 = request.version() == skua::Version::Http2;
    return std::string("Hello over ") + (is_http2 ? "HTTP/2" : "HTTP/1.1") +
           (request.is_secure() ? ", and nobody can listen in.\n" : ".\n");
  });

  skua::ServerOptions options{.host = "127.0.0.1",
                              .port = static_cast<std::uint16_t>(std::atoi(given))};
  options.hooks.log = [](skua::LogLevel, std::string_view text) {
    std::fprintf(stderr, "%.*s\n", static_cast<int>(text.size()), text.data());
  };
  skua::ServerOptions plain_options = options;
  plain_options.port = 0;
  plain_options.threads = 1;
  if (has_certificate) {
    options.tls = {.certificate = arguments[1], .private_key = arguments[2]};
  } else {
    options.tls.self_signed = true;
  }

  const skua::ShutdownSignals signals;  // SIGHUP reloads the certificate
  skua::Server server(router, options);
  if (const auto started = server.start(); !started) {
    std::fprintf(stderr, "%s\n", started.error().message().c_str());
    return 1;
  }
  const skua::Router redirect =
      skua::redirect_to_https({.hosts = {"localhost", "127.0.0.1"}, .port = server.port()});
  skua::Server plain(redirect, plain_options);
  plain.start().value();

  std::printf("listening on %s\n", server.url().c_str());
  std::printf("redirecting %s\n", plain.url().c_str());
  std::printf("certificate SHA-256 %s\n", server.tls_fingerprint().c_str());
  std::fflush(stdout);
  signals.wait_and_drain({server, plain});
}
