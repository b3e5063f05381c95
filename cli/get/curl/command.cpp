// SPDX-License-Identifier: MIT
// The options of curl that `skua curl` knows. Each goes into the line in the order of the command
// line, which matters for content.
#include "get/curl/command.hpp"

#include <CLI/CLI.hpp>

#include <charconv>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <system_error>

#include "common_options.hpp"
#include "get/command.hpp"
#include "get/curl/line.hpp"
#include "get/report.hpp"
#include "get/words.hpp"
#include "get/write_out.hpp"
#include "network_options.hpp"

namespace skua::cli::curl {
namespace {

using Text = const std::string;
using Kind = Data::Kind;

struct Row {
  const char* group;
  const char* names;
  const char* label;  ///< of the value; null for a flag
  const char* description;
  void (*take)(Line& line, Text& value);
};

double number_of(const char* option, Text& text, double most) {
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, code] = std::from_chars(text.data(), end, number);
  if (code != std::errc() || rest != end || !(number >= 0 && number <= most)) {
    refuse(std::string(option) + ": '" + text + "' is not a number from 0 to " +
           std::to_string(static_cast<unsigned>(most)));
  }
  return number;
}

// Zero is no limit, as with curl.
Duration seconds_of(const char* option, Text& text) {
  constexpr double longest = 1e6;
  const double seconds = number_of(option, text, longest);
  return seconds == 0 ? no_time_limit : from_seconds(seconds);
}

unsigned count_of(const char* option, Text& text) {
  return static_cast<unsigned>(number_of(option, text, 1000));
}

void add_cookies(Line& line, Text& text) {
  if (text.find('=') == text.npos) {  // a file; none only turns cookies on
    line.options.client.cookies = true;
    line.options.cookie_file = text;
  } else {
    line.cookies += (line.cookies.empty() ? "" : "; ") + text;
  }
}

void set_user(Line& line, Text& text) {
  if (text.find(':') == text.npos) {
    refuse("--user: '" + text + "' has no password; use USER:PASSWORD");
  }
  line.options.credentials = split_at_colon("--user", text);
}

void set_proxy(Line& line, Text& text) {
  ProxyOptions& proxy = line.options.client.proxy;
  proxy.from_environment = false;
  if (text.empty()) return;
  proxy.url = proxy_url(text);
}

void except_from_proxy(Line& line, Text& rules) {
  line.options.client.proxy.except = rules;
  if (rules == "*") line.options.client.proxy.from_environment = false;
}

void set_referer(Line& line, Text& text) {
  constexpr std::string_view mark = ";auto";
  const std::string url = text.ends_with(mark) ? text.substr(0, text.size() - mark.size()) : text;
  if (!url.empty()) line.defaults.push_back({"Referer", url});
}

void set_agent(Line& line, Text& text) {
  RequestItems::Field field{.name = "User-Agent"};
  if (!text.empty()) field.value = text;
  line.defaults.push_back(std::move(field));
}

void limit_connecting(Line& line, Text& text) {
  ClientTimeouts& timeouts = line.options.client.timeouts;
  timeouts.resolve = timeouts.connect = timeouts.handshake = seconds_of("--connect-timeout", text);
}

// `HOST:PORT:ADDRESS`, of several addresses the first; `+` in front is about curl's own cache.
void resolve(Line& line, Text& text) {
  const std::string one = text.substr(text.starts_with('+') ? 1 : 0);
  line.options.client.hosts.push_back(parse_override(one.substr(0, one.find(','))));
}

// `HOST:PORT:ADDRESS:PORT`, with both ports equal or absent.
void connect_to(Line& line, Text& text) {
  const std::size_t first = text.find(':');
  const std::size_t second = text.find(':', first + 1);
  const std::size_t last = text.rfind(':');
  const bool is_whole = first != text.npos && second != text.npos && last > second;
  const std::string port = is_whole ? text.substr(first + 1, second - first - 1) : "";
  if (!is_whole || text.substr(last + 1) != port) {
    refuse("--connect-to: skua takes HOST:PORT:ADDRESS:PORT with equal ports, not '" + text + "'");
  }
  line.options.client.hosts.push_back(parse_override(text.substr(0, first) + ":" +
                                                     (port.empty() ? "*" : port) +
                                                     text.substr(second, last - second)));
}

void set_write_out(Line& line, Text& format) {
  if (format.starts_with('@')) refuse("--write-out: skua takes the text itself, not a file");
  const std::string problem = write_out_problem(format);
  if (!problem.empty()) refuse("--write-out: " + problem);
  line.options.write_out = format;
}

void set_range(Line& line, Text& text) { line.defaults.push_back({"Range", "bytes=" + text}); }

void resume(Line& line, Text& text) {
  if (text != "-") refuse("--continue-at: skua finds the place itself: use -C -");
  line.options.resume = true;
}

template <Kind Which>
void add_data(Line& line, Text& text) {
  line.data.push_back({Which, text});
}

constexpr Row rows[] = {
    {"Request", "-X,--request", "METHOD", "Send this method",
     [](Line& line, Text& text) { line.method = text; }},
    {"Request", "--url", "URL", "The URL", [](Line& line, Text& url) { line.urls.push_back(url); }},
    {"Request", "-H,--header", "'NAME: VALUE'", "Add a request header, or remove one with 'NAME:'",
     [](Line& line, Text& text) { line.headers.push_back(text); }},
    {"Request", "-A,--user-agent", "NAME", "User-Agent", set_agent},
    {"Request", "-e,--referer", "URL", "Referer", set_referer},
    {"Request", "-b,--cookie", "COOKIES", "Send these cookies, or those of a file", add_cookies},
    {"Request", "-c,--cookie-jar", "FILE", "Save received cookies to this file",
     [](Line& line, Text& path) {
       line.options.client.cookies = true;
       line.options.cookie_output = path;
     }},
    {"Request", "-u,--user", "USER:PASSWORD", "Authenticate with HTTP Basic", set_user},
    {"Request", "-n,--netrc", nullptr, "Without --user, take user and password from ~/.netrc",
     [](Line& line, Text&) { line.options.netrc.is_wanted = true; }},
    {"Request", "--netrc-file", "FILE", "Take them from this file",
     [](Line& line, Text& path) { line.options.netrc = {.is_wanted = true, .path = path}; }},
    {"Request", "--digest,--anyauth", nullptr, "Send --user after a 401, using Digest if offered",
     [](Line& line, Text&) { line.options.digest = true; }},
    {"Request", "--oauth2-bearer", "TOKEN", "Authenticate with a bearer token",
     [](Line& line, Text& token) { line.options.token = token; }},
    {"Request", "-r,--range", "RANGE", "Ask for a part of the content", set_range},
    {"Request", "-I,--head", nullptr, "Send HEAD and print the head",
     [](Line& line, Text&) { line.asks_head = true; }},
    {"Request", "-G,--get", nullptr, "Add the data to the query of the URL",
     [](Line& line, Text&) { line.in_query = true; }},
    {"Content", "-d,--data,--data-ascii", "DATA", "Send form data, or @FILE without line ends",
     add_data<Kind::Text>},
    {"Content", "--data-raw", "DATA", "Send data, whatever it begins with", add_data<Kind::Raw>},
    {"Content", "--data-binary", "DATA", "Send data, or @FILE as it is", add_data<Kind::Binary>},
    {"Content", "--data-urlencode", "DATA", "Encode and send TEXT, NAME=TEXT or NAME@FILE",
     add_data<Kind::Encoded>},
    {"Content", "--json", "DATA", "Send JSON, or @FILE", add_data<Kind::Json>},
    {"Content", "-F,--form", "NAME=TEXT", "Send a part of a form: also NAME=@FILE, NAME=<FILE",
     [](Line& line, Text& text) { line.parts.push_back({text}); }},
    {"Content", "--form-string", "NAME=TEXT", "Send a text of a form, whatever it begins with",
     [](Line& line, Text& text) { line.parts.push_back({text, true}); }},
    {"Content", "-T,--upload-file", "FILE", "Send a file, with PUT",
     [](Line& line, Text& path) { line.upload = path; }},
    {"Connection", "-L,--location", nullptr, "Follow redirects",
     [](Line& line, Text&) { line.follows = true; }},
    {"Connection", "--max-redirs", "COUNT", "Maximum number of redirects to follow",
     [](Line& line, Text& text) {
       line.options.client.redirects.limit = text == "-1" ? 1000 : count_of("--max-redirs", text);
     }},
    {"Connection", "--compressed", nullptr, "Ask for compressed content, and decode it",
     [](Line& line, Text&) { line.options.client.decompress = true; }},
    {"Connection", "--http1.1", nullptr, "Use HTTP/1.1 only",
     [](Line& line, Text&) { line.options.client.versions = HttpVersions::Http1; }},
    {"Connection", "--http2", nullptr, "Use HTTP/2 if the server offers it (default)",
     [](Line& line, Text&) { line.options.client.versions = HttpVersions::Any; }},
    {"Connection", "--http2-prior-knowledge", nullptr, "Use HTTP/2 only",
     [](Line& line, Text&) { line.options.client.versions = HttpVersions::Http2; }},
    {"Connection", "-x,--proxy", "URL", "Use this proxy", set_proxy},
    {"Connection", "-4,--ipv4", nullptr, "Connect to IPv4 addresses only",
     [](Line& line, Text&) { line.options.client.ip_versions = IpVersions::Ipv4; }},
    {"Connection", "-6,--ipv6", nullptr, "Connect to IPv6 addresses only",
     [](Line& line, Text&) { line.options.client.ip_versions = IpVersions::Ipv6; }},
    {"Connection", "--interface", "NAME", "Connect from this interface or address",
     [](Line& line, Text& name) { line.options.client.network_interface = name; }},
    {"Connection", "--noproxy", "RULES", "Bypass the proxy for these hosts", except_from_proxy},
    {"Connection", "--unix-socket", "PATH", "Connect to this Unix socket",
     [](Line& line, Text& path) { line.options.client.unix_socket = path; }},
    {"Connection", "--resolve", "HOST:PORT:ADDRESS", "Resolve HOST:PORT to ADDRESS", resolve},
    {"Connection", "--connect-to", "HOST:PORT:ADDRESS:PORT", "Connect to ADDRESS instead",
     connect_to},
    {"Connection", "-m,--max-time", "SECONDS", "Time limit for the whole request",
     [](Line& line, Text& text) { line.options.client.timeout = seconds_of("--max-time", text); }},
    {"Connection", "--connect-timeout", "SECONDS", "Time limit for each step of connecting",
     limit_connecting},
    {"Connection", "--limit-rate", "RATE", "Limit the speed, in bytes per second",
     [](Line& line, Text& text) {
       std::string bytes = text;
       if (const std::string problem = size_value()(bytes); !problem.empty()) refuse(problem);
       line.options.bytes_per_second = std::stoull(bytes);
     }},
    {"Connection", "--retry", "COUNT", "Repeat a request that fails for a passing reason",
     [](Line& line, Text& text) { line.options.retry.count = count_of("--retry", text); }},
    {"Connection", "--retry-delay", "SECONDS", "Wait before the first repetition",
     [](Line& line, Text& text) {
       line.options.retry.delay = from_seconds(number_of("--retry-delay", text, 1e6));
     }},
    {"Connection", "--retry-max-time", "SECONDS", "Repeat nothing later than this",
     [](Line& line, Text& text) {
       line.options.retry.max_time = seconds_of("--retry-max-time", text);
     }},
    {"TLS", "-k,--insecure", nullptr, "Accept any server certificate (insecure)",
     [](Line& line, Text&) { line.options.client.tls.insecure = true; }},
    {"TLS", "--cacert", "FILE", "Trust the CA certificates in this PEM file",
     [](Line& line, Text& path) { line.options.client.tls.authorities = path; }},
    {"TLS", "-E,--cert", "FILE", "Client certificate (PEM)",
     [](Line& line, Text& path) { line.options.client.tls.certificate.certificate = path; }},
    {"TLS", "--key", "FILE", "Private key (PEM)",
     [](Line& line, Text& path) { line.options.client.tls.certificate.private_key = path; }},
    {"Output", "-o,--output", "FILE", "Save to this file, replacing it",
     [](Line& line, Text& path) { line.options.output = path; }},
    {"Output", "-O,--remote-name,--remote-name-all", nullptr,
     "Save each URL to a file named by the server or the URL; keep existing files",
     [](Line& line, Text&) { line.options.download = true; }},
    {"Output", "-C,--continue-at", "-", "Resume partial downloads", resume},
    {"Output", "-i,--include", nullptr, "Also print the response head",
     [](Line& line, Text&) { line.options.with_head = true; }},
    {"Output", "-f,--fail", nullptr, "Exit with 3, 4 or 5 if the status is 3xx, 4xx or 5xx",
     [](Line& line, Text&) { line.options.fail = true; }},
    {"Output", "-v,--verbose", nullptr, "Print request and response heads to standard error",
     [](Line& line, Text&) { line.options.verbose = true; }},
    {"Output", "-w,--write-out", "FORMAT",
     "Print this text at the end, with words such as %{http_code}", set_write_out},
    {"Output", "-s,--silent", nullptr, "Print only content and errors",
     [](Line& line, Text&) { line.options.quiet = true; }},
};

// Options without effect on the request.
constexpr const char* ignored[] = {
    "-S,--show-error",     "-g,--globoff",
    "-N,--no-buffer",      "--progress-bar",
    "--no-progress-meter", "-J,--remote-header-name",
    "-q,--disable",        "--basic",
    "--no-keepalive",      "--tcp-nodelay",
    "--styled-output",     "--fail-with-body",
};
// Those that nobody would miss, so that no note is due.
bool is_silent(const std::string& name) {
  return name != "--no-keepalive" && name != "--remote-header-name" && name != "--fail-with-body";
}

using Takers = std::map<const CLI::Option*, const Row*>;
using Texts = std::vector<std::string>;

Takers declare_options(CLI::App& parser, Texts& urls) {
  Takers takers;
  parser.add_option("URL", urls, "The URL; several with GET and HEAD")->option_text("...");
  const char* group = "";
  const auto end_group = [&] {
    if (std::string_view(group) == "TLS") require_tls(parser);
  };
  for (const Row& row : rows) {
    if (std::string_view(group) != row.group) end_group();
    group = row.group;
    parser.option_defaults()->group(group);
    CLI::Option* const option =
        row.label == nullptr
            ? parser.add_flag_callback(
                        row.names, [] {}, row.description)
                  ->option_text(" ")
            : parser.add_option_function<Texts>(
                        row.names, [](const Texts&) {}, row.description)
                  ->allow_extra_args(false)
                  ->option_text(row.label);
    option->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    takers.emplace(option, &row);
  }
  for (const char* const names : ignored) {
    takers.emplace(parser.add_flag_callback(
                             names, [] {}, "Ignored")
                       ->option_text(" ")
                       ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll),
                   nullptr);
  }
  // Hidden: shells take it for a comment.
  takers.emplace(parser.add_flag_callback(
                           "-#", [] {}, "")
                     ->group("")
                     ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll),
                 nullptr);
  parser.get_help_ptr()->group("Output");
  return takers;
}

// Goes through the options in the order of the command line.
void take(const CLI::App& parser, const Takers& takers, Line& line) {
  std::map<const CLI::Option*, std::size_t> counts;
  for (const CLI::Option* const option : parser.parse_order()) {
    const auto taker = takers.find(option);
    if (taker == takers.end()) continue;
    const std::string& value = option->results().at(counts[option]++);
    if (taker->second != nullptr) {
      taker->second->take(line, value);
    } else if (!is_silent(option->get_name())) {
      line.notes.push_back(option->get_name());
    }
  }
}

constexpr const char* footer =
    "Takes the options of curl that browsers write with \"Copy as cURL\", and many others, and\n"
    "sends that request as `skua get` would. The exit codes are those of `skua get`.\n\n"
    "Exit codes: 0 (success), 1 (other errors), 2 (usage), 3, 4, 5 (3xx, 4xx, 5xx), 6 (name),\n"
    "7 (connection), 8 (TLS), 9 (timeout), 10 (protocol, limit), 11 (file), 130 (Ctrl-C).\n\n"
    "Examples:\n"
    "  skua curl https://example.com -H 'Accept: text/html' --compressed\n"
    "  skua curl -sSL localhost:8080/users --json '{\"name\": \"Ada\"}'";

}  // namespace

void declare(CLI::App& parser, GetOptions& options) {
  options.client.decompress = false;
  const auto urls = std::make_shared<Texts>();
  const auto takers = std::make_shared<Takers>(declare_options(parser, *urls));
  parser.footer(footer);
  parser.callback([&parser, &options, urls, takers] {
    Line line(options);
    line.urls = *urls;
    take(parser, *takers, line);
    finish(line);
    for (const std::string& note : line.notes) {
      if (options.quiet) break;
      std::fputs(complaint("ignoring " + note).c_str(), stderr);
    }
  });
}

std::function<int()> configure(CLI::App& parser) {
  const auto options = std::make_shared<GetOptions>();
  curl::declare(parser, *options);
  return [options] { return send_requests(*options); };
}

}  // namespace skua::cli::curl
