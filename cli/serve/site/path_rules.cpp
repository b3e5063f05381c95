// SPDX-License-Identifier: MIT
// In: the values of --rewrite, --redirect and --error-page. Out: rules that lead into the folder,
// or to the host that they name, and never in circles.
#include "serve/site/path_rules.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <stdexcept>
#include <utility>

#include "files/safe_path.hpp"
#include "http/uri/target_path.hpp"
#include "skua/url.hpp"

namespace skua::cli {
namespace {

[[noreturn]] void malformed(const std::string& text, const char* why) {
  throw std::invalid_argument("'" + text + "' " + why);
}

bool is_safe(std::string_view path) noexcept {
  return files::is_safe_path(path, {.dotfiles = true});
}

struct Sides {
  StarPath from;
  std::string to;
};

// A URL often has an equals sign, a path hardly ever.
Sides split(const std::string& text) {
  const std::size_t sign = text.find('=');
  if (sign == text.npos) malformed(text, "is not FROM=TO");
  Sides sides{StarPath(text.substr(0, sign)), text.substr(sign + 1)};
  if (!is_safe(sides.from.fill("x"))) malformed(sides.from.text(), "is not a path such as /old/*");
  return sides;
}

void check_star(const StarPath& from, const StarPath& to) {
  if (to.has_star() && !from.has_star()) malformed(to.text(), "has a *, but FROM has none");
}

unsigned parse_status(const std::string& text) {
  unsigned number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, code] = std::from_chars(text.data(), end, number);
  return code == std::errc() && rest == end ? number : 0;
}

bool is_local(const RedirectRule& rule) noexcept { return rule.to.text().starts_with('/'); }

// Requires a target that no browser reads as another host, which it does for `http:/a` and
// `http:///a`, too: the host would be what the star stands for.
void check_target(const StarPath& to) {
  constexpr const char* expected = "is neither a path nor an http or https URL";
  const Result<Url> url = Url::parse(to.text());
  if (!url) malformed(to.text(), expected);
  const bool is_path = !url->has_scheme() && !url->has_authority() && url->path().starts_with('/');
  const bool is_web =
      (url->scheme() == "http" || url->scheme() == "https") && !url->hostname().empty();
  if (!is_path && !is_web) malformed(to.text(), expected);
  const bool has_star_in_path = url->path().find('*') != std::string_view::npos;
  if (to.has_star() && !has_star_in_path) malformed(to.text(), "has its * outside the path");
}

std::string_view path_of(std::string_view url) noexcept {
  return url.substr(0, url.find_first_of("?#"));
}

// Returns the path that the server will see, decoded.
std::string requested_path(std::string_view url) {
  std::string scratch(url.size(), '\0');
  const Result<std::string_view> canonical = http::canonical_path(path_of(url), scratch);
  if (!canonical) malformed(std::string(url), "is not a path that can be requested");
  return std::string(*canonical);
}

// Counts the segments that clients resolve: `.` and `..`, also encoded.
std::size_t count_dot_segments(std::string_view path) {
  std::size_t count = 0;
  while (!path.empty()) {
    const std::string_view encoded = path.substr(0, path.find('/'));
    const std::string segment = percent_decode(encoded).value_or(std::string());
    if (segment == "." || segment == "..") ++count;
    path.remove_prefix(std::min(path.size(), encoded.size() + 1));
  }
  return count;
}

// Reports whether each use of a rule shortens the path, even if the slash of a folder is added, so
// that it ends by itself.
bool shortens(const RedirectRule& rule, const StarPath& target) noexcept {
  return target.has_star() && target.text().size() + 1 < rule.from.text().size();
}

// Reports whether a client that follows `rule` may come to `next`, at once or after the redirect
// that adds the slash of a folder.
bool leads_to(const RedirectRule& rule, const RedirectRule& next) {
  if (!is_local(rule)) return false;
  const StarPath target(requested_path(rule.to.text()));
  if (&rule == &next && shortens(rule, target)) return false;
  // Two slashes, of which the star leaves nothing in between, are one for the server.
  for (const std::string& text : {target.text(), requested_path(rule.to.fill(""))}) {
    if (StarPath(text).overlaps(next.from) || StarPath(text + "/").overlaps(next.from)) return true;
  }
  return false;
}

// Follows the rules from the last one.
bool is_last_in_circle(const std::vector<RedirectRule>& rules) {
  std::vector<bool> is_reached(rules.size());
  std::vector<std::size_t> pending{rules.size() - 1};
  while (!pending.empty()) {
    const RedirectRule& rule = rules[pending.back()];
    pending.pop_back();
    for (std::size_t next = 0; next < rules.size(); ++next) {
      if (is_reached[next] || !leads_to(rule, rules[next])) continue;
      is_reached[next] = true;
      pending.push_back(next);
    }
  }
  return is_reached.back();
}

}  // namespace

RewriteRule parse_rewrite_rule(const std::string& text) {
  Sides sides = split(text);
  RewriteRule rule{std::move(sides.from), StarPath(std::move(sides.to))};
  check_star(rule.from, rule.to);
  if (!is_safe(rule.to.fill("x"))) malformed(rule.to.text(), "is not a path such as /new/*");
  return rule;
}

std::optional<std::string> RedirectRule::location(std::string_view path,
                                                  std::string_view query) const {
  const auto star = from.match(path);
  if (!star) return std::nullopt;
  std::string url = to.fill(percent_encode(*star, PercentSet::Path));
  // `/a*` would otherwise take `/a..` to `/b/..`, which is not below `/b/*`.
  if (count_dot_segments(path_of(url)) > count_dot_segments(path_of(to.text()))) {
    return std::nullopt;
  }
  // Two slashes at the start would name a host, which the client had chosen.
  while (url.starts_with("//")) url.erase(0, 1);
  const bool is_complete = to.text().find_first_of("?#") != to.text().npos;
  if (!query.empty() && !is_complete) url.append("?").append(query);
  return url;
}

void add_redirect_rule(std::vector<RedirectRule>& rules, const std::string& text) {
  Sides sides = split(text);
  Status status = Status::Found;
  if (const std::size_t space = sides.to.rfind(' '); space != sides.to.npos) {
    const std::string number = sides.to.substr(space + 1);
    status = Status(parse_status(number));
    if (status != Status::MovedPermanently && status != Status::Found &&
        status != Status::SeeOther && status != Status::TemporaryRedirect &&
        status != Status::PermanentRedirect) {
      malformed(number, "is not 301, 302, 303, 307 or 308");
    }
    sides.to.resize(space);
  }
  RedirectRule rule{std::move(sides.from), StarPath(std::move(sides.to)), status};
  check_star(rule.from, rule.to);
  check_target(rule.to);
  rules.push_back(std::move(rule));
  if (is_last_in_circle(rules)) malformed(text, "could send clients in circles");
}

ErrorPage parse_error_page(const std::string& text) {
  const std::size_t sign = text.find('=');
  if (sign == text.npos) malformed(text, "is not STATUS=FILE");
  const std::string number = text.substr(0, sign);
  const unsigned status = parse_status(number);
  if (status < 400 || status > 599) malformed(number, "is not a status from 400 to 599");
  return {Status(status), page_path(text.substr(sign + 1))};
}

std::string page_path(const std::string& file) {
  const std::string path = file.starts_with('/') ? file : "/" + file;
  if (path.ends_with('/') || !is_safe(path)) malformed(file, "is not the name of a file in DIR");
  return path;
}

std::string folder_path(const std::string& folder) {
  std::string path = folder.starts_with('/') ? folder : "/" + folder;
  if (!path.ends_with('/')) path += '/';
  if (!is_safe(path)) malformed(folder, "is not the name of a folder in DIR");
  return path;
}

}  // namespace skua::cli
