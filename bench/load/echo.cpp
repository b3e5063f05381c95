// SPDX-License-Identifier: MIT
//
// In: the address of a server that echoes bytes. Out: one line of JSON, for bench/run.

#include "load.hpp"

#include <CLI/CLI.hpp>

#include <string>

namespace {

using namespace bench;

// The bytes of a message differ, so that misplaced ones are noticed.
std::string message_of(std::size_t size) {
  std::string message(size, '\0');
  for (std::size_t i = 0; i < size; ++i) message[i] = static_cast<char>(i * 7 + i / 256);
  return message;
}

int run(int argc, char** argv) {
  load::LoadOptions options;
  CLI::App app("Loads a TCP server that echoes; prints how many messages came back.");
  load::add_options(app, options);
  CLI11_PARSE(app, argc, argv);

  load::Load exchange(message_of(options.size), message_of(options.size));
  for (std::size_t i = 0; i < options.connections; ++i) {
    exchange.add(load::open_connection(options.port));
  }
  exchange.echo(options.seconds);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return load::run_generator("skua-bench-echo-load", run, argc, argv);
}
