// SPDX-License-Identifier: MIT
// In: the options of a site. Out: a router. The order in which it puts middleware around the files
// is the one that docs/guide/serving-files.md promises.
#include "serve/site/site.hpp"

#include <algorithm>
#include <cerrno>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "http/message/response_parts.hpp"
#include "serve/site/host_check.hpp"
#include "serve/tls.hpp"
#include "serve/watch/live_pages.hpp"
#include "skua/accept.hpp"
#include "skua/compression.hpp"
#include "skua/files.hpp"

namespace skua::cli {
namespace {

// Returns the path by which rules know a request: that of the index for a folder.
std::string file_path(const Request& request, const std::string& index) {
  std::string path(request.path());
  if (path.ends_with('/')) path += index;
  return path;
}

/// Serves the files, and the page of an application for the paths that are its own.
class Site {
 public:
  Site(FileHandler files, std::optional<FileHandler> lists, const ServeOptions& options)
      : files_(std::move(files)),
        lists_(std::move(lists)),
        options_(options.site),
        index_(options.files.index),
        is_watched_(options.watch) {}

  Response operator()(const Request& request) const {
    if (is_watched_) {
      const WholePageRequest whole(request);
      Response page = answer(whole.request());
      if (is_page(page)) return without_validators(std::move(page));
    }
    return answer(request);
  }

 private:
  Response answer(const Request& request) const {
    Response response = find(request);
    if (!options_.caches.empty() && is_file(response)) apply_cache_rules(request, response);
    const bool is_unknown = response.status() == Status::NotFound;
    if (!is_unknown || options_.spa.empty() || !may_be_navigation(request.path())) return response;
    // A script that asks for data gets 404; its error message would be about HTML otherwise.
    if (preferred_type(request, {"text/html"})) response = application_page(request);
    return std::move(response.vary("Accept"));
  }

  Response find(const Request& request) const {
    for (const RewriteRule& rule : options_.rewrites) {
      const auto star = rule.from.match(request.path());
      if (star) return files_.answer_at(request, rule.to.fill(*star));
    }
    const bool is_list = lists_ && request.path().ends_with('/') && request.query("view");
    return is_list ? (*lists_)(request) : files_(request);
  }

  // Listings and archives, which change with any file below them, have no Last-Modified.
  static bool is_file(const Response& response) noexcept {
    const Status status = response.status();
    const bool may_be =
        status == Status::Ok || status == Status::PartialContent || status == Status::NotModified;
    return may_be && response.header("Last-Modified");
  }

  // An error is not cached by them: the file may be there in a moment.
  void apply_cache_rules(const Request& request, Response& response) const {
    const std::string path = file_path(request, index_);
    for (const CacheRule& rule : options_.caches) {
      if (rule.paths.matches(path)) response.header("Cache-Control", rule.value);
    }
  }

  // The path of a missing asset has an extension. A hidden name stays missing, or scanners would
  // report that it is served.
  static bool may_be_navigation(std::string_view path) noexcept {
    const std::string_view name = path.substr(path.rfind('/') + 1);
    return name.find('.') == name.npos && path.find("/.") == path.npos;
  }

  // Not cached without a check: each release of an application names its assets there.
  Response application_page(const Request& request) const {
    return files_.answer_at(request, options_.spa).header("Cache-Control", "no-cache");
  }

  FileHandler files_;
  std::optional<FileHandler> lists_;  // of folders that have an index file, too
  SiteOptions options_;
  std::string index_;
  bool is_watched_;
};

/// Sends clients to the targets of --redirect.
class Redirects {
 public:
  explicit Redirects(std::vector<RedirectRule> rules) : rules_(std::move(rules)) {}

  std::optional<Response> operator()(Request& request) const {
    for (const RedirectRule& rule : rules_) {
      const auto location = rule.location(request.path(), request.query_string());
      if (location) return Response::redirect(*location, rule.status);
    }
    return std::nullopt;
  }

 private:
  std::vector<RedirectRule> rules_;
};

/// Replaces the content of errors; their other fields, such as Allow, stay. Errors of other servers
/// are passed on as they are.
class ErrorPages {
 public:
  ErrorPages(std::vector<ErrorPage> pages, std::string folder)
      : pages_(std::move(pages)), folder_(std::move(folder)) {}

  void operator()(const Request&, Response& response) const {
    if (http::ResponseAccess::is_evaluated(response)) return;
    const auto page = std::ranges::find(pages_, response.status(), &ErrorPage::status);
    if (page == pages_.end()) return;
    Response file = Response::file(folder_ + page->path);
    if (file.status() != Status::Ok) return;  // it has been removed
    const std::string type(file.content_type());
    response.body(std::move(file.content()), type);
  }

 private:
  std::vector<ErrorPage> pages_;
  std::string folder_;
};

/// Adds the fields of --header, also to errors.
class HeaderRules {
 public:
  HeaderRules(std::vector<HeaderRule> rules, std::string index)
      : rules_(std::move(rules)), index_(std::move(index)) {}

  void operator()(const Request& request, Response& response) const {
    const std::string path = file_path(request, index_);
    for (const HeaderRule& rule : rules_) {
      if (!rule.paths || rule.paths->matches(path)) response.header(rule.name, rule.value);
    }
  }

 private:
  std::vector<HeaderRule> rules_;
  std::string index_;
};

Problem folder_problem(const std::string& folder, Error error) {
  const char* advice = "Check the name, or choose another folder: skua serve DIR";
  std::string reason(message(error.code()));
  if (error.system_code() == ENOENT) reason = "no such folder";
  const bool is_port = !folder.empty() && folder.find_first_not_of("0123456789") == folder.npos;
  const std::string port_advice = "For this port, use: skua serve --port " + folder;
  if (is_port) advice = port_advice.c_str();
  if (error.system_code() == ENOTDIR) reason = "not a folder";
  if (error.system_code() == EACCES) advice = "Make it readable, or choose another folder";
  return {error, folder + ": " + reason + "\n" + advice + "."};
}

// An index file that somebody uploads replaces the listing of its folder, and with it the form: the
// list stays at `?view=list`.
Result<std::optional<FileHandler>, Problem> lists_of(const ServeOptions& options,
                                                     FileOptions files) {
  if (options.uploads.folder.empty() || !files.listing || files.index.empty()) {
    return std::optional<FileHandler>();
  }
  files.index.clear();
  files.on_replaced = nullptr;  // the other one tells
  Result<FileHandler, Problem> lists = FileHandler::open(options.folder, files);
  if (!lists) return folder_problem(options.folder, lists.error().error);
  return std::optional<FileHandler>(*std::move(lists));
}

// A page that is missing at the start is a typing error.
Result<void, Problem> check_page(const char* option, const std::string& file) {
  if (Response::file(file).status() == Status::Ok) return {};
  return Problem{Error(Errc::NotFound, option),
                 std::string(option) + ": cannot read the file " + file};
}

}  // namespace

Cors site_cors(const std::string& origin, bool has_proxies) {
  std::vector<Method> methods = {Method::Get, Method::Head};
  if (has_proxies) {
    methods.insert(methods.end(), {Method::Post, Method::Put, Method::Patch, Method::Delete});
  }
  // Any field may be sent and read: pages of other origins send neither cookies nor a login that
  // the browser keeps.
  return cors(
      {.origins = {origin}, .methods = std::move(methods), .headers = {"*"}, .exposed = {"*"}});
}

Result<ServedSite, Problem> make_site(const ServeOptions& options, SiteMemory before) {
  FileOptions file_options = options.files;
  file_options.upload_form = options.uploads.folder;
  if (const auto& log = options.server.hooks.log) {
    file_options.on_replaced = [log](std::string_view line) { log(LogLevel::Warning, line); };
  }
  if (options.watch || !options.webdav.folder.empty()) file_options.check_interval = {};
  Result<FileHandler, Problem> files = FileHandler::open(options.folder, file_options);
  if (!files) return folder_problem(options.folder, files.error().error);
  auto lists = lists_of(options, file_options);
  if (!lists) return std::move(lists).error();
  const SiteOptions& site = options.site;
  if (!site.spa.empty()) {
    auto checked = check_page("--spa", options.folder + site.spa);
    if (!checked) return std::move(checked).error();
  }
  for (const ErrorPage& page : site.error_pages) {
    auto checked = check_page("--error-page", options.folder + page.path);
    if (!checked) return std::move(checked).error();
  }
  ServedSite made{.memory = std::move(before)};
  Router& router = made.router;
  add_host_check(router, options);
  add_rate(router, site.rate, made.memory.rate);
  if (!site.cors.empty()) router.use(site_cors(site.cors, !site.proxies.empty()));
  auto passwords = require_login(router, options, made.memory.passwords);
  if (!passwords) return std::move(passwords).error();
  made.memory.passwords = *std::move(passwords);
  if (!site.redirects.empty()) router.use(Redirects(site.redirects));
  SiteMemory& memory = made.memory;
  add_proxies(router, site.proxies, memory.hosts, memory.unresolved, memory.proxied);
  router.get("/{path...}", Site(*std::move(files), *std::move(lists), options));
  if (auto added = add_uploads(router, options); !added) return std::move(added).error();
  if (auto added = add_webdav(router, options); !added) return std::move(added).error();
  if (!site.error_pages.empty()) router.use(ErrorPages(site.error_pages, options.folder));
  if (!site.headers.empty()) router.use(HeaderRules(site.headers, options.files.index));
  if (options.watch) add_live_reload(router, made.memory.reload);
  add_transport_security(router, options);
  if (options.files.compress) router.use(compression());
  return made;
}

}  // namespace skua::cli
