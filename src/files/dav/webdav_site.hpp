// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "async/semaphore.hpp"
#include "files/access/tree_access.hpp"
#include "files/file_site.hpp"
#include "files/safe_path.hpp"
#include "files/upload/upload_file.hpp"
#include "skua/request.hpp"
#include "skua/response.hpp"
#include "skua/task.hpp"
#include "skua/webdav_options.hpp"

namespace skua::files {

/// A folder that WebDAV clients read and change. Any thread may use it.
class WebDavSite final {
 public:
  WebDavSite(std::shared_ptr<const FileSite> files, std::shared_ptr<const UploadSite> uploads,
             WebDavOptions options) noexcept
      : files_(std::move(files)), uploads_(std::move(uploads)), options_(std::move(options)) {}

  [[nodiscard]] const Root& root() const noexcept { return uploads_->root(); }
  [[nodiscard]] const FileSite& files() const noexcept { return *files_; }
  [[nodiscard]] const std::shared_ptr<const UploadSite>& uploads() const noexcept {
    return uploads_;
  }
  [[nodiscard]] const WebDavOptions& options() const noexcept { return options_; }

 private:
  std::shared_ptr<const FileSite> files_;
  std::shared_ptr<const UploadSite> uploads_;
  WebDavOptions options_;
};

/// A request for a file or folder of a site. It may be used after the request, on any thread.
struct DavTarget {
  /// `path` is the one below the folder, as of FileSite::answer().
  DavTarget(std::shared_ptr<const WebDavSite> the_site, const Request& the_request,
            std::string_view the_path);

  std::shared_ptr<const WebDavSite> site;
  std::shared_ptr<const Request> request;  ///< without its content
  std::string prefix;                      ///< the path of the folder's URL, without a slash
  std::string path;                        ///< below the folder, without a slash at its end
  bool has_slash;                          ///< at the end of the path: it must be a folder
  TreeAccess access;                       ///< to other paths

  [[nodiscard]] bool is_root() const noexcept { return path == "/"; }
  /// Returns the path below the folder as it was asked for.
  [[nodiscard]] std::string asked_path() const { return has_slash ? path + '/' : path; }
  /// Returns the path of the URL of a file, or of a folder.
  [[nodiscard]] std::string url_path(bool is_folder) const;
};

/// Finds what a target names, through links that stay below the root.
///
/// Ends with: the errors of Root::find.
Result<OpenFile> find_target(const DavTarget& target);

/// Returns 412 if a condition of the request is not met for what has the name now, nullopt for
/// nothing; 400 for a malformed If. Blocks.
std::optional<Response> check_conditions(const DavTarget& target,
                                         const std::optional<FileStat>& current);
/// Like check_conditions(), for If alone: PUT checks the others itself.
std::optional<Response> check_if_field(const DavTarget& target,
                                       const std::optional<FileStat>& current);

/// Answers a method. They block, but a stream that PROPFIND returns does not.
Response answer_propfind(const std::shared_ptr<const DavTarget>& target, std::string_view content);
Response answer_proppatch(const DavTarget& target, std::string_view content);
Response answer_mkcol(const DavTarget& target);
Response answer_delete(const DavTarget& target);
Response answer_copy(const DavTarget& target);
Response answer_move(const DavTarget& target);

/// How many requests copy, move or remove files and folders at a time, in the whole process: each
/// may keep a thread of the offload pool for minutes. Half of the default offload_threads.
inline constexpr std::size_t tree_changes_at_most = 2;

/// Returns the permits of such requests.
const async::Semaphore& tree_permits();

/// Answers any method. `path` is the one below the folder, as of FileSite::answer().
Task<Response> answer_webdav(const std::shared_ptr<const WebDavSite>& site, Request& request,
                             std::string_view path);

}  // namespace skua::files
