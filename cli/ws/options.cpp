// SPDX-License-Identifier: MIT
// The options of `skua ws`.
#include "ws/options.hpp"

#include <CLI/CLI.hpp>

#include <string>
#include <utility>
#include <vector>

#include "common_options.hpp"
#include "international_host.hpp"
#include "network_options.hpp"

namespace skua::cli {
namespace {

// Returns the URL that an argument means: its scheme defaults to ws://, its host to localhost, and
// those of HTTP mean those of WebSockets.
std::string websocket_url(const std::string& text) {
  const std::size_t mark = text.find("://");
  if (mark == text.npos) {
    return "ws://" + std::string(text.starts_with(':') ? "localhost" : "") + text;
  }
  const std::string scheme = text.substr(0, mark);
  if (scheme == "http") return "ws" + text.substr(mark);
  if (scheme == "https") return "wss" + text.substr(mark);
  if (scheme == "ws" || scheme == "wss") return text;
  throw CLI::ValidationError("'" + text + "' is not a URL: it has to begin with ws:// or wss://");
}

void declare_request(CLI::App& parser, WsOptions& options) {
  parser
      .add_option_function<std::vector<std::string>>(
          "-H,--header",
          [&options](const std::vector<std::string>& lines) {
            for (const std::string& line : lines) {
              options.fields.push_back(split_field(line));
            }
          },
          "Add a request header; may be repeated")
      ->allow_extra_args(false)
      ->option_text("'NAME: VALUE'");
  parser
      .add_option("-s,--subprotocol", options.socket.subprotocols,
                  "Offer a subprotocol; may be repeated, in order of preference")
      ->allow_extra_args(false)
      ->option_text("NAME");
  parser
      .add_option_function<std::string>(
          "-a,--auth",
          [&options](const std::string& text) { options.basic = split_at_colon("--auth", text); },
          "Authenticate with HTTP Basic")
      ->option_text("USER:PASSWORD");
  parser.add_option("--bearer", options.token, "Authenticate with a bearer token")
      ->option_text("TOKEN");
  parser.add_flag_callback(
      "-c,--compress", [&options] { options.socket.compression = WebSocketCompression::Context; },
      "Offer message compression (permessage-deflate)");
}

void declare_messages(CLI::App& parser, WsOptions& options) {
  parser
      .add_option("-m,--message", options.messages,
                  "Send this message instead of standard input; may be repeated")
      ->allow_extra_args(false)
      ->option_text("TEXT");
  parser.add_flag("-l,--listen", options.listen,
                  "Print messages until the server closes; send only those of --message");
  parser.add_flag("-b,--binary", options.binary, "Send binary messages instead of text");
  parser.add_option("-n,--count", options.count, "Exit after receiving this many messages")
      ->check(whole_in_range(1, std::int64_t{1} << 53U))
      ->option_text("COUNT");
  parser
      .add_option_function<double>(
          "-w,--wait", [&options](double seconds) { options.wait = from_seconds(seconds); },
          "End when nothing has been received for this long after the last message was sent")
      ->check(in_range(0.0, 86'400.0))
      ->option_text("SECONDS [2]");
  parser
      .add_option("--max-message", options.socket.message_bytes, "Maximum message size to accept")
      ->transform(size_value())
      ->option_text("SIZE [64MiB]");
  parser
      .add_option_function<double>(
          "--ping", [&options](double seconds) { options.socket.ping = from_seconds(seconds); },
          "Ping the server after this much inactivity")
      ->check(in_range(0.001, 86'400.0))
      ->option_text("SECONDS [30]");
  parser
      .add_option_function<double>(
          "--idle", [&options](double seconds) { options.socket.idle = from_seconds(seconds); },
          "Close the connection after this much inactivity")
      ->check(in_range(0.001, 86'400.0))
      ->option_text("SECONDS [60]");
}

void declare_output(CLI::App& parser, WsOptions& options) {
  parser.add_flag("--json", options.json, "Print each event as one line of JSON");
  declare_colour(parser, options.colour);
  parser.add_flag("-q,--quiet", options.quiet, "Print only messages and errors");
}

}  // namespace

void declare(CLI::App& parser, WsOptions& options) {
  parser
      .add_option_function<std::string>(
          "URL",
          [&options](const std::string& text) {
            const std::string url = websocket_url(text);
            Result<std::string, Problem> converted = with_ascii_host(url);
            if (!converted) {
              throw CLI::ValidationError("'" + url + "' is not a URL: " + converted.error().text);
            }
            options.url = *std::move(converted);
          },
          "[ws://]HOST[:PORT][/PATH], :PORT[/PATH] for localhost, or wss://... for TLS")
      ->required()
      ->option_text(" ");
  parser.option_defaults()->group("Request");
  declare_request(parser, options);
  parser.option_defaults()->group("Connection");
  declare_network(parser, options.client);
  parser.option_defaults()->group("TLS");
  declare_tls(parser, options.client.tls);
  parser.option_defaults()->group("Messages");
  declare_messages(parser, options);
  parser.option_defaults()->group("Output");
  declare_output(parser, options);
  parser.get_help_ptr()->group("Output");
  parser.footer(
      "Each line of standard input is sent as a message, and each received message is printed on\n"
      "a line. On a terminal, /ping, /binary, /close and /help are commands.\n\n"
      "Exit codes: 0 (closed normally: 1000, 1001 or 1005), 1 (closed otherwise), 2 (usage),\n"
      "6 (name), 7 (connection), 8 (TLS), 9 (timeout), 10 (protocol).\n\n"
      "Examples:\n"
      "  skua ws wss://example.com/chat\n"
      "  echo hello | skua ws ws://127.0.0.1:8080/echo\n"
      "  skua ws ws://127.0.0.1:8080/echo -m hello -n 1");
}

}  // namespace skua::cli
