// SPDX-License-Identifier: MIT
// In: the options of uploads. Out: the routes that accept them, once it is sure who may use them.
#include "serve/site/uploads.hpp"

#include <CLI/CLI.hpp>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "common_options.hpp"
#include "serve/options.hpp"
#include "serve/site/host_check.hpp"
#include "serve/site/path_rules.hpp"
#include "skua/uploads.hpp"

namespace skua::cli {

bool has_login(const ServeOptions& options) noexcept {
  return options.site.login || options.site.upload_login || !options.auth.empty();
}

namespace {

/// Accepts uploads to one folder of the site, and refuses them elsewhere as other methods are.
class UploadFolder {
 public:
  UploadFolder(UploadHandler handler, const ServeOptions& options)
      : handler_(std::move(handler)),
        folder_(options.uploads.folder),
        names_(options.site),
        checks_host_(!has_login(options) && !options.uploads.anyone) {}

  Task<Response> operator()(Request& request) const {
    const std::string_view path = request.path();
    if (!path.starts_with(folder_)) {
      return detail::finished_task(Response(Status::MethodNotAllowed).header("Allow", "GET, HEAD"));
    }
    if (checks_host_ && !is_for_this_machine(request, names_)) {
      return detail::finished_task(
          {Status::Forbidden, "uploads without a login are for http://localhost only\n"});
    }
    return handler_.answer_at(request, path.substr(folder_.size() - 1));
  }

 private:
  UploadHandler handler_;
  std::string folder_;
  SiteOptions names_;
  bool checks_host_;
};

}  // namespace

void declare_uploads(CLI::App& parser, ServeUploads& uploads) {
  uploads.options.resumable = true;
  add_optional_value(parser, "--upload", "/",
                     "Accept uploads to DIR, or with --upload=FOLDER to that folder of it",
                     [&uploads](const std::string& name) { uploads.folder = folder_path(name); });
  CLI::Option* const upload = parser.get_option("--upload");
  parser
      .add_option_function<std::uint64_t>(
          "--upload-limit",
          [&uploads](const std::uint64_t& size_bytes) { uploads.options.max_bytes = size_bytes; },
          "Refuse uploads that are larger")
      ->transform(size_value())
      ->needs(upload)
      ->option_text("SIZE [1G]");
  parser
      .add_flag("--upload-overwrite", uploads.options.overwrite,
                "Let uploads replace files, instead of refusing those whose name is taken")
      ->needs(upload)
      ->option_text(" ");
  parser
      .add_option_function<std::uint32_t>(
          "--upload-keep",
          [&uploads](const std::uint32_t& seconds) {
            uploads.options.resumable = seconds != 0;
            uploads.options.keep_unfinished = std::chrono::seconds(seconds);
          },
          "Keep interrupted uploads for so long, so that clients can resume them; 0: not at all")
      ->needs(upload)
      ->option_text("SECONDS [86400]");
  parser
      .add_flag("--upload-anyone", uploads.anyone,
                "Accept uploads from other machines without a login")
      ->needs(upload)
      ->option_text(" ");
}

Result<void, Problem> check_uploads(const ServeOptions& options) {
  const bool is_safe = options.uploads.folder.empty() || options.uploads.anyone ||
                       has_login(options) || is_local(options.server);
  if (is_safe) return {};
  return Problem{
      Error(Errc::Unsupported, "--upload"),
      "--upload: everyone who reaches this machine could write to the folder\n"
      "Use --auth, set SKUA_UPLOAD_AUTH=USER:PASSWORD (or SKUA_AUTH) in the environment to "
      "require a login, or\nadd --upload-anyone."};
}

Result<void, Problem> add_uploads(Router& router, const ServeOptions& options) {
  const ServeUploads& uploads = options.uploads;
  if (uploads.folder.empty()) return {};
  UploadOptions rules = uploads.options;
  rules.dotfiles = options.files.dotfiles;
  rules.follow_symlinks = options.files.follow_symlinks;
  // Braces in the name would be a wildcard in the patterns of the routes below.
  rules.resumable = rules.resumable && uploads.folder.find_first_of("{}") == std::string::npos;
  Result<UploadHandler, Problem> handler =
      UploadHandler::open(options.folder + uploads.folder, rules);
  if (!handler) {
    return Problem{handler.error().error, "--upload: " + options.folder + uploads.folder + ": " +
                                              std::string(message(handler.error().code()))};
  }
  const UploadFolder folder(*std::move(handler), options);
  router.put("/{path...}", folder).post("/{path...}", folder);
  if (!rules.resumable) return {};
  const RuntimePattern below(uploads.folder + "{path...}");
  const RuntimePattern parts(uploads.folder + std::string(upload_parts) + "{path...}");
  router.options(RuntimePattern(uploads.folder), folder).options(below, folder);
  for (const Method method : {Method::Head, Method::Patch, Method::Delete, Method::Post}) {
    router.route(method, parts, folder);
  }
  return {};
}

std::string upload_text(const ServeOptions& options) {
  if (options.uploads.folder.empty()) return {};
  const std::string text = "accepting uploads to " + options.uploads.folder;
  if (options.site.upload_login) return text + " with the login of SKUA_UPLOAD_AUTH";
  if (!options.auth.empty()) return text + " with a login of " + options.auth;
  if (options.site.login) return text + " with the login of SKUA_AUTH";
  return text + " from everyone who can connect";
}

}  // namespace skua::cli
