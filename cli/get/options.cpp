// SPDX-License-Identifier: MIT
// The options of `skua get` and its siblings, and checks of their combinations.
#include "get/options.hpp"

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

// The words as parsed; they are classified once all options are known.
struct Words {
  std::string method;
  std::string url;
  Texts more;
  Texts fields;
};

[[noreturn]] void refuse(const std::string& text) { throw CLI::ValidationError(text); }

template <class T>
T checked(Result<T, Problem> outcome) {
  if (!outcome) refuse(outcome.error().text);
  return *std::move(outcome);
}

void checked(const Result<void, Problem>& outcome) {
  if (!outcome) refuse(outcome.error().text);
}

CLI::Validator upper_case() {
  const auto convert = [](std::string& text) {
    for (char& letter : text) {
      if (letter >= 'a' && letter <= 'z') letter = static_cast<char>(letter - 'a' + 'A');
    }
    return std::string();
  };
  return {convert, ""};
}

void declare_request(CLI::App& parser, GetOptions& options, Words& words) {
  parser
      .add_option("-H,--header", words.fields,
                  "Add a request header, or remove one with 'NAME:'; may be repeated")
      ->allow_extra_args(false)
      ->option_text("'NAME: VALUE'");
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
      .add_option("--cookie-jar", options.cookie_file,
                  "Send cookies from this file, and save received cookies to it")
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
  parser
      .add_option_function<std::string>(
          "--proxy",
          [&client](const std::string& url) {
            client.proxy.url = checked(parse_url_argument(url)).to_string();
            client.proxy.from_environment = false;
          },
          "Use this proxy instead of http_proxy, https_proxy and ALL_PROXY")
      ->option_text("URL");
  parser
      .add_option_function<std::string>(
          "--no-proxy",
          [&client](const std::string& rules) {
            client.proxy.except = rules;
            if (rules == "*") client.proxy.from_environment = false;
          },
          "Bypass the proxy for these hosts (example.com,10.0.0.0/8); * for all")
      ->option_text("RULES");
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

void declare_saving(CLI::App& parser, GetOptions& options) {
  parser.add_flag("-d,--download", options.download,
                  "Save each URL to a file named by the server or the URL; keep existing files");
  parser
      .add_option("-o,--output", options.output,
                  "Save to this file, replacing it; - for standard output")
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
  parser.add_flag("-v,--verbose", options.verbose,
                  "Print request and response heads to standard error");
  parser.add_flag("--timing", options.timing, "Print the duration of each step to standard error");
  parser.add_flag("--raw", options.raw,
                  "Print content as received: no decompression, no JSON formatting");
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

bool has_scheme(std::string_view text) {
  const std::size_t mark = text.find("://");
  return mark != text.npos && ascii::is_token_text(text.substr(0, mark));
}

// With --download, a word that cannot be an item is another URL.
bool is_url(std::string_view word) {
  return has_scheme(word) || word.starts_with(':') || word.find_first_of(":=@") == word.npos;
}

// Reports whether an item stands in place of the URL: no host contains an equals sign.
bool is_misplaced_item(std::string_view word) {
  if (has_scheme(word)) return false;
  const std::size_t mark = word.find_first_of("=/?#[");
  return mark != word.npos && word[mark] == '=';
}

void check_url(const CLI::App& parser, const GetOptions& options, const std::string& url) {
  // The parser takes an option such as -4 for a negative number.
  if (url.size() > 1 && url.starts_with('-')) refuse("unknown option " + url);
  if (!is_misplaced_item(url)) return;
  std::string text = "'" + url + "' is not a URL; the URL comes first: skua ";
  text.append(parser.get_name())
      .append(options.any_method ? " METHOD" : "")
      .append(" URL ")
      .append(url);
  if (options.download) text += " (-d means --download; use --data to send text)";
  refuse(text);
}

void take_words(const CLI::App& parser, GetOptions& options, const Words& words) {
  // NOLINTNEXTLINE(bugprone-unchecked-optional-access): the parser knows the methods
  if (options.any_method) options.method = parse_method(words.method).value();
  check_url(parser, options, words.url);
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
  const bool has_content = items.has_content() || options.data;
  const bool sends_nothing = options.method == Method::Get || options.method == Method::Head;
  if (sends_nothing && has_content && !options.any_method) {
    refuse(std::string(options.method == Method::Get ? "get" : "head") +
           " sends no content: use `skua post`, or name==value for a query parameter");
  }
  if (options.method == Method::Trace && has_content) refuse("TRACE sends no content");
  if (options.data && items.has_content()) {
    refuse("--data and data items cannot be used together");
  }
  if (!items.files.empty()) {
    if (options.json) refuse("name@FILE sends a form and cannot be used with --json");
    options.form = true;
  }
  if (options.form && !options.type.empty()) refuse("--form and --type cannot be used together");
}

void check_saving(GetOptions& options) {
  if (options.resume && !options.saves()) {
    if (options.output == "-") refuse("--continue cannot be used with --output -");
    options.download = true;
  }
  if (options.download && options.output == "-") options.download = false;
  if (options.method == Method::Head && options.saves()) refuse("head has no content to save");
  if (options.resume && options.method != Method::Get) refuse("--continue works only with get");
  if (options.urls.size() > 1 && !options.output.empty()) refuse("--output takes only one URL");
  if (options.urls.size() > 1 && options.method != Method::Get)
    refuse("multiple URLs work only with get");
}

void check(GetOptions& options) {
  check_content(options);
  check_saving(options);
  if (options.credentials && !options.token.empty())
    refuse("--auth and --bearer cannot be used together");
  if (options.digest && !options.credentials) refuse("--digest needs --auth");
  if (options.saves() || options.raw) options.client.decompress = false;
}

}  // namespace

Result<Url, Problem> parse_url_argument(std::string_view text) {
  const auto refused = [text](const std::string& why) {
    return Problem{.error = Errc::MalformedUrl,
                   .text = "'" + std::string(text) + "' is not a URL: " + why};
  };
  std::string whole(text);
  if (text.starts_with(':')) {
    const char next = text.size() > 1 ? text[1] : '/';
    if (!ascii::is_digit(next) && next != '/') return refused("a port must follow the colon");
    whole = "http://localhost" + std::string(next == '/' ? text.substr(1) : text);
  } else if (!has_scheme(text)) {
    whole = "http://" + whole;
  }
  Result<Url> url = Url::parse_lenient(whole);
  const bool is_ascii = std::all_of(text.begin(), text.end(),
                                    [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  if (!url && !is_ascii) {
    return refused("write an international host name in ASCII form (xn--...)");
  }
  if (!url) return refused("invalid syntax");
  if (url->scheme() != "http" && url->scheme() != "https") {
    return refused("it must begin with http:// or https://");
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
  if (options.any_method) {
    parser
        .add_option("METHOD", words->method,
                    "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS or TRACE")
        ->required()
        ->check(one_of({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"}))
        ->transform(upper_case())
        ->option_text(" ");
  }
  parser
      .add_option("URL", words->url, "[http://]HOST[:PORT][/PATH], or :PORT[/PATH] for localhost")
      ->required()
      ->option_text(" ");
  parser
      .add_option("ITEM", words->more,
                  "Headers, query parameters and data (see below); with -d, also URLs")
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
  parser.callback([&parser, &options, words] {
    take_words(parser, options, *words);
    check(options);
  });
}

}  // namespace skua::cli
