// SPDX-License-Identifier: MIT
// In: words of the command line. Out: the rules of a site, or a usage error that quotes the word.
#include "serve/site/site_options.hpp"

#include <CLI/CLI.hpp>

#include <cstddef>
#include <cstdlib>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>

#include "base/ascii.hpp"
#include "serve/site/site.hpp"

namespace skua::cli {
namespace {

using Add = std::function<void(const std::string&)>;

// Calls a function that throws std::invalid_argument for a malformed value.
Add checked(Add add) {
  return [add = std::move(add)](const std::string& value) {
    try {
      add(value);
    } catch (const std::invalid_argument& error) {
      throw CLI::ValidationError(error.what());
    }
  };
}

// A password on the command line would be in the list of processes.
std::optional<Login> read_login(const char* variable) {
  const char* const text = std::getenv(variable);
  if (text == nullptr) return std::nullopt;
  try {
    return parse_login(text);
  } catch (const std::invalid_argument& error) {
    throw CLI::ValidationError(variable, error.what());
  }
}

}  // namespace

Login parse_login(const std::string& text) {
  const std::size_t colon = text.find(':');
  if (colon == text.npos || colon == 0 || colon + 1 == text.size()) {
    throw std::invalid_argument("the value is not USER:PASSWORD");
  }
  for (const char c : text) {
    if (!ascii::is_field_value(c)) {
      throw std::invalid_argument("the value contains a control character");
    }
  }
  return {text.substr(0, colon), text.substr(colon + 1)};
}

void add_optional_value(CLI::App& parser, const std::string& name, const std::string& fallback,
                        std::string text, std::function<void(const std::string&)> set) {
  parser.add_flag(name, std::as_const(text))
      ->each(checked([fallback, set = std::move(set)](const std::string& value) {
        set(value == "true" ? fallback : value);  // "true" is CLI11's value of a lone flag
      }))
      ->option_text(" ");
}

void add_rules(CLI::App& parser, const std::string& name, const char* value, std::string text,
               std::function<void(const std::string&)> add) {
  parser.add_option(name, std::as_const(text))
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->each(checked(std::move(add)))
      ->option_text(value);
}

void read_logins(SiteOptions& options) {
  options.login = read_login("SKUA_AUTH");
  options.upload_login = read_login("SKUA_UPLOAD_AUTH");
}

void declare_site(CLI::App& parser, SiteOptions& options) {
  add_optional_value(parser, "--spa", "index.html",
                     "Serve index.html, or --spa=FILE, for unknown paths without a file extension",
                     [&options](const std::string& file) { options.spa = page_path(file); });
  add_rules(parser, "--proxy", "PREFIX=URL ...",
            "Pass requests for a path and below on to another server, such as "
            "/api=http://127.0.0.1:3000",
            [&options](const std::string& text) { add_proxy_rule(options.proxies, text); });
  add_rules(parser, "--rewrite", "FROM=TO ...",
            "Serve another file for a path, such as '/app/*=/index.html'",
            [&options](const std::string& text) {
              options.rewrites.push_back(parse_rewrite_rule(text));
            });
  add_rules(parser, "--redirect", "'FROM=TO [STATUS]' ...",
            "Redirect a path, such as '/old/*=/new/*', with 302 or another status",
            [&options](const std::string& text) { add_redirect_rule(options.redirects, text); });
  add_rules(parser, "--error-page", "STATUS=FILE ...",
            "Send this file of DIR for responses with a status, such as 404=404.html",
            [&options](const std::string& text) {
              options.error_pages.push_back(parse_error_page(text));
            });
  add_rules(
      parser, "--header", "'NAME: VALUE [GLOB]' ...",
      "Add a response header; a glob in brackets limits it to paths, such as [/api/**]",
      [&options](const std::string& text) { options.headers.push_back(parse_header_rule(text)); });
  add_rules(
      parser, "--cache", "GLOB=RULE ...",
      "Cache-Control of files such as *.html or /assets/**: immutable, no-cache, no-store, or "
      "seconds",
      [&options](const std::string& text) { options.caches.push_back(parse_cache_rule(text)); });
  add_optional_value(parser, "--cors", "*",
                     "Let pages of all origins, or of --cors=ORIGIN, read responses",
                     [&options](const std::string& origin) {
                       (void)site_cors(origin);  // throws if it is malformed
                       options.cors = origin;
                     });
}

}  // namespace skua::cli
