// SPDX-License-Identifier: MIT
// In: a command line. Out: a server for a folder, its address on the first line of stdout, and
// advice on stderr if it cannot run.
#include "serve.hpp"

#include "log_sink.hpp"
#include "print_config.hpp"
#include "serve_errors.hpp"
#include "serve_options.hpp"
#include "serve_tls.hpp"
#include "server/access_log.hpp"
#include "skua/files.hpp"
#include "skua/https_redirect.hpp"
#include "skua/router.hpp"
#include "skua/server.hpp"
#include "skua/shutdown_signals.hpp"

#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace skua::cli {
namespace {

void add_hooks(ServeOptions& options, LogSink& sink) {
  if (options.access_log) {
    options.server.hooks.on_response = [&sink](const RequestRecord& record) {
      const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
      sink.write(server::combined_line(record, now));
    };
  }
  if (!options.quiet) {
    options.server.hooks.log = [](LogLevel level, std::string_view text) {
      if (level == LogLevel::Debug) return;
      std::fprintf(stderr, "skua: %.*s\n", static_cast<int>(text.size()), text.data());
    };
  }
}

// The server that redirects plain HTTP to HTTPS; empty without --redirect-http.
struct Redirect {
  Router router;
  std::optional<Server> server{};
};

Result<void, Problem> start(Redirect& redirect, const ServeOptions& options, const Server& target) {
  if (!options.redirect_port) return {};
  // The only known name of this machine is the host that the client asked for.
  redirect.router = redirect_to_https({.hosts = {"*"}, .port = target.port()});
  redirect.server.emplace(redirect.router, redirect_options(options));
  return redirect.server->start();
}

int serve(ServeOptions& options) {
  if (options.print_config) {
    print_config(options);
    return succeeded;
  }
  Result<FileHandler> files = FileHandler::open(options.folder, options.files);
  if (!files) return report_folder(options.folder, files.error());
  Router router;
  router.get("/{path...}", *std::move(files));
  add_transport_security(router, options);

  LogSink sink;
  add_hooks(options, sink);
  const ShutdownSignals signals;  // before any thread starts, so that all threads inherit it
  Server server(router, options.server);
  if (const auto started = server.start(); !started) {
    return report_start(options.server, started.error());
  }
  Redirect redirect;
  if (const auto started = start(redirect, options, server); !started) {
    return report_start(redirect_options(options), started.error(), "--redirect-http");
  }
  sink.write("listening on " + server.url() + "\n");
  if (!options.quiet) {
    announce_https(options, server, redirect.server ? &*redirect.server : nullptr);
    std::fprintf(stderr, "serving %s with %s; press Ctrl-C to stop\n", options.folder.c_str(),
                 to_string(server.backend()).data());
  }
  const auto tell = [&options] {
    if (options.quiet) return;
    std::fputs("stopping after the requests in progress; press Ctrl-C again to stop at once\n",
               stderr);
  };
  if (redirect.server) {
    signals.wait_and_drain({server, *redirect.server}, tell);
  } else {
    signals.wait_and_drain({server}, tell);
  }
  return succeeded;
}

}  // namespace

std::function<int()> configure_serve(CLI::App& parser) {
  const auto options = std::make_shared<ServeOptions>();
  declare(parser, *options);
  return [options] { return serve(*options); };
}

}  // namespace skua::cli
