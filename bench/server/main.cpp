// SPDX-License-Identifier: MIT
//
// In: a mode and an address. Out: a server to be measured or tested by any client.
// The idea: every mode, of skua or of the raw ceilings, is a row of a table; all have the same
// options.

#include "../raw/raw.hpp"
#include "modes.hpp"

#include <CLI/CLI.hpp>

#include <cstdio>
#include <string>
#include <vector>

namespace bench {
namespace {

raw::RawOptions raw_options(const ServerOptions& options) {
  return {.host = options.host, .port = options.port, .threads = options.threads};
}

int raw_epoll(const ServerOptions& options) { return raw::run_raw_epoll(raw_options(options)); }

int raw_io_uring(const ServerOptions& options) {
  return raw::run_raw_io_uring(raw_options(options));
}

int raw_ws(const ServerOptions& options) { return raw::run_raw_ws(raw_options(options)); }

int raw_echo(const ServerOptions& options) { return raw::run_raw_echo(raw_options(options)); }

std::vector<Mode> all_modes() {
  const std::span<const Mode> own = skua_modes();
  std::vector<Mode> modes(own.begin(), own.end());
  modes.push_back({"raw-epoll", "the ceiling on epoll: responds without parsing", raw_epoll});
  modes.push_back({"raw-io_uring", "the ceiling on io_uring", raw_io_uring});
  modes.push_back({"raw-ws", "the ceiling of ws-echo, on epoll", raw_ws});
  modes.push_back({"raw-echo", "the ceiling of tcp-echo, on epoll", raw_echo});
  return modes;
}

std::string list_of(const std::vector<Mode>& modes) {
  std::string text = "Modes:\n";
  for (const Mode& mode : modes) {
    std::string name(mode.name);
    name.resize(14, ' ');
    text += "  " + name + std::string(mode.summary) + "\n";
  }
  return text;
}

int run(int argc, char** argv) {
  const std::vector<Mode> modes = all_modes();
  std::vector<std::string> names;
  for (const Mode& mode : modes) names.emplace_back(mode.name);

  ServerOptions options;
  CLI::App app("Serves one workload, to be measured by bench/run or any client.");
  app.footer(list_of(modes));
  app.add_option("MODE", options.mode, "What to serve")->required()->check(CLI::IsMember(names));
  app.add_option("DIR", options.folder, "Folder to serve in modes files and suite");
  app.add_option("--host", options.host, "Address to listen on")->capture_default_str();
  app.add_option("--port", options.port, "Port; 0 picks a free one")->capture_default_str();
  app.add_option("--threads", options.threads, "Number of workers")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  app.add_option("--backend", options.backend, "Event loop of the skua modes")
      ->check(CLI::IsMember({"auto", "epoll", "io_uring", "kqueue", "poll"}))
      ->capture_default_str();
  auto* const certificate =
      app.add_option("--tls-cert", options.tls_cert, "Certificate chain, PEM");
  app.add_option("--tls-key", options.tls_key, "Private key, PEM")->needs(certificate);
  app.add_flag("--metrics", options.metrics, "Measure the requests, as skua::Metrics does");
  CLI11_PARSE(app, argc, argv);

  for (const Mode& mode : modes) {
    if (mode.name == options.mode) return mode.run(options);
  }
  return 2;
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  try {
    return bench::run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "skua-bench-server: %s\n", error.what());
    return 1;
  }
}
