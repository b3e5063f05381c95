// SPDX-License-Identifier: MIT
// The options of `skua proxy`. Those of any server are declared by `skua serve`.
#include "proxy/options.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <charconv>
#include <stdexcept>
#include <utility>

#include "common_options.hpp"
#include "crypto/digest.hpp"
#include "serve/log/log_options.hpp"
#include "serve/tls.hpp"

namespace skua::cli {
namespace {

constexpr std::string_view weight_word = ",weight=";

// Like in an address bar, http:// is the default, and `:3000` is a port of this machine.
std::string target_url(std::string text) {
  if (text.starts_with("unix:") || text.find("://") != text.npos) return text;
  if (text.starts_with(':')) text.insert(0, "127.0.0.1");
  return "http://" + text;
}

UpstreamTarget read_target(const std::string& text) {
  UpstreamTarget target;
  const std::size_t word = text.rfind(weight_word);
  target.url = target_url(text.substr(0, word));
  if (word == text.npos) return target;
  const std::string digits = text.substr(word + weight_word.size());
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), target.weight);
  const bool is_number = error == std::errc() && end == digits.data() + digits.size();
  if (!is_number || target.weight == 0 || target.weight > 1'000'000) {
    throw std::invalid_argument("'" + text + "': the weight is not a whole number from 1");
  }
  return target;
}

// Sets what depends on several options, and checks it.
void complete(GatewayOptions& options) {
  UpstreamOptions& upstream = options.upstream;
  upstream.targets.clear();
  for (const std::string& text : options.targets) {
    upstream.targets.push_back(read_target(text));
    upstream.targets.back().each_address = options.each_address;
  }
  if (!upstream.balance.hash_header.empty() || !upstream.balance.hash_cookie.empty()) {
    upstream.balance.by = Balance::Hash;
  }
  upstream.health.timeout = std::min(upstream.health.timeout, upstream.health.interval);
  if (!options.mirror.empty()) {
    options.mirror = target_url(options.mirror);
    upstream.mirror.to = Upstream({.name = "mirror", .targets = {{.url = options.mirror}}});
  }
  static_cast<void>(ReverseProxy(Upstream(upstream), options.proxy));  // throws if it cannot be
}

void add_seconds(CLI::App& parser, const char* name, Duration& time, const char* text,
                 const char* shown) {
  parser
      .add_option_function<double>(
          name, [&time](const double& seconds) { time = from_seconds(seconds); }, text)
      ->check(in_range(0.001, 86'400.0))
      ->option_text(shown);
}

void declare_balance(CLI::App& parser, GatewayOptions& options) {
  UpstreamBalance& balance = options.upstream.balance;
  parser
      .add_option_function<std::string>(
          "--balance",
          [&balance](const std::string& way) {
            balance.by = way == "round-robin" ? Balance::RoundRobin
                         : way == "hash"      ? Balance::Hash
                                              : Balance::LeastOutstanding;
          },
          "Choose the less busy of two targets, take turns, or go by the client's address")
      ->check(one_of({"least", "round-robin", "hash"}))
      ->option_text("least|round-robin|hash [least]");
  CLI::Option* const header =
      parser
          .add_option("--hash-header", balance.hash_header,
                      "Choose the same target for the same value of this field")
          ->option_text("NAME");
  parser
      .add_option("--hash-cookie", balance.hash_cookie,
                  "Choose the same target for the same value of this cookie")
      ->excludes(header)
      ->option_text("NAME");
  add_seconds(parser, "--slow-start", balance.slow_start,
              "Give a target that comes back its whole share only after this long", "SECONDS");
  parser.add_flag("--each-address", options.each_address,
                  "Balance over all addresses of each name, and look them up again every 30 s");
}

void declare_health(CLI::App& parser, GatewayOptions& options) {
  UpstreamHealth& health = options.upstream.health;
  CLI::Option* const path =
      parser
          .add_option("--health-check", health.path,
                      "Ask each target for this path, and leave out those that fail three times")
          ->check([](const std::string& given) {
            return given.starts_with('/') ? std::string() : "'" + given + "' is not a path";
          })
          ->option_text("PATH");
  parser
      .add_option_function<double>(
          "--health-interval",
          [&health](const double& seconds) { health.interval = from_seconds(seconds); },
          "Time between two checks of a target")
      ->check(in_range(0.01, 86'400.0))
      ->needs(path)
      ->option_text("SECONDS [5]");
  parser.add_option("--health-port", health.port, "Ask this port instead of the targets' own")
      ->check(whole_in_range(1, 65'535))
      ->needs(path)
      ->option_text("PORT");
  parser.add_option("--health-host", health.host, "Ask for this host instead of the targets' own")
      ->needs(path)
      ->option_text("HOST");
  parser.add_option("--health-method", health.method, "Ask with this method")
      ->needs(path)
      ->option_text("METHOD [GET]");
  parser
      .add_option("--health-status", health.status, "Status that passes, instead of any 2xx or 3xx")
      ->check(whole_in_range(100, 599))
      ->needs(path)
      ->option_text("STATUS");
  parser
      .add_option("--health-content", health.content,
                  "Text that a response passes with, if its content has it")
      ->needs(path)
      ->option_text("TEXT");
}

// How requests reach a target.
void declare_connections(CLI::App& parser, GatewayOptions& options) {
  ReverseProxyOptions& proxy = options.proxy;
  add_seconds(parser, "--connect-timeout", proxy.timeouts.connect,
              "Wait this long for a connection to a target; then the client gets 504",
              "SECONDS [5]");
  add_seconds(parser, "--content-timeout", proxy.timeouts.idle,
              "Wait this long for the next bytes of content, in either direction", "SECONDS [300]");
  add_seconds(parser, "--tunnel-timeout", proxy.timeouts.tunnel,
              "Wait this long for the next bytes of a WebSocket", "SECONDS [3600]");
  add_seconds(parser, "--websocket-spread", options.server.server.timeouts.websocket_spread,
              "Close WebSockets one after the other over this time when the gateway stops",
              "SECONDS [0]");
  parser.add_flag("--keep-websockets", proxy.tunnels_outlast_drains,
                  "Keep WebSockets open until the gateway has to end");
  parser
      .add_option("--connections", proxy.connections,
                  "Open no more connections to a target, for each thread")
      ->check(whole_in_range(1, 1'000'000))
      ->option_text("COUNT [1024]");
  parser
      .add_option_function<std::string>(
          "--send-proxy-protocol",
          [&proxy](const std::string& version) {
            proxy.proxy_protocol = version == "v1" ? ProxyProtocol::V1 : ProxyProtocol::V2;
          },
          "Begin connections to targets with a PROXY header that names the client")
      ->check(one_of({"v1", "v2"}))
      ->option_text("v1|v2");
  parser
      .add_option_function<std::string>(
          "--send-forwarded",
          [&proxy](const std::string& kind) {
            proxy.forwarded = kind == "forwarded" ? ForwardedFields::Forwarded
                              : kind == "none"    ? ForwardedFields::None
                                                  : ForwardedFields::XForwarded;
          },
          "Name the client in X-Forwarded-For and its like, in Forwarded, or not at all")
      ->check(one_of({"x-forwarded", "forwarded", "none"}))
      ->option_text("x-forwarded|forwarded|none [x-forwarded]");
}

void declare_requests(CLI::App& parser, GatewayOptions& options) {
  UpstreamLimits& limits = options.upstream.limits;
  parser
      .add_option("--max-requests", limits.target_requests,
                  "Send a target no more requests at a time; others wait, then get 503")
      ->check(whole_in_range(1, 1'000'000))
      ->option_text("COUNT");
  parser.add_option("--queue", limits.queued_requests, "Let so many requests wait at a time")
      ->check(whole_in_range(0, 1'000'000))
      ->option_text("COUNT [256]");
  add_seconds(parser, "--queue-time", limits.queue_time, "Let a request wait for this long",
              "SECONDS [5]");
  parser
      .add_option_function<unsigned>(
          "--retries",
          [&options](const unsigned& count) { options.upstream.retries.attempts = count + 1; },
          "Repeat a request at other targets, if that is safe, up to this often")
      ->check(whole_in_range(0, 100))
      ->option_text("COUNT [2]");
  add_seconds(parser, "--timeout", options.proxy.timeouts.response,
              "Wait this long for the head of a response; then the client gets 504",
              "SECONDS [60]");
  parser.add_flag_callback(
      "--change-host", [&options] { options.proxy.keeps_host = false; },
      "Send the host of the target's URL, instead of the one that the client asked for");
  CLI::Option* const mirror =
      parser
          .add_option("--mirror", options.mirror,
                      "Send copies of requests there, too, and discard the responses")
          ->option_text("URL");
  parser
      .add_option("--mirror-share", options.upstream.mirror.share,
                  "Part of the requests that are copied")
      ->check(in_range(0.0, 1.0))
      ->needs(mirror)
      ->option_text("NUMBER [1]");
}

}  // namespace

void declare(CLI::App& parser, GatewayOptions& options) {
  parser
      .add_option("TARGET", options.targets,
                  "Server: http://, https://, h2c:// (HTTP/2 without TLS), unix:/PATH, HOST:PORT "
                  "or :PORT; ,weight=N after it for its share")
      ->required()
      ->option_text("...");
  parser.option_defaults()->group("Targets");
  declare_balance(parser, options);
  declare_health(parser, options);
  declare_requests(parser, options);
  declare_connections(parser, options);
  parser.option_defaults()->group("TLS to targets");
  declare_tls(parser, options.proxy.tls);
  parser.option_defaults()->group("Server");
  declare_server(parser, options.server);
  declare_clients(parser, options.server);
  declare_admin(parser, options.server);
  declare_privileges(parser, options.server);
  parser.option_defaults()->group("HTTPS");
  declare_https(parser, options.server);
  parser.option_defaults()->group("Output");
  declare_log(parser, options.server.log);
  declare_messages(parser, options.server);
  parser.get_help_ptr()->group("Output");
  parser.parse_complete_callback([&options] {
    try {
      complete(options);
    } catch (const std::invalid_argument& error) {
      throw CLI::ValidationError("TARGET", error.what());
    }
  });
  const bool has_tls = crypto::is_available();
  parser.footer(
      std::string(
          "Ctrl-C or SIGTERM stops the server once the requests in progress are answered, within\n"
          "30 s; a second signal stops it at once.\n\n"
          "Exit codes: 0 (stopped by a signal), 1 (the address cannot be used), 2 (usage).\n\n"
          "Examples:\n"
          "  skua proxy :3000 :3001 --health-check /livez\n"
          "  skua proxy http://10.0.0.1,weight=3 http://10.0.0.2 --admin 9090") +
      (has_tls ? "\n  skua proxy :3000 --host 0.0.0.0 --port 443 --tls-cert chain.pem "
                 "--redirect-http 80"
               : ""));
}

}  // namespace skua::cli
