// SPDX-License-Identifier: MIT
// The options of `skua serve`. Their texts say what the defaults of ServeOptions are.
#include "serve_options.hpp"

#include <CLI/CLI.hpp>

#include "serve_tls.hpp"

#include <chrono>
#include <string>
#include <utility>

namespace skua::cli {
namespace {

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

void declare_server(CLI::App& parser, ServerOptions& server) {
  parser
      .add_option("--host", server.host,
                  "Where to listen; 0.0.0.0: all of IPv4; [::]: all; unix:/PATH: a Unix socket")
      ->option_text("ADDRESS [127.0.0.1]");
  parser.add_option("-p,--port", server.port, "Port to listen on; 0 picks a free one")
      ->check(CLI::Range(0, 65'535))
      ->option_text("PORT [8080]");
  parser.add_option("--threads", server.threads, "Threads that serve; 0: one per core")
      ->check(CLI::Range(0, 1024))
      ->option_text("COUNT [0]");
  parser
      .add_option_function<std::string>(
          "--backend", [&server](const std::string& name) { server.backend = backend_named(name); },
          "epoll, io_uring or poll; auto: epoll where there is one")
      ->option_text("NAME [auto]");
  parser.add_flag_callback(
      "--no-http2", [&server] { server.http2 = false; }, "Speak HTTP/1.1 only");
}

void declare_files(CLI::App& parser, FileOptions& files) {
  parser.add_option("--index", files.index, "File that answers for a folder; empty for none")
      ->option_text("NAME [index.html]");
  parser.add_flag_callback(
      "--no-listing", [&files] { files.listing = false; },
      "Answer folders without index with 404, not a listing");
  parser.add_flag("--dotfiles", files.dotfiles, "Also serve names that begin with a dot");
  parser.add_flag_callback(
      "--no-follow-symlinks", [&files] { files.follow_symlinks = false; },
      "Refuse every symbolic link, not only those that lead out");
  parser
      .add_option_function<long long>(
          "--max-age",
          [&files](const long long& seconds) { files.max_age = std::chrono::seconds(seconds); },
          "How long clients may keep an answer; 0: they ask each time; -1: say nothing")
      ->check(CLI::Range(-1LL, 31'536'000LL))
      ->option_text("SECONDS [0]");
}

void declare_output(CLI::App& parser, ServeOptions& options) {
  parser.add_flag("--access-log", options.access_log,
                  "Print one line per request (combined format)");
  parser.add_flag("--print-config", options.print_config,
                  "Print every setting, limit and timeout, and exit");
  parser.add_flag("-q,--quiet", options.quiet,
                  "Print nothing but the address, the access log and errors");
}

}  // namespace

void declare(CLI::App& parser, ServeOptions& options) {
  parser.add_option("DIR", options.folder, "The folder to serve")->option_text("[.]");
  parser.option_defaults()->group("Server");
  declare_server(parser, options.server);
  parser.option_defaults()->group("HTTPS");
  declare_https(parser, options);
  parser.option_defaults()->group("Files");
  declare_files(parser, options.files);
  parser.option_defaults()->group("Output");
  declare_output(parser, options);
  parser.get_help_ptr()->group("Output");
  parser.footer(
      "Ctrl-C or SIGTERM ends it: requests in progress are answered first, for at most "
      "30 s; a second\nsignal does not wait. With HTTPS, SIGHUP reads the certificates again. "
      "`skua serve --print-config`\nshows all limits.");
}

}  // namespace skua::cli
