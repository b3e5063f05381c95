// SPDX-License-Identifier: MIT
// A reverse proxy for tests: `skua-passing-proxy UPSTREAM [http1|http2]`. It speaks that version to
// the upstream server, and both to clients.
#include <skua.hpp>

#include <cstdio>
#include <string_view>

int main(int count, char** arguments) {
  if (count < 2) return 2;
  const std::string_view version = count > 2 ? arguments[2] : "http1";
  skua::ReverseProxyOptions options;
  options.versions = version == "http2" ? skua::HttpVersions::Http2 : skua::HttpVersions::Http1;
  skua::Router router;
  router.any("/{path...}", skua::ReverseProxy(arguments[1], options));

  skua::ServerOptions server_options{.host = "127.0.0.1", .port = 0, .threads = 1};
  server_options.hooks.log = [](skua::LogLevel, std::string_view line) {
    std::fprintf(stderr, "%.*s\n", static_cast<int>(line.size()), line.data());
  };
  const skua::ShutdownSignals signals;
  skua::Server server(router, server_options);
  server.start().value();
  std::printf("listening on %s\n", server.url().c_str());
  std::fflush(stdout);
  signals.wait_and_drain(server);
}
