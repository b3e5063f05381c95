// SPDX-License-Identifier: MIT
// In: a command line. Out: a server for a folder, its address on the first line of stdout, and
// sentences on stderr that say what to do when it cannot run.
#include "serve.hpp"

#include "log_sink.hpp"
#include "print_config.hpp"
#include "serve_errors.hpp"
#include "server/access_log.hpp"
#include "skua/files.hpp"
#include "skua/router.hpp"
#include "skua/server.hpp"
#include "skua/shutdown_signals.hpp"

#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>

namespace skua::cli {
namespace {

struct Options {
  std::string folder = ".";
  FileOptions files{.listing = true};
  ServerOptions server{.host = "127.0.0.1"};
  long long max_age_seconds = 0;
  bool no_listing = false;
  bool no_follow_symlinks = false;
  bool access_log = false;
  bool print_config = false;
  bool quiet = false;
};

constexpr std::pair<const char*, BackendChoice> backends[] = {{"auto", BackendChoice::Auto},
                                                              {"epoll", BackendChoice::Epoll},
                                                              {"io_uring", BackendChoice::IoUring},
                                                              {"poll", BackendChoice::Poll}};

BackendChoice backend_named(const std::string& name) {
  for (const auto& [known, backend] : backends) {
    if (name == known) return backend;
  }
  throw CLI::ValidationError("--backend", name + " is not auto, epoll, io_uring or poll");
}

const char* name_of(BackendChoice backend) noexcept {
  for (const auto& [name, known] : backends) {
    if (backend == known) return name;
  }
  return "auto";
}

// The texts of the options say what the defaults of Options are.
void declare(CLI::App& parser, Options& options) {
  parser.add_option("DIR", options.folder, "The folder to serve")->option_text("[.]");
  parser
      .add_option("--host", options.server.host,
                  "Where to listen; 0.0.0.0: all of IPv4; [::]: all; unix:/PATH: a Unix socket")
      ->option_text("ADDRESS [127.0.0.1]");
  parser.add_option("-p,--port", options.server.port, "Port to listen on; 0 picks a free one")
      ->check(CLI::Range(0, 65'535))
      ->option_text("PORT [8080]");
  parser.add_option("--threads", options.server.threads, "Threads that serve; 0: one per core")
      ->check(CLI::Range(0, 1024))
      ->option_text("COUNT [0]");
  parser
      .add_option_function<std::string>(
          "--backend",
          [&options](const std::string& name) { options.server.backend = backend_named(name); },
          "epoll, io_uring or poll; auto: epoll where there is one")
      ->option_text("NAME [auto]");
  parser
      .add_option("--index", options.files.index, "File that answers for a folder; empty for none")
      ->option_text("NAME [index.html]");
  parser.add_flag("--no-listing", options.no_listing,
                  "Answer folders without index with 404, not a listing");
  parser.add_flag("--dotfiles", options.files.dotfiles, "Also serve names that begin with a dot");
  parser.add_flag("--no-follow-symlinks", options.no_follow_symlinks,
                  "Refuse every symbolic link, not only those that lead out");
  parser
      .add_option("--max-age", options.max_age_seconds,
                  "How long clients may keep an answer; 0: they ask each time; -1: say nothing")
      ->check(CLI::Range(-1LL, 31'536'000LL))
      ->option_text("SECONDS [0]");
  parser.add_flag("--access-log", options.access_log,
                  "Print one line per request (combined format)");
  parser.add_flag("--print-config", options.print_config,
                  "Print every setting, limit and timeout, and exit");
  parser.add_flag("-q,--quiet", options.quiet,
                  "Print nothing but the address, the access log and errors");
  parser.footer(
      "Ctrl-C or SIGTERM ends it: requests in progress are answered first, for at most "
      "30 s; a second\nsignal does not wait. `skua serve --print-config` shows all limits.");
}

void add_hooks(Options& options, LogSink& sink) {
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

int serve(Options& options) {
  options.files.listing = !options.no_listing;
  options.files.follow_symlinks = !options.no_follow_symlinks;
  options.files.max_age = std::chrono::seconds(options.max_age_seconds);
  if (options.print_config) {
    print_config({.folder = options.folder,
                  .files = options.files,
                  .server = options.server,
                  .backend = name_of(options.server.backend),
                  .access_log = options.access_log});
    return succeeded;
  }
  Result<FileHandler> files = FileHandler::open(options.folder, options.files);
  if (!files) return report_folder(options.folder, files.error());
  Router router;
  router.get("/{path...}", *std::move(files));

  LogSink sink;
  add_hooks(options, sink);
  const ShutdownSignals signals;  // before any thread starts, so that all of them inherit it
  Server server(router, options.server);
  if (const Result<void> started = server.start(); !started) {
    return report_start(options.server, started.error());
  }
  sink.write("listening on " + server.url() + "\n");
  if (!options.quiet) {
    std::fprintf(stderr, "serving %s with %s; press Ctrl-C to stop\n", options.folder.c_str(),
                 name_of(server.backend()));
  }
  signals.wait_and_drain(server);
  return succeeded;
}

}  // namespace

std::function<int()> configure_serve(CLI::App& parser) {
  const auto options = std::make_shared<Options>();
  declare(parser, *options);
  return [options] { return serve(*options); };
}

}  // namespace skua::cli
