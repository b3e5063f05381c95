// SPDX-License-Identifier: MIT
// In: rules of `skua serve`, passwords or Markdown, by lines. Checked: a glob matches what a slow
// and simple search matches; redirects end, and lead to the host that they name; errors about
// passwords show none; HTML has only tags and links that are harmless.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "base/ascii.hpp"
#include "files/safe_path.hpp"
#include "http/uri/target_path.hpp"
#include "serve/auth/password_file.hpp"
#include "serve/readme/readme.hpp"
#include "serve/readme/safe_html.hpp"
#include "serve/site/field_rules.hpp"
#include "serve/site/path_glob.hpp"
#include "serve/site/path_rules.hpp"
#include "serve/site/rate.hpp"
#include "skua/url.hpp"
#include "ws/utf8.hpp"

namespace {

namespace cli = skua::cli;

using Lines = std::vector<std::string>;

void check(bool holds) {
  if (!holds) std::abort();
}

// Returns nullopt if the value of an option is refused.
template <class Parse>
auto accepted(const Parse& parse) -> std::optional<decltype(parse())> {
  try {
    return parse();
  } catch (const std::invalid_argument&) {
    return std::nullopt;
  }
}

std::optional<std::string> canonical(std::string_view raw) {
  std::string scratch(raw.size(), '\0');
  const auto path = skua::http::canonical_path(raw, scratch);
  if (!path || !path->starts_with('/')) return std::nullopt;
  return std::string(*path);
}

// Fills a table: whether the rest of the glob matches the rest of the text.
bool matches_slowly(std::string_view glob, std::string_view text) {
  std::vector<std::vector<bool>> table(glob.size() + 1, std::vector<bool>(text.size() + 1));
  table[glob.size()][text.size()] = true;
  for (std::size_t g = glob.size(); g-- > 0;) {
    for (std::size_t t = text.size() + 1; t-- > 0;) {
      const bool is_more = t < text.size();
      if (glob[g] != '*') {
        table[g][t] = is_more && glob[g] == text[t] && table[g + 1][t + 1];
      } else if (glob.substr(g).starts_with("**")) {
        table[g][t] = table[g + 2][t] || (is_more && table[g][t + 1]);
      } else {
        table[g][t] = table[g + 1][t] || (is_more && text[t] != '/' && table[g][t + 1]);
      }
    }
  }
  return table[0][0];
}

void read_globs(const Lines& lines, const Lines& paths) {
  for (const std::string& line : lines) {
    const auto glob = accepted([&] { return cli::PathGlob(line); });
    if (!glob) continue;
    for (const std::string& path : paths) {
      const bool is_name = line.front() != '/';
      const std::string text = is_name ? path.substr(path.rfind('/') + 1) : path;
      check(glob->matches(path) == matches_slowly(line, text));
    }
  }
}

void read_stars(const Lines& lines, const Lines& paths) {
  std::vector<cli::StarPath> stars;
  for (const std::string& line : lines) {
    if (auto star = accepted([&] { return cli::StarPath(line); })) stars.push_back(*star);
  }
  for (const cli::StarPath& star : stars) {
    check(star.overlaps(star) && star.match(star.fill("x")) == (star.has_star() ? "x" : ""));
    for (const std::string& path : paths) {
      const auto match = star.match(path);
      if (match) check(star.fill(*match) == path);
      for (const cli::StarPath& other : stars) {
        if (match && other.match(path)) check(star.overlaps(other));
      }
    }
  }
}

// As a browser reads a URL that a path of this site refers to: slashes in any number, and either
// kind, come before a host.
std::string host_of(std::string_view url) {
  std::string text(url);
  std::erase_if(text, [](char c) { return c == '\t' || c == '\n' || c == '\r'; });
  std::ranges::replace(text, '\\', '/');
  const std::size_t colon = text.find(':');
  const bool has_scheme = colon < text.find_first_of("/?#");
  if (has_scheme) text.erase(0, colon + 1);
  if (!has_scheme && !text.starts_with("//")) return {};
  text.erase(0, text.find_first_not_of('/'));
  return text.substr(0, text.find_first_of("/?#"));
}

void follow(const std::vector<cli::RedirectRule>& rules, std::string path) {
  const std::size_t longest = 50 + 4 * path.size() + 4 * rules.size();
  for (std::size_t step = 0;; ++step) {
    check(step < longest);
    std::optional<std::string> location;
    for (const cli::RedirectRule& rule : rules) {
      location = rule.location(path, "");
      if (!location) continue;
      check(host_of(*location) == host_of(rule.to.text()));
      check(location->find_first_of("\r\n \\\"<>") == location->npos);
      break;
    }
    if (!location || !location->starts_with('/')) return;
    const auto next = canonical(location->substr(0, location->find_first_of("?#")));
    if (!next) return;
    path = *next;
  }
}

void read_rules(const Lines& lines, const Lines& paths) {
  std::vector<cli::RedirectRule> rules;
  for (const std::string& line : lines) {
    if (rules.size() >= 8) break;
    const auto rewrite = accepted([&] { return cli::parse_rewrite_rule(line); });
    if (rewrite) check(rewrite->from.has_star() || !rewrite->to.has_star());
    std::vector<cli::RedirectRule> more = rules;
    const auto added = accepted([&] {
      cli::add_redirect_rule(more, line);
      return true;
    });
    if (added) rules = more;
  }
  for (const std::string& path : paths) follow(rules, path);
}

void read_values(const Lines& lines) {
  for (const std::string& line : lines) {
    if (const auto rate = accepted([&] { return cli::parse_rate(line); })) {
      check(rate->requests >= 1 && rate->requests <= 1'000'000 && rate->burst <= 1'000'000);
    }
    if (const auto rule = accepted([&] { return cli::parse_header_rule(line); })) {
      check(!rule->name.empty() && rule->value.find_first_of("\r\n") == line.npos);
    }
    if (const auto rule = accepted([&] { return cli::parse_cache_rule(line); })) {
      check(rule->value.find_first_not_of("abcdefghijklmnopqrstuvwxyz-, =0123456789") == line.npos);
    }
    if (const auto page = accepted([&] { return cli::parse_error_page(line); })) {
      check(skua::code(page->status) >= 400 && skua::code(page->status) <= 599);
      check(skua::files::is_safe_path(page->path, {.dotfiles = true}));
    }
    const auto folder = accepted([&] { return cli::folder_path(line); });
    check(!folder || (folder->starts_with('/') && folder->ends_with('/')));
  }
}

void read_passwords(const std::string& text, const Lines& lines) {
  const auto file = cli::PasswordFile::parse(text);
  if (file) return check(!file->is_verified("ada", "secret"));
  for (const std::string& line : lines) {
    const std::size_t colon = line.find(':');
    if (colon == line.npos) continue;
    // A word that is longer than those of any error, and in no name.
    const std::string hash = line.substr(colon + 1);
    if (hash.size() < 20 || hash.find(' ') != hash.npos) continue;
    const bool is_name = text.find(hash) != text.rfind(hash);
    check(is_name || file.error().text.find(hash) == std::string::npos);
  }
}

// Reads a tag behind its `<`, and removes it.
void take_tag(std::string_view& html) {
  constexpr std::string_view tags[] = {
      "a",      "blockquote", "br",    "code", "del", "em",    "h1", "h2", "h3",
      "h4",     "h5",         "h6",    "hr",   "img", "li",    "ol", "p",  "pre",
      "strong", "table",      "tbody", "td",   "th",  "thead", "tr", "ul"};
  const bool ends = html.starts_with('/');
  if (ends) html.remove_prefix(1);
  const std::string_view name = html.substr(0, html.find_first_of(" >"));
  check(std::ranges::find(tags, name) != std::end(tags));
  html.remove_prefix(name.size());
  while (!html.starts_with('>')) {
    check(!ends && html.starts_with(' '));
    const std::size_t equals = html.find("=\"");
    check(equals != html.npos);
    const std::string_view key = html.substr(1, equals - 1);
    const std::string_view value = html.substr(equals + 2, html.find('"', equals + 2) - equals - 2);
    check(key == "href" || key == "src" || key == "title" || key == "alt" || key == "id" ||
          key == "rel" || key == "loading" || key == "start");
    check(value.find_first_of("<>") == value.npos);
    if (key == "href" || key == "src") {
      const std::size_t mark = value.find_first_of(":/?#");
      const bool has_scheme = mark != value.npos && value[mark] == ':';
      std::string scheme(value.substr(0, has_scheme ? mark : 0));
      std::ranges::transform(scheme, scheme.begin(),
                             [](char c) { return skua::ascii::to_lower(c); });
      check(!has_scheme || scheme == "http" || scheme == "https" || scheme == "mailto");
      check(key == "href" || (!has_scheme && !value.starts_with("//")));
    }
    html.remove_prefix(equals + 2 + value.size() + 1);
  }
  html.remove_prefix(1);
}

void read_markdown(std::string_view text) {
  const std::string page = cli::readme_html("README.md", text);
  check(skua::ws::is_utf8(page));
  for (std::string_view html = page; !html.empty();) {
    const std::size_t begin = html.find_first_of("<>");
    if (begin == html.npos) break;
    check(html[begin] == '<');
    html.remove_prefix(begin + 1);
    take_tag(html);
  }
  const std::string plain = cli::readme_html("README.txt", text);
  check(plain.starts_with("<pre>") && plain.find_first_of("<>", 5) == plain.size() - 7);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 2048) return 0;
  const std::string text(reinterpret_cast<const char*>(data), size);
  Lines lines;
  Lines paths;
  for (std::string_view rest = text; !rest.empty() && lines.size() < 20;) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    lines.emplace_back(line);
    // The server passes on canonical paths.
    if (auto path = canonical(line)) paths.push_back(*std::move(path));
  }
  read_globs(lines, paths);
  read_stars(lines, paths);
  read_rules(lines, paths);
  read_values(lines);
  read_passwords(text, lines);
  read_markdown(text);
  return 0;
}
