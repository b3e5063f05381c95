// SPDX-License-Identifier: MIT
// In: the options of WebDAV. Out: its routes, once it is sure who may use them: the rules are those
// of uploads.
#include "serve/site/webdav.hpp"

#include <CLI/CLI.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "common_options.hpp"
#include "serve/options.hpp"
#include "serve/site/host_check.hpp"
#include "serve/site/path_rules.hpp"
#include "serve/site/site_options.hpp"
#include "serve/site/uploads.hpp"
#include "skua/task.hpp"
#include "skua/webdav.hpp"
#include "xml/xml.hpp"

namespace skua::cli {
namespace {

// Returns the path below the folder, which its own URL may name without the slash; nullopt if it is
// elsewhere.
std::optional<std::string_view> path_below(std::string_view path, std::string_view folder) {
  if (path.starts_with(folder)) return path.substr(folder.size() - 1);
  if (path == folder.substr(0, folder.size() - 1)) return std::string_view();
  return std::nullopt;
}

/// Answers WebDAV for one folder of the site, and refuses it elsewhere as other methods are.
class WebDavFolder {
 public:
  WebDavFolder(WebDavHandler handler, const ServeOptions& options)
      : handler_(std::move(handler)),
        folder_(options.webdav.folder),
        names_(options.site),
        checks_host_(!has_login(options) && !options.webdav.anyone) {}

  Task<Response> operator()(Request& request) const {
    const auto below = path_below(request.path(), folder_);
    if (!below) return detail::finished_task(elsewhere(request.method()));
    if (checks_host_ && !is_for_this_machine(request, names_)) {
      return detail::finished_task(
          {Status::Forbidden, "WebDAV without a login is for http://localhost only\n"});
    }
    return handler_.answer_at(request, *below);
  }

 private:
  static Response elsewhere(Method method) {
    const bool is_question = method == Method::Options;
    return Response(is_question ? Status::NoContent : Status::MethodNotAllowed)
        .header("Allow", is_question ? "GET, HEAD, OPTIONS" : "GET, HEAD");
  }

  WebDavHandler handler_;
  std::string folder_;
  SiteOptions names_;
  bool checks_host_;
};

}  // namespace

void declare_webdav(CLI::App& parser, ServeWebDav& webdav) {
  add_optional_value(parser, "--webdav", "/",
                     "Let WebDAV clients change the files of DIR, or with --webdav=FOLDER of that "
                     "folder of it",
                     [&webdav](const std::string& name) { webdav.folder = folder_path(name); });
  CLI::Option* const option =
      parser.get_option("--webdav")->excludes(parser.get_option("--upload"));
  CLI::Option* const limit =
      parser
          .add_option_function<std::uint64_t>(
              "--webdav-limit",
              [&webdav](const std::uint64_t& size_bytes) { webdav.options.max_bytes = size_bytes; },
              "Refuse files that are larger")
          ->transform(size_value())
          ->needs(option)
          ->option_text("SIZE [1G]");
  CLI::Option* const anyone = parser
                                  .add_flag("--webdav-anyone", webdav.anyone,
                                            "Let other machines change files without a login")
                                  ->needs(option)
                                  ->option_text(" ");
  if (xml::is_available()) return;
  for (CLI::Option* const one : {option, limit, anyone}) disable(*one, "expat");
}

Result<void, Problem> check_changes(const ServeOptions& options) {
  if (auto checked = check_uploads(options); !checked) return checked;
  const bool is_safe = options.webdav.folder.empty() || options.webdav.anyone ||
                       has_login(options) || is_local(options.server);
  if (is_safe) return {};
  return Problem{
      Error(Errc::Unsupported, "--webdav"),
      "--webdav: everyone who reaches this machine could change the folder\n"
      "Use --auth, set SKUA_UPLOAD_AUTH=USER:PASSWORD (or SKUA_AUTH) in the environment to "
      "require a login, or\nadd --webdav-anyone."};
}

Result<void, Problem> add_webdav(Router& router, const ServeOptions& options) {
  const ServeWebDav& webdav = options.webdav;
  if (webdav.folder.empty()) return {};
  WebDavOptions rules = webdav.options;
  rules.files = options.files;
  Result<WebDavHandler, Problem> handler =
      WebDavHandler::open(options.folder + webdav.folder, rules);
  if (!handler) {
    return Problem{handler.error().error, "--webdav: " + options.folder + webdav.folder + ": " +
                                              std::string(message(handler.error().code()))};
  }
  const WebDavFolder folder(*std::move(handler), options);
  for (const Method method : {Method::Options, Method::Put, Method::Delete, Method::Mkcol,
                              Method::Copy, Method::Move, Method::Propfind, Method::Proppatch}) {
    router.route(method, "/{path...}", folder);
  }
  return {};
}

bool is_webdav_change(const Request& request, const ServeWebDav& webdav) noexcept {
  if (webdav.folder.empty() || !path_below(request.path(), webdav.folder)) return false;
  switch (request.method()) {
    case Method::Put:
    case Method::Delete:
    case Method::Mkcol:
    case Method::Copy:
    case Method::Move:
    case Method::Proppatch: return true;
    default: return false;
  }
}

std::string webdav_text(const ServeOptions& options) {
  if (options.webdav.folder.empty()) return {};
  const std::string text = "WebDAV clients may change " + options.webdav.folder;
  if (options.site.upload_login) return text + " with the login of SKUA_UPLOAD_AUTH";
  if (!options.auth.empty()) return text + " with a login of " + options.auth;
  if (options.site.login) return text + " with the login of SKUA_AUTH";
  return text + " without a login";
}

}  // namespace skua::cli
