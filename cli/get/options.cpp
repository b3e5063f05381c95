// SPDX-License-Identifier: MIT
// The options of `skua get` and its siblings, and checks of their combinations.
#include "get/options.hpp"

#include <CLI/CLI.hpp>

#include <memory>

#include "base/ascii.hpp"
#include "common_options.hpp"
#include "get/scripting.hpp"
#include "get/words.hpp"
#include "network_options.hpp"

namespace skua::cli {
namespace {

using Texts = std::vector<std::string>;

constexpr double longest_seconds = 1e6;

// Converts a method to upper case. The description is for shell completions: other methods are
// allowed, too.
CLI::Validator method_value() {
  const auto convert = [](std::string& text) -> std::string {
    if (!ascii::is_token_text(text)) return "'" + text + "' is not a method";
    for (char& letter : text) {
      if (letter >= 'a' && letter <= 'z') letter = static_cast<char>(letter - 'a' + 'A');
    }
    return text == "CONNECT" ? "CONNECT is for proxies: use --proxy" : "";
  };
  return {convert, "{GET,HEAD,POST,PUT,PATCH,DELETE,OPTIONS,TRACE}"};
}

void declare_request(CLI::App& parser, GetOptions& options, Words& words) {
  CLI::Option* const method =
      parser.add_option("-X,--method", words.method, "Send this method, which may be any")
          ->transform(method_value())
          ->option_text("METHOD");
  if (CLI::Option* const word = parser.get_option_no_throw("METHOD")) method->excludes(word);
  parser
      .add_option("-H,--header", words.fields,
                  "Add a request header, or remove one with 'NAME:'; may be repeated")
      ->allow_extra_args(false)
      ->option_text("'NAME: VALUE'");
  parser.add_flag("--path-as-is", options.keeps_dots,
                  "Send /./ and /../ in the URL as they are, instead of removing them");
  parser
      .add_option_function<std::string>(
          "-a,--auth",
          [&options](const std::string& text) {
            options.credentials = split_at_colon("--auth", text);
          },
          "Authenticate with HTTP Basic")
      ->option_text("USER:PASSWORD");
  parser.add_flag("--digest", options.digest,
                  "Send --auth only after a 401, using Digest if the server offers it");
  parser.add_option("--bearer", options.token, "Authenticate with a bearer token")
      ->option_text("TOKEN");
  parser
      .add_option_function<std::string>(
          "--cookie-jar",
          [&options](const std::string& path) {
            options.cookie_file = options.cookie_output = path;
          },
          "Send cookies from this file, and save received cookies to it")
      ->option_text("FILE");
}

void declare_netrc(CLI::App& parser, NetrcOptions& netrc) {
  parser.add_flag("--netrc", netrc.is_wanted,
                  "Without --auth, take user and password from ~/.netrc, or the file in $NETRC");
  parser
      .add_option_function<std::string>(
          "--netrc-file",
          [&netrc](const std::string& path) { netrc = {.is_wanted = true, .path = path}; },
          "Take user and password from this file instead")
      ->option_text("FILE");
}

void declare_content(CLI::App& parser, GetOptions& options) {
  CLI::Option* const json =
      parser.add_flag("-j,--json", options.json, "Send data items as JSON (default)")
          ->option_text(" ");
  parser.add_flag("-f,--form", options.form, "Send data items as form fields")
      ->excludes(json)
      ->option_text(" ");
  parser
      .add_option("--data", options.data, "Send TEXT, the contents of @FILE, or standard input (-)")
      ->option_text("TEXT");
  parser.add_option("--type", options.type, "Content-Type of the request")->option_text("TYPE");
}

void declare_redirects(CLI::App& parser, RedirectOptions& redirects) {
  CLI::Option* const follow =
      parser.add_flag_callback("--follow", [] {}, "Follow redirects (default)")->option_text(" ");
  parser
      .add_flag_callback(
          "--no-follow", [&redirects] { redirects.limit = 0; }, "Do not follow redirects")
      ->excludes(follow)
      ->option_text(" ");
  parser.add_option("--max-redirects", redirects.limit, "Maximum number of redirects to follow")
      ->check(whole_in_range(0, 1000))
      ->option_text("COUNT [10]");
}

void declare_connection(CLI::App& parser, GetOptions& options) {
  ClientOptions& client = options.client;
  CLI::Option* const http1 =
      parser
          .add_flag_callback(
              "--http1.1", [&client] { client.versions = HttpVersions::Http1; },
              "Use HTTP/1.1 only")
          ->option_text(" ");
  parser
      .add_flag_callback(
          "--http2", [&client] { client.versions = HttpVersions::Http2; },
          "Use HTTP/2 only, with prior knowledge on http://")
      ->excludes(http1)
      ->option_text(" ");
  declare_network(parser, client);
  parser
      .add_option("--unix", client.unix_socket,
                  "Connect to this Unix socket instead of the URL's host")
      ->option_text("PATH");
  parser
      .add_option_function<Texts>(
          "--resolve",
          [&client](const Texts& texts) {
            for (const std::string& text : texts) client.hosts.push_back(parse_override(text));
          },
          "Resolve HOST:PORT to ADDRESS; may be repeated")
      ->allow_extra_args(false)
      ->option_text("HOST:PORT:ADDRESS");
  parser
      .add_option_function<double>(
          "--timeout", [&client](double seconds) { client.timeout = from_seconds(seconds); },
          "Time limit for the whole request, including redirects and content")
      ->check(in_range(0.001, longest_seconds))
      ->option_text("SECONDS");
  parser
      .add_option_function<double>(
          "--connect-timeout",
          [&client](double seconds) {
            ClientTimeouts& timeouts = client.timeouts;
            timeouts.resolve = timeouts.connect = timeouts.handshake = from_seconds(seconds);
          },
          "Time limit for each of name lookup, TCP connection and TLS handshake")
      ->check(in_range(0.001, longest_seconds))
      ->option_text("SECONDS [5, 10, 10]");
}

void declare_rate(CLI::App& parser, GetOptions& options) {
  const auto no_zero = [](const std::string& text) {
    return text == "0" ? std::string("the rate must be at least one byte per second")
                       : std::string();
  };
  parser
      .add_option("--limit-rate", options.bytes_per_second,
                  "Limit each transfer to this many bytes per second, in each direction")
      ->transform(size_value())
      ->check(CLI::Validator(no_zero, ""))
      ->option_text("RATE");
}

void declare_retries(CLI::App& parser, RetryOptions& retry) {
  const auto seconds = [&parser](const char* name, Duration& time, const char* description) {
    return parser
        .add_option_function<double>(
            name, [&time](double value) { time = from_seconds(value); }, description)
        ->check(in_range(0.001, longest_seconds));
  };
  parser
      .add_option("--retry", retry.count,
                  "Repeat a request that fails for a passing reason, if that is safe")
      ->check(whole_in_range(0, 1000))
      ->option_text("COUNT [0]");
  seconds("--retry-delay", retry.delay, "Wait before the first repetition; doubled each time")
      ->option_text("SECONDS [1]");
  seconds("--retry-max-time", retry.max_time, "Repeat nothing later than this")
      ->option_text("SECONDS");
}

void declare_saving(CLI::App& parser, GetOptions& options) {
  parser.add_flag("-d,--download", options.download,
                  "Save each URL to a file named by the server or the URL; keep existing files");
  parser
      .add_option("-o,--output", options.output,
                  "Save to this file, replacing it; - for standard output")
      ->option_text("FILE");
  parser
      .add_option("--input-file", options.input_file, "Also get the URLs in this file, one a line")
      ->option_text("FILE");
  parser.add_flag("-c,--continue", options.resume,
                  "Resume partial downloads, and skip complete ones");
  parser.add_option("--parallel", options.parallel, "Maximum number of simultaneous downloads")
      ->check(whole_in_range(1, 64))
      ->option_text("COUNT [3]");
  parser
      .add_option_function<std::uint64_t>(
          "--max-size",
          [&limits = options.client.limits](const std::uint64_t& size_bytes) {
            limits.body_bytes = size_bytes;
            limits.decoded_bytes = size_bytes;
          },
          "Fail if the response is larger than SIZE")
      ->transform(size_value())
      ->option_text("SIZE");
}

void declare_output(CLI::App& parser, GetOptions& options) {
  parser.add_flag("--fail", options.fail, "Exit with 3, 4 or 5 if the status is 3xx, 4xx or 5xx");
  parser.add_flag("-i,--include", options.with_head, "Also print the response head and trailers");
  parser.add_flag_function(
      "-v,--verbose",
      [&options](std::int64_t count) {
        options.verbose = count > 0;
        options.shows_secrets = count > 1;
      },
      "Print request and response heads to standard error; -vv: with credentials");
  parser.add_flag("--timing", options.timing, "Print the duration of each step to standard error");
  parser.add_flag("--raw", options.raw,
                  "Print content as received: no decompression, no JSON formatting");
  parser.add_flag("--curl", options.curl, "Print the equivalent curl command; send nothing");
  declare_colour(parser, options.colour);
  parser.add_flag("-q,--quiet", options.quiet, "Print only content and errors");
}

constexpr const char* footer =
    "Items:\n"
    "  Name:value        header; Name: alone removes a default header\n"
    "  name==value       query parameter\n"
    "  name=value        JSON string, or form field with --form\n"
    "  name:=json        any JSON value: count:=3, list:='[1, 2]'\n"
    "  name=@FILE        string read from FILE; name:=@FILE reads a JSON value\n"
    "  name@FILE         file to upload with a form; name@FILE;type=image/png sets its type\n"
    "A backslash before a separator makes it part of the name.\n\n"
    "On a terminal, JSON is formatted and control characters are escaped. Pipes and files\n"
    "receive the bytes unchanged. An error status is a failure only with --fail or -d.\n\n"
    "Exit codes: 0 (success), 1 (other errors), 2 (usage), 3, 4, 5 (3xx, 4xx, 5xx), 6 (name),\n"
    "7 (connection), 8 (TLS), 9 (timeout), 10 (protocol, limit), 11 (file), 130 (Ctrl-C).\n\n"
    "Examples:\n"
    "  skua get example.com\n"
    "  skua get :8080/search q==skua Accept:application/json\n"
    "  skua post :8080/users name=Ada born:=1815\n"
    "  skua get -d -c https://example.com/large.iso";

}  // namespace

void declare(CLI::App& parser, GetOptions& options) {
  const auto words = std::make_shared<Words>();
  if (options.method.empty()) {
    parser.add_option("METHOD", words->method, "OPTIONS, PROPFIND or any other")
        ->required()
        ->transform(method_value())
        ->option_text(" ");
  }
  parser
      .add_option("URL", words->url, "[http://]HOST[:PORT][/PATH], or :PORT[/PATH] for localhost")
      ->option_text(" ");
  parser
      .add_option("ITEM", words->more,
                  "Headers, query parameters and data (see below), or further URLs")
      ->option_text("...");
  parser.option_defaults()->group("Request");
  declare_request(parser, options, *words);
  declare_netrc(parser, options.netrc);
  parser.option_defaults()->group("Content");
  declare_content(parser, options);
  parser.option_defaults()->group("Connection");
  declare_redirects(parser, options.client.redirects);
  declare_connection(parser, options);
  declare_rate(parser, options);
  declare_retries(parser, options.retry);
  parser.option_defaults()->group("TLS");
  declare_tls(parser, options.client.tls);
  parser.option_defaults()->group("Files");
  declare_saving(parser, options);
  parser.option_defaults()->group("Output");
  declare_output(parser, options);
  declare_scripting(parser, options);
  parser.get_help_ptr()->group("Output");
  parser.footer(footer);
  parser.callback([&parser, &options, words] {
    take_words(parser, options, *words);
    check(options);
  });
}

}  // namespace skua::cli
