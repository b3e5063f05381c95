// SPDX-License-Identifier: MIT
// In: the words and options of a command line. Out: URLs and items, once their combinations make
// sense.
#include "get/words.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include "base/ascii.hpp"
#include "get/request_items.hpp"
#include "international_host.hpp"

namespace skua::cli {
namespace {

[[noreturn]] void refuse(const std::string& text) { throw CLI::ValidationError(text); }

template <class T>
T checked(Result<T, Problem> outcome) {
  if (!outcome) refuse(outcome.error().text);
  return *std::move(outcome);
}

void checked(const Result<void, Problem>& outcome) {
  if (!outcome) refuse(outcome.error().text);
}

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
      .append(parser.get_option_no_throw("METHOD") != nullptr ? " METHOD" : "")
      .append(" URL ")
      .append(url);
  if (options.download) text += " (-d means --download; use --data to send text)";
  refuse(text);
}

void check_content(GetOptions& options) {
  const RequestItems& items = options.items;
  const bool has_content = items.has_content() || options.data;
  const bool sends_nothing = options.method == "GET" || options.method == "HEAD";
  if (sends_nothing && has_content && !options.any_method) {
    refuse(std::string(options.method == "GET" ? "get" : "head") +
           " sends no content: use `skua post`, or name==value for a query parameter");
  }
  if (options.method == "TRACE" && has_content) refuse("TRACE sends no content");
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
  if (options.method == "HEAD" && options.saves()) refuse("head has no content to save");
  if (options.resume && options.method != "GET") refuse("--continue works only with get");
  const bool has_several = options.urls.size() > 1 || !options.input_file.empty();
  if (has_several && options.saves() && !options.output.empty()) {
    refuse("--output takes only one URL");
  }
  if (has_several && options.method != "GET" && options.method != "HEAD") {
    refuse("multiple URLs work only with get and head");
  }
}

}  // namespace

void take_words(const CLI::App& parser, GetOptions& options, const Words& words) {
  if (!words.method.empty()) {
    options.method = words.method;
    options.any_method = true;
  }
  if (words.url.empty() && options.input_file.empty()) throw CLI::RequiredError("URL");
  if (!words.url.empty()) {
    check_url(parser, options, words.url);
    options.urls.push_back(checked(parse_url_argument(words.url, options.keeps_dots)));
  }
  for (const std::string& word : words.more) {
    if (has_scheme(word) || (options.download && is_url(word))) {
      options.urls.push_back(checked(parse_url_argument(word, options.keeps_dots)));
    } else {
      checked(add_item(options.items, word));
    }
  }
  for (const std::string& line : words.fields) {
    options.items.fields.push_back(checked(parse_field(line)));
  }
}

void check(GetOptions& options) {
  check_content(options);
  check_saving(options);
  if (options.credentials && !options.token.empty())
    refuse("--auth and --bearer cannot be used together");
  if (options.digest && !options.credentials && !options.netrc.is_wanted) {
    refuse("--digest needs --auth or --netrc");
  }
  if (options.saves() || options.raw) options.client.decompress = false;
}

Result<std::vector<Url>, Problem> read_urls(const std::string& path, bool keeps_dots) {
  const Result<std::string, Problem> content = read_file(path);
  if (!content) return content.error();
  std::vector<Url> urls;
  std::string_view rest = *content;
  for (std::size_t number = 1; !rest.empty(); ++number) {
    std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    if (line.ends_with('\r')) line.remove_suffix(1);
    line = ascii::trim_ows(line);
    if (line.empty() || line.starts_with('#')) continue;
    Result<Url, Problem> url = parse_url_argument(line, keeps_dots);
    if (!url) {
      return Problem{.error = Errc::MalformedForm,
                     .text = path + ":" + std::to_string(number) + ": " + url.error().text};
    }
    urls.push_back(*std::move(url));
  }
  return urls;
}

Result<Url, Problem> parse_url_argument(std::string_view text, bool keeps_dots) {
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
  const Result<std::string, Problem> converted = with_ascii_host(whole);
  if (!converted) return refused(converted.error().text);
  Result<Url> url = Url::parse_lenient(*converted);
  if (!url) return refused("invalid syntax");
  if (url->scheme() != "http" && url->scheme() != "https") {
    return refused("it must begin with http:// or https://");
  }
  if (keeps_dots) return *std::move(url);
  Result<Url> tidy = url->resolve(*url);
  if (!tidy) return refused("invalid syntax");
  return *std::move(tidy);
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

}  // namespace skua::cli
