// SPDX-License-Identifier: MIT
// In: a command line of curl, option by option. Out: a request of `skua get` and its siblings.
#include "get/curl/line.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <utility>

#include "base/ascii.hpp"
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
  if (!line.upload.empty()) return "PUT";
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
  if (!line.cookies.empty()) line.defaults.push_back({"Cookie", line.cookies});
  for (RequestItems::Field& field : line.defaults) {
    const bool is_given = std::ranges::any_of(
        fields, [&](const RequestItems::Field& one) { return is_named(one.name, field.name); });
    if (is_given) continue;
    fields.push_back(field.value ? checked(parse_field(field.name + ": " + *field.value))
                                 : std::move(field));
  }
}

void add_urls(Line& line, const std::string& query) {
  if (line.urls.empty()) throw CLI::RequiredError("URL");
  for (std::string url : line.urls) {
    // The parser takes an option such as -4 for a negative number.
    if (url.size() > 1 && url.starts_with('-')) refuse("unknown option " + url);
    if (!query.empty()) {
      const std::size_t fragment = std::min(url.find('#'), url.size());
      const bool has_query = url.find('?') < fragment;
      url.insert(fragment, (has_query ? "&" : "?") + query);
    }
    line.options.urls.push_back(checked(parse_url_argument(url)));
  }
}

}  // namespace

void refuse(const std::string& text) { throw CLI::ValidationError(text); }

void finish(Line& line) {
  GetOptions& options = line.options;
  options.method = method_of(line);
  options.any_method = true;
  if (!ascii::is_token_text(options.method)) {
    refuse("'" + options.method + "' is not a method");
  }
  if (options.method == "CONNECT") refuse("CONNECT is for proxies: use --proxy");
  if (line.asks_head && options.method != "HEAD") options.with_head = true;
  if (!line.follows) options.client.redirects.limit = 0;
  const std::string query = take_content(line);
  add_headers(line);
  add_urls(line, query);
  check(options);
  const bool has_range = std::ranges::any_of(
      options.items.fields, [](const auto& field) { return is_named(field.name, "Range"); });
  if (has_range && options.saves()) refuse("--range cannot be used with --output or --remote-name");
}

}  // namespace skua::cli::curl
