// SPDX-License-Identifier: MIT
#pragma once

#include "skua/release.hpp"  // first: checks the C++ version

#include <memory>
#include <string>
#include <string_view>

#include "skua/config.hpp"
#include "skua/error.hpp"
#include "skua/request.hpp"
#include "skua/response.hpp"
#include "skua/task.hpp"
#include "skua/upload_options.hpp"

namespace skua {

namespace files {
class UploadSite;
}

/// A handler that writes uploads to a folder, in constant memory.
///
/// ```cpp
/// router.files("/inbox", "inbox", {.listing = true}).uploads("/inbox", "inbox");
/// auto uploads = skua::UploadHandler::open("inbox");  // returns an error instead of throwing
/// if (uploads) router.put("/{path...}", *uploads).post("/{path...}", *uploads);
/// ```
///
/// `PUT /a/b.txt` writes one file; POST of a `multipart/form-data` form to the URL of a folder
/// writes each file of the form. A file has a temporary name, which is neither served nor listed,
/// until all of it is on the disk; then it gets its name at once. Whatever goes wrong before,
/// nothing is left of it. Folders must exist. Guards decide who may upload.
///
/// With UploadOptions::resumable, uploads that are interrupted can be resumed, by tus 1.0 and by
/// draft-ietf-httpbis-resumable-upload. They have URLs of their own, `/.skua-uploads/...` below the
/// folder, which need HEAD, PATCH, DELETE and OPTIONS: Router::uploads() adds these routes.
///
/// Requests cannot leave the folder, neither by `..`, nor by links, nor by disguised names. Pages
/// of other origins are refused, because browsers let them send forms with the user's credentials.
/// Links and folders are never replaced.
///
/// | answer | reason |
/// |---|---|
/// | 201, with Location and ETag | the file is new |
/// | 204, with ETag | it has replaced a file |
/// | 303 to the folder | the files of a form have been written, and the client prefers HTML |
/// | 400, 415 | Content-Range, a malformed form, or one without files; a Content-Encoding |
/// | 403, 409 | the name is not allowed; it is taken, or there is no such folder |
/// | 412 | If-Match, If-None-Match or If-Unmodified-Since is not met when the file is complete |
/// | 413, 507 | the content is longer than allowed; the disk is full |
///
/// RFC:       9110 §9.3.4, §13.1, 7578
class SKUA_API UploadHandler final {
 public:
  /// Opens the folder and holds it open; one that gets its name replaces it. Looks through it
  /// for temporary files of uploads that were interrupted, and removes them.
  /// Ends with: NotFound, PermissionDenied.
  static Result<UploadHandler, Problem> open(const std::string& directory,
                                             UploadOptions options = {});

  /// Answers PUT and POST, and all methods of resumable uploads. The path is that of the route's
  /// rest wildcard, or the whole path if the route has none.
  ///
  /// Waits for: the content, and the file system on another thread.
  Task<Response> operator()(Request& request) const;
  /// Answers as if the request were for `path`, decoded and with a leading slash, below the folder.
  /// Location still has the path of the request.
  Task<Response> answer_at(Request& request, std::string_view path) const;

 private:
  explicit UploadHandler(std::shared_ptr<const files::UploadSite> site) noexcept;

  std::shared_ptr<const files::UploadSite> site_;  // copies of a handler, as routers make them
};

}  // namespace skua
