// SPDX-License-Identifier: MIT
// The options of `skua bench`. Their texts repeat the defaults of BenchOptions.
#include "bench/options.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <thread>

#include "common_options.hpp"
#include "get/request_items.hpp"

namespace skua::cli {
namespace {

std::string read_data(const std::string& text) {
  const bool is_input = text == "-" || text == "@-";
  if (!is_input && !text.starts_with('@')) return text;
  Result<std::string, Problem> content = read_file(is_input ? "/dev/stdin" : text.substr(1));
  if (!content) throw CLI::ValidationError("--data", content.error().text);
  return *std::move(content);
}

CLI::Option* add_seconds(CLI::App& parser, const char* names, Duration& to, const char* text) {
  return parser.add_option_function<double>(
      names, [&to](double seconds) { to = Duration(static_cast<Duration::rep>(seconds * 1e9)); },
      text);
}

void declare_request(CLI::App& parser, BenchOptions& options) {
  parser.add_option("-m,--method", options.method, "Request method; POST if --data is given")
      ->option_text("NAME [GET]");
  parser
      .add_option_function<std::vector<std::string>>(
          "-H,--header",
          [&options](const std::vector<std::string>& lines) {
            for (const std::string& line : lines) options.fields.push_back(split_field(line));
          },
          "Add a request header; may be repeated")
      ->allow_extra_args(false)
      ->option_text("'NAME: VALUE'");
  parser
      .add_option_function<std::string>(
          "--data", [&options](const std::string& text) { options.data = read_data(text); },
          "Send TEXT, the contents of @FILE, or standard input (-)")
      ->option_text("TEXT");
  parser
      .add_option("--unix", options.unix_path,
                  "Connect to this Unix socket instead of the URL's host")
      ->option_text("PATH");
}

void declare_verification(CLI::App& parser, ClientTlsOptions& tls) {
  parser.add_option("--ca", tls.authorities, "Trust the CA certificates in this PEM file")
      ->option_text("FILE [the system's]");
  parser.add_flag("-k,--insecure", tls.insecure, "Accept any server certificate (insecure)");
  require_tls(parser);
}

void declare_load(CLI::App& parser, bench::Plan& plan) {
  const std::int64_t cores = std::max(1U, std::thread::hardware_concurrency());
  parser.add_option("-c,--connections", plan.connections, "Number of connections")
      ->check(whole_in_range(1, 1'000'000))
      ->option_text("COUNT [64]");
  parser.add_option("-t,--threads", plan.threads, "Number of client threads, at most one per core")
      ->check(whole_in_range(1, cores))
      ->option_text("COUNT [1]");
  CLI::Option* const duration =
      add_seconds(parser, "-d,--duration", plan.duration, "Duration of the test")
          ->transform(seconds_value())
          ->check(in_range(0.01, 1e6))
          ->option_text("SECONDS [10]");
  parser.add_option("-n,--requests", plan.requests, "Send exactly this many requests")
      ->check(whole_in_range(1, std::int64_t{1} << 53U))
      ->excludes(duration)
      ->option_text("COUNT");
  parser
      .add_option("-r,--rate", plan.rate,
                  "Send this many requests per second; latency counts from when each was due")
      ->check(in_range(0.001, 1e8))
      ->option_text("COUNT");
  parser.add_option("--pipeline", plan.depth, "Requests in flight per connection (HTTP/1.1)")
      ->check(whole_in_range(1, 1024))
      ->option_text("COUNT [1]");
  parser.add_flag("--http2", plan.http2, "Use HTTP/2 only, with prior knowledge on http://");
  parser.add_option("--streams", plan.depth, "Requests in flight per connection (HTTP/2)")
      ->check(whole_in_range(1, 1024))
      ->needs("--http2")
      ->excludes("--pipeline")
      ->option_text("COUNT [1]");
  add_seconds(parser, "--timeout", plan.timeout, "Time limit for connecting and for each response")
      ->transform(seconds_value())
      ->check(in_range(0.001, 86'400.0))
      ->option_text("SECONDS [10]");
  add_seconds(parser, "--warmup", plan.warmup, "Run for this long before measuring")
      ->transform(seconds_value())
      ->check(in_range(0.0, 86'400.0))
      ->option_text("SECONDS [0]");
  declare_backend(parser, plan.backend);
}

}  // namespace

void declare(CLI::App& parser, BenchOptions& options) {
  parser
      .add_option("URL", options.url,
                  "[http://]HOST[:PORT][/PATH], :PORT[/PATH] for localhost, or https://...")
      ->required()
      ->option_text(" ");
  parser.option_defaults()->group("Request");
  declare_request(parser, options);
  parser.option_defaults()->group("TLS");
  declare_verification(parser, options.tls);
  parser.option_defaults()->group("Load");
  declare_load(parser, options.plan);
  parser.option_defaults()->group("Output");
  parser.add_flag("--json", options.json, "Print the report as one JSON document");
  parser.add_flag("-q,--quiet", options.quiet, "Do not show progress");
  parser.get_help_ptr()->group("Output");
  parser.footer(
      "Ctrl-C ends the test and prints the report; a second one does not wait for responses.\n\n"
      "Exit codes: 0 (success), 1 (errors, 4xx or 5xx responses, or --rate not reached),\n"
      "2 (usage), 7 (connection).\n\n"
      "Examples:\n"
      "  skua bench http://127.0.0.1:8080/\n"
      "  skua bench -c 200 -d 30 --rate 5000 http://127.0.0.1:8080/\n"
      "  skua bench -n 10000 --data @order.json -H 'Content-Type: application/json' "
      "http://127.0.0.1:8080/orders");
}

}  // namespace skua::cli
