// SPDX-License-Identifier: MIT
// The options of `skua bench`. Their texts say what the defaults of BenchOptions are.
#include "bench_options.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <thread>

#include "common_options.hpp"

namespace skua::cli {
namespace {

std::string read_data(const std::string& text) {
  if (!text.starts_with('@')) return text;
  std::ifstream file(text.substr(1), std::ios::binary);
  std::string content{std::istreambuf_iterator<char>(file), {}};
  if (!file.good() && !file.eof()) {
    throw CLI::ValidationError("--data", text.substr(1) + ": " + std::strerror(errno));
  }
  return content;
}

CLI::Option* add_seconds(CLI::App& parser, const char* names, Duration& to, const char* text) {
  return parser.add_option_function<double>(
      names, [&to](double seconds) { to = Duration(static_cast<Duration::rep>(seconds * 1e9)); },
      text);
}

void declare_request(CLI::App& parser, BenchOptions& options) {
  parser
      .add_option("-m,--method", options.method, "Method of the requests; POST where there is data")
      ->option_text("NAME [GET]");
  parser
      .add_option_function<std::vector<std::string>>(
          "-H,--header",
          [&options](const std::vector<std::string>& lines) {
            for (const std::string& line : lines) options.fields.push_back(split_field(line));
          },
          "One more field of each request, as 'Accept: text/html'; may be repeated")
      ->allow_extra_args(false)
      ->option_text("'NAME: VALUE'");
  parser
      .add_option_function<std::string>(
          "--data", [&options](const std::string& text) { options.data = read_data(text); },
          "Content of each request, or a file that has it")
      ->option_text("TEXT|@FILE");
  parser.add_option("--unix", options.unix_path, "Connect to a Unix socket, not to the URL's host")
      ->option_text("PATH");
  parser.add_option("--ca", options.tls.authorities, "Who may sign certificates: a PEM file")
      ->option_text("FILE [the system's]");
  parser.add_flag("-k,--insecure", options.tls.insecure, "Take any certificate");
}

void declare_load(CLI::App& parser, bench::Plan& plan) {
  const std::size_t cores = std::max(1U, std::thread::hardware_concurrency());
  parser.add_option("-c,--connections", plan.connections, "Connections that are kept busy")
      ->check(CLI::Range(1, 1'000'000))
      ->option_text("COUNT [64]");
  parser.add_option("-t,--threads", plan.threads, "Threads of the generator, at most one per core")
      ->check(CLI::Range(std::size_t{1}, cores))
      ->option_text("COUNT [1]");
  CLI::Option* const duration =
      add_seconds(parser, "-d,--duration", plan.duration, "Send requests for so long")
          ->check(in_range(0.01, 1e6))
          ->option_text("SECONDS [10]");
  parser.add_option("-n,--requests", plan.requests, "Send so many requests, however long it takes")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 53U))
      ->excludes(duration)
      ->option_text("COUNT");
  parser
      .add_option("-r,--rate", plan.rate,
                  "Requests that are due a second, whatever the answers do: latency counts from "
                  "then on")
      ->check(in_range(0.001, 1e8))
      ->option_text("COUNT");
  parser.add_option("--pipeline", plan.depth, "Requests under way on a connection")
      ->check(CLI::Range(1, 1024))
      ->option_text("COUNT [1]");
  parser.add_flag("--http2", plan.http2, "Speak HTTP/2: by prior knowledge, over TLS by ALPN");
  parser.add_option("--streams", plan.depth, "Requests side by side on a connection of HTTP/2")
      ->check(CLI::Range(1, 1024))
      ->needs("--http2")
      ->excludes("--pipeline")
      ->option_text("COUNT [1]");
  add_seconds(parser, "--timeout", plan.timeout,
              "Give up a connection, or an answer, that takes so long")
      ->check(in_range(0.001, 86'400.0))
      ->option_text("SECONDS [10]");
  add_seconds(parser, "--warmup", plan.warmup, "Load the server for so long before it counts")
      ->check(in_range(0.0, 86'400.0))
      ->option_text("SECONDS [0]");
  const std::map<std::string, loop::BackendKind> backends{{"auto", loop::BackendKind::Auto},
                                                          {"epoll", loop::BackendKind::Epoll},
                                                          {"io_uring", loop::BackendKind::IoUring},
                                                          {"poll", loop::BackendKind::Poll}};
  parser.add_option("--backend", plan.backend, "epoll, io_uring or poll; auto: epoll, where it is")
      ->transform(CLI::Transformer(backends))
      ->option_text("NAME [auto]");
}

}  // namespace

void declare(CLI::App& parser, BenchOptions& options) {
  parser.add_option("URL", options.url, "http://HOST[:PORT]/PATH, or https://")
      ->required()
      ->option_text(" ");
  parser.option_defaults()->group("Request");
  declare_request(parser, options);
  parser.option_defaults()->group("Load");
  declare_load(parser, options.plan);
  parser.option_defaults()->group("Output");
  parser.add_flag("--json", options.json, "Print the report as one JSON document");
  parser.add_flag("-q,--quiet", options.quiet, "Show no progress on a terminal");
  parser.get_help_ptr()->group("Output");
  parser.footer(
      "Ctrl-C ends the load and still reports; a second one waits for no more answers.\nEnds with "
      "0 "
      "when all went well, 7 when no connection could be made, and 1 when there were\nerrors, or "
      "answers with 4xx or 5xx.\n\n"
      "  skua bench http://127.0.0.1:8080/\n"
      "  skua bench -c 200 -d 30 --rate 5000 http://127.0.0.1:8080/\n"
      "  skua bench -n 10000 --data @order.json -H 'Content-Type: application/json' "
      "http://127.0.0.1:8080/orders");
}

}  // namespace skua::cli
