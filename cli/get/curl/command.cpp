// SPDX-License-Identifier: MIT
// The options of curl that `skua curl` knows. Each goes into the line in the order of the command
// line, which matters for content.
#include "get/curl/command.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <system_error>

#include "base/disk.hpp"
#include "base/http_date.hpp"
#include "common_options.hpp"
#include "get/command.hpp"
#include "get/curl/line.hpp"
#include "get/curl/other_options.hpp"
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
  if (!url.empty()) set_default(line, {"Referer", url});
}

void set_agent(Line& line, Text& text) {
  RequestItems::Field field{.name = "User-Agent"};
  if (!text.empty()) field.value = text;
  set_default(line, std::move(field));
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

void set_range(Line& line, Text& text) { set_default(line, {"Range", "bytes=" + text}); }

void resume(Line& line, Text& text) {
  if (text != "-") refuse("--continue-at: skua finds the place itself: use -C -");
  line.options.resume = true;
}

void limit_size(Line& line, Text& text) {
  std::string bytes = text;
  if (const std::string problem = size_value()(bytes); !problem.empty()) {
    refuse("--max-filesize: " + problem);
  }
  ClientLimits& limits = line.options.client.limits;
  limits.body_bytes = limits.decoded_bytes = std::stoull(bytes);
}

// A date of HTTP, or the time of a file; `-` in front asks for content that is older.
void set_time(Line& line, Text& text) {
  using std::chrono::floor, std::chrono::seconds;
  const bool is_older = text.starts_with('-');
  const std::string given = text.substr(is_older ? 1 : 0);
  const auto now = floor<seconds>(std::chrono::system_clock::now());
  auto time = parse_http_date(given, now);
  if (const auto about = disk::stat_of(given); !time && about) {
    time = floor<seconds>(std::chrono::sys_time<std::chrono::nanoseconds>(
        std::chrono::nanoseconds(about->modified_ns)));
  }
  // As with curl, -z FILE asks for everything if there is no such file yet.
  if (!time && given.find_first_of(" :/") == given.npos) return;
  if (!time)
    refuse("--time-cond: '" + given + "' is neither a file nor a date such as " +
           "'Sun, 06 Nov 1994 08:49:37 GMT'");
  std::array<char, http_date_bytes> date{};
  format_http_date(*time, date);
  set_default(line, {is_older ? "If-Unmodified-Since" : "If-Modified-Since",
                     std::string(date.data(), date.size())});
  line.options.is_conditional = true;
}

void fail_without_content(Line& line, Text&) {
  line.options.fail = line.options.hides_errors = true;
}

void fail_with_content(Line& line, Text&) { line.options.fail = line.fails_with_content = true; }

// skua has two of the protocols that curl knows: http and https.
void set_protocols(Line& line, Text& text) {
  const std::string list = text.substr(text.starts_with('=') ? 1 : 0);
  const bool is_exact = text.starts_with('=');
  if (is_exact && list == "https") {
    line.is_https_only = true;
  } else if (!is_exact || (list != "http,https" && list != "https,http")) {
    refuse("--proto: skua knows =https and =http,https");
  }
}

void set_scheme(Line& line, Text& text) {
  if (text != "http" && text != "https") refuse("--proto-default: skua knows http and https");
  line.scheme = text;
}

void limit_tls(Line& line, Text& text) {
  if (text == "1.2") {
    line.options.client.tls.maximum_version = TlsVersion::Tls12;
  } else if (text != "1.3" && text != "default") {
    refuse("--tls-max: skua speaks TLS 1.2 and 1.3");
  }
}

template <Kind Which>
void add_data(Line& line, Text& text) {
  line.data.push_back({Which, text});
}

constexpr Row rows[] = {
    {"Request", "-X,--request", "METHOD", "Send this method",
     [](Line& line, Text& text) { line.method = text; }},
    {"Request", "--url", "URL", "The URL", [](Line& line, Text& url) { line.urls.push_back(url); }},
    {"Request", "--url-query", "DATA",
     "Add to the query of the URL: encoded, or after a + as it is",
     [](Line& line, Text& text) { line.query.push_back(text); }},
    {"Request", "-g,--globoff", nullptr, "Take {a,b} and [1-9] in URLs as characters",
     [](Line& line, Text&) { line.globs = false; }},
    {"Request", "--path-as-is", nullptr, "Send /./ and /../ in the URL as they are",
     [](Line& line, Text&) { line.options.keeps_dots = true; }},
    {"Request", "--proto-default", "SCHEME", "Scheme of URLs without one", set_scheme},
    {"Request", "--proto", "=https", "Take URLs of https:// only", set_protocols},
    {"Request", "--disallow-username-in-url", nullptr, "Refuse URLs with a user name",
     [](Line& line, Text&) { line.refuses_users = true; }},
    {"Request", "-z,--time-cond", "TIME", "Ask for content newer than a date or a file", set_time},
    {"Request", "--etag-compare", "FILE", "Ask for content if its ETag is not that in the file",
     [](Line& line, Text& path) { line.etag_compare = path; }},
    {"Request", "--etag-save", "FILE", "Save the ETag of the response to this file",
     [](Line& line, Text& path) { line.options.etag_file = path; }},
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
     [](Line& line, Text& path) { line.uploads.push_back(path); }},
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
    {"Connection", "--socks5", "HOST:PORT", "Use this SOCKS proxy; names are resolved here",
     [](Line& line, Text& host) { set_proxy(line, "socks5://" + host); }},
    {"Connection", "--socks5-hostname", "HOST:PORT", "Use this SOCKS proxy, which resolves names",
     [](Line& line, Text& host) { set_proxy(line, "socks5h://" + host); }},
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
    {"TLS", "--tlsv1.3", nullptr, "Use TLS 1.3 only",
     [](Line& line, Text&) { line.options.client.tls.minimum_version = TlsVersion::Tls13; }},
    {"TLS", "--tls-max", "VERSION", "Use no TLS version above 1.2", limit_tls},
    {"Output", "-o,--output", "FILE",
     "Save to this file, replacing it; the second is for the second URL, #1 the first pattern",
     [](Line& line, Text& path) { line.outputs.push_back({path}); }},
    {"Output", "-O,--remote-name", nullptr,
     "Save a URL to a file named by the server or the URL; keep existing files",
     [](Line& line, Text&) { line.outputs.push_back({}); }},
    {"Output", "--remote-name-all", nullptr, "Save all URLs so",
     [](Line& line, Text&) { line.saves_all = true; }},
    {"Output", "--output-dir", "DIR", "Folder of the files of --output",
     [](Line& line, Text& path) { line.output_folder = path; }},
    {"Output", "--create-dirs", nullptr, "Make the folders of --output",
     [](Line& line, Text&) { line.options.makes_folders = true; }},
    {"Output", "--max-filesize", "SIZE", "Fail if the response is larger than SIZE", limit_size},
    {"Output", "-D,--dump-header", "FILE", "Write the heads of all responses to this file",
     [](Line& line, Text& path) { line.options.head_file = path; }},
    {"Output", "--parallel-max", "COUNT", "Maximum number of simultaneous downloads",
     [](Line& line, Text& text) {
       line.options.parallel = std::clamp(count_of("--parallel-max", text), 1U, 64U);
     }},
    {"Output", "-C,--continue-at", "-", "Resume partial downloads", resume},
    {"Output", "-i,--include", nullptr, "Also print the response head",
     [](Line& line, Text&) { line.options.with_head = true; }},
    {"Output", "-f,--fail", nullptr, "Exit with 4 or 5, and print nothing, if it is 4xx or 5xx",
     fail_without_content},
    {"Output", "--fail-with-body", nullptr, "Exit with 4 or 5 if the status is 4xx or 5xx",
     fail_with_content},
    {"Output", "--fail-early", nullptr, "Stop at the first URL that fails",
     [](Line& line, Text&) { line.splits = true; }},
    {"Output", "-v,--verbose", nullptr, "Print request and response heads to standard error",
     [](Line& line, Text&) { line.options.verbose = true; }},
    {"Output", "-w,--write-out", "FORMAT",
     "Print this text at the end, with words such as %{http_code}", set_write_out},
    {"Output", "-s,--silent", nullptr, "Print only content and errors",
     [](Line& line, Text&) { line.options.quiet = true; }},
};

using Texts = std::vector<std::string>;

/// The options of a parser, and what each does.
struct Takers {
  std::map<const CLI::Option*, const Row*> rows{};
  std::map<const CLI::Option*, const OtherOption*> others{};
  const CLI::Option* url = nullptr;
  const CLI::Option* next = nullptr;
  const CLI::Option* short_next = nullptr;
};

CLI::Option* add_flag(CLI::App& parser, const char* names, const char* description) {
  return parser.add_flag_callback(
                   names, [] {}, description)
      ->option_text(" ")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

CLI::Option* add_value(CLI::App& parser, const char* names, const char* label,
                       const char* description) {
  return parser.add_option_function<Texts>(
                   names, [](const Texts&) {}, description)
      ->allow_extra_args(false)
      ->option_text(label)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

void declare_others(CLI::App& parser, Takers& takers) {
  for (const OtherOption& other : other_options()) {
    CLI::Option* const option = other.has_value ? add_value(parser, other.names, "VALUE", "Ignored")
                                                : add_flag(parser, other.names, "Ignored");
    option->group("");  // not listed: nobody needs them
    takers.others.emplace(option, &other);
  }
  static constexpr OtherOption bar{.names = "-#"};  // hidden: shells take it for a comment
  CLI::Option* const option = add_flag(parser, bar.names, "")->group("");
  takers.others.emplace(option, &bar);
}

Takers declare_options(CLI::App& parser, Texts& urls) {
  Takers takers;
  takers.url = parser.add_option("URL", urls, "The URL; {a,b} and [1-9] stand for several")
                   ->option_text("...");
  const char* group = "";
  const auto end_group = [&] {
    if (std::string_view(group) == "TLS") require_tls(parser);
  };
  for (const Row& row : rows) {
    if (std::string_view(group) != row.group) end_group();
    group = row.group;
    parser.option_defaults()->group(group);
    CLI::Option* const option = row.label == nullptr
                                    ? add_flag(parser, row.names, row.description)
                                    : add_value(parser, row.names, row.label, row.description);
    takers.rows.emplace(option, &row);
  }
  takers.next = add_flag(parser, "--next", "Begin another request, with options of its own");
  takers.short_next = add_flag(parser, "-:", "")->group("");  // shells complete no colons
  declare_others(parser, takers);
  parser.get_help_ptr()->group("Output");
  return takers;
}

void take_other(const CLI::Option& option, const OtherOption& other, Line& line) {
  if (other.kind == OtherOption::Kind::Harmless) return;
  // An option that is not listed has no get_name().
  const std::string name = "--" + option.get_lnames().front();
  if (other.kind == OtherOption::Kind::Refused) refuse(name + ": " + other.why);
  line.notes.push_back(name);
}

// Goes through the options in the order of the command line.
std::vector<Line> take(const CLI::App& parser, const Takers& takers) {
  std::vector<Line> lines(1);
  std::map<const CLI::Option*, std::size_t> counts;
  for (const CLI::Option* const option : parser.parse_order()) {
    Line& line = lines.back();
    const std::string& value = option->results().at(counts[option]++);
    if (option == takers.url) {
      line.urls.push_back(value);
    } else if (option == takers.next || option == takers.short_next) {
      lines.emplace_back();
    } else if (const auto row = takers.rows.find(option); row != takers.rows.end()) {
      row->second->take(line, value);
    } else if (const auto other = takers.others.find(option); other != takers.others.end()) {
      take_other(*option, *other->second, line);
    }
  }
  return lines;
}

// --silent, --verbose and --fail-early are for all requests of the command line.
void share(std::vector<Line>& lines) {
  const auto any = [&lines](auto has) { return std::ranges::any_of(lines, has); };
  const bool is_quiet = any([](const Line& line) { return line.options.quiet; });
  const bool is_verbose = any([](const Line& line) { return line.options.verbose; });
  const bool is_split = any([](const Line& line) { return line.splits; });
  for (Line& line : lines) {
    line.options.quiet = is_quiet;
    line.options.verbose = is_verbose;
    line.splits = is_split;
  }
}

void finish_all(const CLI::App& parser, const Takers& takers, CurlRequests& requests) {
  std::vector<Line> lines = take(parser, takers);
  share(lines);
  requests.stops_early = lines.front().splits;
  for (Line& line : lines) {
    if (line.fails_with_content && line.options.hides_errors) {
      refuse("--fail and --fail-with-body cannot be used together");
    }
    line.options.fails_from = 400;
    line.options.saves_errors = true;
    for (GetOptions& one : finish(line)) requests.all.push_back(std::move(one));
    for (const std::string& note : line.notes) {
      if (line.options.quiet) break;
      std::fputs(complaint("ignoring " + note).c_str(), stderr);
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

void declare(CLI::App& parser, CurlRequests& requests) {
  const auto urls = std::make_shared<Texts>();
  const auto takers = std::make_shared<Takers>(declare_options(parser, *urls));
  parser.footer(footer);
  parser.callback([&parser, &requests, urls, takers] { finish_all(parser, *takers, requests); });
}

std::function<int()> configure(CLI::App& parser) {
  const auto requests = std::make_shared<CurlRequests>();
  curl::declare(parser, *requests);
  return [requests] {
    constexpr int signalled = 128;
    int failure = succeeded;
    for (GetOptions& options : requests->all) {
      const int code = send_requests(options);
      if (failure == succeeded) failure = code;
      if (code > signalled || (code != succeeded && requests->stops_early)) break;
    }
    return failure;
  };
}

Treatment treatment_of(std::string_view name) {
  CLI::App parser;
  Texts urls;
  const Takers takers = declare_options(parser, urls);
  const CLI::Option* const option = parser.get_option_no_throw(std::string(name));
  if (option == nullptr) return Treatment::Unknown;
  const auto other = takers.others.find(option);
  if (other == takers.others.end()) return Treatment::Done;
  switch (other->second->kind) {
    case OtherOption::Kind::Harmless: return Treatment::Harmless;
    case OtherOption::Kind::Noted: return Treatment::Noted;
    case OtherOption::Kind::Refused: break;
  }
  return Treatment::Refused;
}

std::string refusal_of(std::vector<std::string> words) {
  CLI::App parser;
  CurlRequests requests;
  curl::declare(parser, requests);
  std::ranges::reverse(words);  // the parser takes them from the last to the first
  try {
    parser.parse(std::move(words));
  } catch (const CLI::ParseError& error) {
    return error.what();
  }
  return {};
}

}  // namespace skua::cli::curl
