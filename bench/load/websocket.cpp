// SPDX-License-Identifier: MIT
//
// In: the address of a WebSocket server. Out: one line of JSON, for bench/run.

#include "../raw/frames.hpp"
#include "load.hpp"

#include <CLI/CLI.hpp>

#include <string>

namespace {

using namespace bench;

int run(int argc, char** argv) {
  load::LoadOptions options;
  std::string path = "/";
  std::string publish;
  bool is_text = false;
  CLI::App app("Loads a WebSocket server; prints how many messages it sent.");
  load::add_options(app, options);
  app.add_option("--path", path, "Path of the echo, or of the subscribers");
  app.add_option("--publish", publish, "Path whose messages go to all subscribers");
  app.add_flag("--text", is_text, "Text instead of binary messages");
  CLI11_PARSE(app, argc, argv);

  const std::string payload(options.size, 's');
  load::Load exchange(raw::client_frame(is_text, payload, "\x5a\x11\x9c\x3e"),
                      raw::server_frame(is_text, payload));
  for (std::size_t i = 0; i < options.connections; ++i) {
    exchange.add(load::open_websocket(options.port, path));
  }
  if (publish.empty()) {
    exchange.echo(options.seconds);
  } else {
    exchange.publish(load::open_websocket(options.port, publish), options.seconds);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return load::run_generator("skua-bench-ws-load", run, argc, argv);
}
