// SPDX-License-Identifier: MIT
// In: a command line of curl, option by option. Out: a request of `skua get` and its siblings.
#include "get/curl/line.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <utility>

#include "base/ascii.hpp"
#include "get/curl/glob.hpp"
#include "get/words.hpp"

namespace skua::cli::curl {
namespace {

template <class T>
T checked(Result<T, Problem> outcome) {
  if (!outcome) refuse(outcome.error().text);
  return *std::move(outcome);
}

bool is_named(std::string_view name, std::string_view other) {
  return ascii::equals_ignoring_case(name, other);
}

std::string method_of(const Line& line) {
  if (!line.method.empty()) return line.method;
  if (line.asks_head) return "HEAD";
  if (!line.uploads.empty()) return "PUT";
  const bool has_content = !line.parts.empty() || (!line.data.empty() && !line.in_query);
  return has_content ? "POST" : "GET";
}

// Adds a line of --header: `Name: value`, `Name:` for none, or `Name;` for an empty one.
void add_header(Line& line, const std::string& text) {
  std::vector<RequestItems::Field>& fields = line.options.items.fields;
  if (text.find(':') == text.npos && text.size() > 1 && text.ends_with(';')) {
    RequestItems::Field field = checked(parse_field(text.substr(0, text.size() - 1) + ":"));
    field.value = "";
    fields.push_back(std::move(field));
    return;
  }
  RequestItems::Field field = checked(parse_field(text));
  if (is_named(field.name, "Content-Length") || is_named(field.name, "Transfer-Encoding")) {
    if (field.value) line.notes.push_back("the header " + field.name + ": the content decides it");
    return;
  }
  // A browser may ask for codings that skua does not know.
  if (is_named(field.name, "Accept-Encoding") && line.options.client.decompress) return;
  fields.push_back(std::move(field));
}

void add_headers(Line& line) {
  for (const std::string& header : line.headers) {
    if (!header.starts_with('@')) {
      add_header(line, header);
      continue;
    }
    const std::string text = checked(read_file(header.substr(1)));
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = std::min(text.find('\n', begin), text.size());
      std::string one = text.substr(begin, end - begin);
      if (one.ends_with('\r')) one.pop_back();
      if (!one.empty()) add_header(line, one);
      begin = end + 1;
    }
  }
  std::vector<RequestItems::Field>& fields = line.options.items.fields;
  if (!line.cookies.empty()) set_default(line, {"Cookie", line.cookies});
  for (RequestItems::Field& field : line.defaults) {
    const bool is_given = std::ranges::any_of(
        fields, [&](const RequestItems::Field& one) { return is_named(one.name, field.name); });
    if (is_given) continue;
    fields.push_back(field.value ? checked(parse_field(field.name + ": " + *field.value))
                                 : std::move(field));
  }
}

// Adds a query to a URL, in front of the fragment.
std::string with_query(std::string url, const std::string& query) {
  if (query.empty()) return url;
  const std::size_t fragment = std::min(url.find('#'), url.size());
  const bool has_query = url.find('?') < fragment;
  return url.insert(fragment, (has_query ? "&" : "?") + query);
}

/// A URL of the line, and where its content goes.
struct Wanted {
  Url url{};
  std::string output{};   ///< a file; empty: none given
  bool is_saved = false;  ///< to a file named by the server or the URL
};

Url url_of(const Line& line, const std::string& text) {
  const bool has_scheme = text.find("://") != text.npos || text.starts_with(':');
  const std::string whole = has_scheme || line.scheme.empty() ? text : line.scheme + "://" + text;
  Url url = checked(parse_url_argument(whole, line.options.keeps_dots));
  if (line.is_https_only && url.scheme() != "https") {
    refuse("--proto: " + text + " does not begin with https://");
  }
  const bool has_user = !url.user().empty() || !url.password().empty();
  if (line.refuses_users && has_user) refuse("--disallow-username-in-url: the URL has a user name");
  return url;
}

std::vector<Wanted> wanted_urls(Line& line, const std::string& query) {
  if (line.urls.empty()) throw CLI::RequiredError("URL");
  for (std::size_t i = line.urls.size(); i < line.outputs.size(); ++i) {
    const std::optional<std::string>& path = line.outputs[i].path;
    line.notes.push_back(path ? "--output " + *path + ": there is no URL for it"
                              : "a --remote-name: there is no URL for it");
  }
  std::vector<Wanted> wanted;
  for (std::size_t i = 0; i < line.urls.size(); ++i) {
    const std::string& text = line.urls[i];
    // The parser takes an option such as -4 for a negative number.
    if (text.size() > 1 && text.starts_with('-')) refuse("unknown option " + text);
    const Output all{};
    const Output* const output = i < line.outputs.size() ? &line.outputs[i]
                                 : line.saves_all        ? &all
                                                         : nullptr;
    std::vector<GlobbedUrl> expanded{{.url = text}};
    if (line.globs) expanded = expand_glob(text);
    for (const GlobbedUrl& one : expanded) {
      Wanted& made = wanted.emplace_back();
      made.url = url_of(line, with_query(one.url, query));
      made.is_saved = output != nullptr && !output->path;
      if (output != nullptr && output->path) made.output = fill_name(*output->path, one.values);
    }
  }
  return wanted;
}

// Returns the options of a request for some URLs whose content goes to the same place.
GetOptions request_of(const Line& line, const Wanted& first) {
  GetOptions options = line.options;
  options.download = first.is_saved;
  options.output = first.output;
  if (options.method == "HEAD" && !first.output.empty()) {  // the head is all that there is
    options.head_file = first.output;
    options.output.clear();
    options.hides_head = true;
  } else if (!line.output_folder.empty() && options.output != "-" && !options.output.empty()) {
    options.output = line.output_folder + "/" + options.output;
  }
  if (!line.output_folder.empty() && first.is_saved) {
    refuse("--output-dir: skua saves --remote-name here; use --output, or cd");
  }
  return options;
}

std::vector<GetOptions> requests_of(const Line& line, const std::vector<Wanted>& wanted) {
  const bool takes_several = line.options.method == "GET" || line.options.method == "HEAD";
  std::vector<GetOptions> requests;
  bool is_open = false;  // the last one takes more URLs
  bool is_saved = false;
  for (const Wanted& one : wanted) {
    const bool is_alike = is_open && one.output.empty() && one.is_saved == is_saved;
    if (!is_alike) {
      requests.push_back(request_of(line, one));
      requests.back().is_first = requests.size() == 1;
    }
    requests.back().urls.push_back(one.url);
    is_open = takes_several && !line.splits && one.output.empty();
    is_saved = one.is_saved;
  }
  return requests;
}

// Sends the tag of a file, or one that no content has.
void compare_etag(Line& line) {
  if (line.etag_compare.empty()) return;
  std::string tag;
  if (auto text = read_file(line.etag_compare)) tag = text->substr(0, text->find_first_of("\r\n"));
  if (tag.empty()) tag = "\"\"";
  set_default(line, {"If-None-Match", tag});
  line.options.is_conditional = true;
}

std::string whole_query(const Line& line, std::string query) {
  for (const std::string& one : line.query) {
    if (!query.empty()) query += '&';
    query += one.starts_with('+') ? one.substr(1) : encoded_data(one);
  }
  return query;
}

}  // namespace

void refuse(const std::string& text) { throw CLI::ValidationError(text); }

void set_default(Line& line, RequestItems::Field field) {
  std::erase_if(line.defaults, [&](const auto& one) { return is_named(one.name, field.name); });
  line.defaults.push_back(std::move(field));
}

std::vector<GetOptions> finish(Line& line) {
  GetOptions& options = line.options;
  options.method = method_of(line);
  options.any_method = true;
  if (!ascii::is_token_text(options.method)) {
    refuse("'" + options.method + "' is not a method");
  }
  if (options.method == "CONNECT") refuse("CONNECT is for proxies: use --proxy");
  if (line.asks_head && options.method != "HEAD") options.with_head = true;
  options.refuses_redirects = line.follows && options.client.redirects.limit == 0;
  if (!line.follows) options.client.redirects.limit = 0;
  compare_etag(line);
  const std::string query = whole_query(line, take_content(line));
  add_headers(line);
  std::vector<GetOptions> requests = requests_of(line, wanted_urls(line, query));
  const bool has_range = std::ranges::any_of(
      options.items.fields, [](const auto& field) { return is_named(field.name, "Range"); });
  for (GetOptions& request : requests) {
    check(request);
    if (has_range && request.saves()) {
      refuse("--range cannot be used with --output or --remote-name");
    }
  }
  const bool reads_input = options.data && *options.data == "-" && !options.is_data_literal;
  if (reads_input && requests.size() > 1) refuse("standard input is for one URL only");
  return requests;
}

}  // namespace skua::cli::curl
