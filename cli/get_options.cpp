// SPDX-License-Identifier: MIT
// The options of `skua get` and its siblings, and what may not be said together.
#include "get_options.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <limits>
#include <memory>

#include "base/ascii.hpp"
#include "common_options.hpp"

namespace skua::cli {
namespace {

using Texts = std::vector<std::string>;

constexpr double longest_seconds = 1e6;

// As the options have them, until the words can be told apart.
struct Words {
  std::string url;
  Texts more;
  Texts fields;
};

[[noreturn]] void refuse(const std::string& text) { throw CLI::ValidationError(text); }

template <class T>
T checked(Outcome<T> outcome) {
  if (!outcome) refuse(outcome.error().text);
  return *std::move(outcome);
}

void declare_request(CLI::App& parser, GetOptions& options, Words& words) {
  parser
      .add_option("-H,--header", words.fields,
                  "One more field, as 'Accept: text/html'; 'Accept:' sends none; may be repeated")
      ->allow_extra_args(false)
      ->option_text("'NAME: VALUE'");
  parser
      .add_option_function<std::string>(
          "-a,--auth",
          [&options](const std::string& text) {
            options.credentials = split_at_colon("--auth", text);
          },
          "Basic authentication")
      ->option_text("USER:PASSWORD");
  parser.add_flag("--digest", options.digest,
                  "Show --auth when the server asks only: by Digest if it can");
  parser.add_option("--bearer", options.token, "Authentication by a token")->option_text("TOKEN");
  parser
      .add_option("--cookie-jar", options.cookie_file,
                  "Send the cookies of this file, and keep there what servers set")
      ->option_text("FILE");
}

void declare_content(CLI::App& parser, GetOptions& options) {
  CLI::Option* const json =
      parser.add_flag("-j,--json", options.json, "Send data items as JSON, as goes without saying")
          ->option_text(" ");
  parser.add_flag("-f,--form", options.form, "Send data items as a form")
      ->excludes(json)
      ->option_text(" ");
  parser
      .add_option("--data", options.data,
                  "Send this text; @FILE sends a file, - the standard input as it comes")
      ->option_text("TEXT");
  parser.add_option("--type", options.type, "Media type of the content")->option_text("TYPE");
}

void declare_redirects(CLI::App& parser, RedirectOptions& redirects) {
  CLI::Option* const follow =
      parser.add_flag_callback(
                "--follow", [] {}, "Follow redirects, as goes without saying")
          ->option_text(" ");
  parser
      .add_flag_callback(
          "--no-follow", [&redirects] { redirects.limit = 0; }, "Take a redirect as the response")
      ->excludes(follow)
      ->option_text(" ");
  parser.add_option("--max-redirects", redirects.limit, "How many are followed")
      ->check(CLI::Range(0U, 1000U))
      ->option_text("COUNT [10]");
}

void declare_connection(CLI::App& parser, GetOptions& options) {
  ClientOptions& client = options.client;
  CLI::Option* const http1 =
      parser
          .add_flag_callback(
              "--http1.1", [&client] { client.versions = HttpVersions::Http1; },
              "Speak HTTP/1.1 only")
          ->option_text(" ");
  parser
      .add_flag_callback(
          "--http2", [&client] { client.versions = HttpVersions::Http2; },
          "Speak HTTP/2 only; on http:// without asking the server")
      ->excludes(http1)
      ->option_text(" ");
  parser
      .add_option_function<std::string>(
          "--proxy",
          [&client](const std::string& url) {
            client.proxy.url = checked(parse_url_argument(url)).to_string();
            client.proxy.from_environment = false;
          },
          "Go through a proxy; else http_proxy, https_proxy and the like count")
      ->option_text("URL");
  parser
      .add_option_function<std::string>(
          "--no-proxy",
          [&client](const std::string& rules) {
            client.proxy.except = rules;
            if (rules == "*") client.proxy.from_environment = false;
          },
          "Hosts that are reached without one: example.com,10.0.0.0/8; *: all")
      ->option_text("RULES");
  parser
      .add_option("--unix", client.unix_socket, "Connect to a Unix socket, whatever the URL says")
      ->option_text("PATH");
  parser
      .add_option_function<Texts>(
          "--resolve",
          [&client](const Texts& texts) {
            for (const std::string& text : texts) client.hosts.push_back(parse_override(text));
          },
          "Address for a host; may be repeated")
      ->allow_extra_args(false)
      ->option_text("HOST:PORT:ADDRESS");
  parser
      .add_option_function<double>(
          "--timeout", [&client](double seconds) { client.timeout = from_seconds(seconds); },
          "Give up after so long, redirects and content included")
      ->check(in_range(0.001, longest_seconds))
      ->option_text("SECONDS");
  parser
      .add_option_function<double>(
          "--connect-timeout",
          [&client](double seconds) {
            ClientTimeouts& timeouts = client.timeouts;
            timeouts.resolve = timeouts.connect = timeouts.handshake = from_seconds(seconds);
          },
          "Longest for each step of connecting: name, connection, TLS")
      ->check(in_range(0.001, longest_seconds))
      ->option_text("SECONDS [5, 10, 10]");
}

void declare_saving(CLI::App& parser, GetOptions& options) {
  parser.add_flag("-d,--download", options.download,
                  "Save each URL in a file, named by the server or the URL; never over another");
  parser
      .add_option("-o,--output", options.output,
                  "Save in this file, in place of what is there; -: the standard output")
      ->option_text("FILE");
  parser.add_flag("-c,--continue", options.resume,
                  "Go on where an earlier download has ended, if the server still has the same");
  parser.add_option("--parallel", options.parallel, "Downloads at a time")
      ->check(CLI::Range(1U, 64U))
      ->option_text("COUNT [3]");
  parser
      .add_option_function<std::uint64_t>(
          "--max-size",
          [&limits = options.client.limits](const std::uint64_t& size_bytes) {
            limits.body_bytes = size_bytes;
            limits.decoded_bytes = size_bytes;
          },
          "Give up content that is longer")
      ->transform(size_value())
      ->option_text("SIZE");
}

void declare_output(CLI::App& parser, GetOptions& options) {
  parser.add_flag("--fail", options.fail, "End with 4, 5 or 3 for a status of 4xx, 5xx or 3xx");
  parser.add_flag("-i,--include", options.with_head, "Print the head of the response too");
  parser.add_flag("-v,--verbose", options.verbose,
                  "Print the heads of the request and the response on the standard error");
  parser.add_flag("--timing", options.timing, "Print how long each step took");
  parser.add_flag("--raw", options.raw,
                  "Neither ask for compressed content, nor decode it, nor lay JSON out");
  declare_colour(parser, options.colour);
  parser.add_flag("-q,--quiet", options.quiet, "Print no progress, and nothing but errors");
}

constexpr const char* footer =
    "Items:\n"
    "  Name:value        a field; Name: alone sends none\n"
    "  name==value       a parameter of the query\n"
    "  name=value        a string of the JSON object that is sent; with --form a field\n"
    "  name:=json        any JSON: count:=3, list:='[1, 2]'\n"
    "  name=@FILE        a string from a file; name:=@FILE JSON from a file\n"
    "  name@FILE         a file of a form, name@FILE;type=image/png\n"
    "A backslash in front of a separator makes it part of the name.\n\n"
    "On a terminal JSON is laid out, and control characters are shown, not obeyed; into pipes and\n"
    "files bytes go as they are. An error status is no failure, unless --fail or -d ask.\n\n"
    "Ends with 0, 2 (command line), 3, 4, 5 (status), 6 (name), 7 (connection), 8 (TLS),\n"
    "9 (time), 10 (protocol, limits), 11 (files), 130 (Ctrl-C), or 1.\n\n"
    "  skua get example.com\n"
    "  skua get :8080/search q==skua Accept:application/json\n"
    "  skua post :8080/users name=Ada born:=1815\n"
    "  skua get -d -c https://example.com/large.iso";

bool has_scheme(std::string_view text) {
  const std::size_t mark = text.find("://");
  return mark != text.npos && ascii::is_token_text(text.substr(0, mark));
}

// Behind --download, what cannot be an item is one more URL.
bool is_url(std::string_view word) {
  return has_scheme(word) || word.starts_with(':') || word.find_first_of(":=@") == word.npos;
}

void take_words(GetOptions& options, const Words& words) {
  options.urls.push_back(checked(parse_url_argument(words.url)));
  for (const std::string& word : words.more) {
    if (options.download && is_url(word)) {
      options.urls.push_back(checked(parse_url_argument(word)));
    } else {
      checked(add_item(options.items, word));
    }
  }
  for (const std::string& line : words.fields) {
    options.items.fields.push_back(checked(parse_field(line)));
  }
}

void check_content(GetOptions& options) {
  const RequestItems& items = options.items;
  const bool sends_nothing = options.method == Method::Get || options.method == Method::Head;
  if (sends_nothing && (items.has_content() || options.data)) {
    refuse(std::string("a ") + (options.method == Method::Get ? "get" : "head") +
           " sends no content: use `skua post`, or name==value for the query");
  }
  if (options.data && items.has_content()) refuse("--data and data items are two contents");
  if (!items.files.empty()) {
    if (options.json) refuse("a file (name@FILE) needs a form, not --json");
    options.form = true;
  }
  if (options.form && !options.type.empty()) refuse("a form says its own type, not --type");
}

void check_saving(GetOptions& options) {
  if (options.resume && !options.saves()) {
    if (options.output == "-") refuse("--continue needs a file");
    options.download = true;
  }
  if (options.download && options.output == "-") options.download = false;
  if (options.method == Method::Head && options.saves()) refuse("a head has nothing to save");
  if (options.resume && options.method != Method::Get) refuse("--continue is for get only");
  if (options.urls.size() > 1 && !options.output.empty()) refuse("--output is for one URL only");
  if (options.urls.size() > 1 && options.method != Method::Get) refuse("several URLs: get only");
}

void check(GetOptions& options) {
  check_content(options);
  check_saving(options);
  if (options.credentials && !options.token.empty()) refuse("--auth and --bearer exclude another");
  if (options.digest && !options.credentials) refuse("--digest needs --auth");
  if (options.saves() || options.raw) options.client.decompress = false;
}

}  // namespace

Outcome<Url> parse_url_argument(std::string_view text) {
  const auto refused = [text](const std::string& why) {
    return Problem{.error = Errc::MalformedUrl,
                   .text = "'" + std::string(text) + "' is no URL to ask: " + why};
  };
  std::string whole(text);
  if (text.starts_with(':')) {
    const char next = text.size() > 1 ? text[1] : '/';
    if (!ascii::is_digit(next) && next != '/') return refused("no port follows the colon");
    whole = "http://localhost" + std::string(next == '/' ? text.substr(1) : text);
  } else if (!has_scheme(text)) {
    whole = "http://" + whole;
  }
  Result<Url> url = Url::parse_lenient(whole);
  if (!url) return refused("it is malformed");
  if (url->scheme() != "http" && url->scheme() != "https") {
    return refused("it has to begin with http:// or https://");
  }
  return *std::move(url);
}

HostOverride parse_override(const std::string& text) {
  const auto refuse_it = [&text] {
    throw CLI::ValidationError("--resolve", "'" + text + "' is not HOST:PORT:ADDRESS");
  };
  const std::size_t first = text.find(':');
  const std::size_t second = text.find(':', first == text.npos ? first : first + 1);
  if (first == 0 || second == text.npos) refuse_it();
  HostOverride made{.host = text.substr(0, first), .address = text.substr(second + 1)};
  const std::string port = text.substr(first + 1, second - first - 1);
  const bool is_number =
      !port.empty() && port.size() <= 5 && std::all_of(port.begin(), port.end(), ascii::is_digit);
  const unsigned long number = is_number ? std::stoul(port) : 0;
  const bool is_any = port == "*";
  if (!is_any && (number == 0 || number > std::numeric_limits<std::uint16_t>::max())) refuse_it();
  made.port = static_cast<std::uint16_t>(number);
  if (made.address.starts_with('[') && made.address.ends_with(']')) {
    made.address = made.address.substr(1, made.address.size() - 2);
  }
  if (made.address.empty()) refuse_it();
  return made;
}

void declare(CLI::App& parser, GetOptions& options) {
  const auto words = std::make_shared<Words>();
  parser.add_option("URL", words->url, "[http://]HOST[:PORT]/PATH; :PORT/PATH is of localhost")
      ->required()
      ->option_text(" ");
  parser.add_option("ITEM", words->more, "Fields, query and data, see below; with -d more URLs")
      ->option_text("...");
  parser.option_defaults()->group("Request");
  declare_request(parser, options, *words);
  parser.option_defaults()->group("Content");
  declare_content(parser, options);
  parser.option_defaults()->group("Connection");
  declare_redirects(parser, options.client.redirects);
  declare_connection(parser, options);
  parser.option_defaults()->group("TLS");
  declare_tls(parser, options.client.tls);
  parser.option_defaults()->group("Files");
  declare_saving(parser, options);
  parser.option_defaults()->group("Output");
  declare_output(parser, options);
  parser.get_help_ptr()->group("Output");
  parser.footer(footer);
  parser.callback([&options, words] {
    take_words(options, *words);
    check(options);
  });
}

}  // namespace skua::cli
