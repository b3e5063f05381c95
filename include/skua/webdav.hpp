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
#include "skua/webdav_options.hpp"

namespace skua {

namespace files {
class WebDavSite;
}

/// A handler that lets WebDAV clients (file managers, rclone, cadaver) work on a folder: class 1,
/// which is all but locks.
///
/// ```cpp
/// router.use(auth::basic("my files", check)).webdav("/dav", "files");
/// auto handler = skua::WebDavHandler::open("files");  // returns an error instead of throwing
/// if (handler) router.any("/{path...}", *handler);
/// ```
///
/// GET and HEAD are those of FileHandler, and PUT is that of UploadHandler, which replaces files
/// here. Guards decide who may do what.
///
/// Requests cannot leave the folder, neither by `..`, nor by links, nor by disguised names, also
/// not in Destination. Properties that clients invent are kept in the extended attribute
/// `user.skua.properties` of a file, up to 16 KiB, if the file system has such.
///
/// | answer | reason |
/// |---|---|
/// | 201, 204 | it is made; it is changed, replaced or gone |
/// | 207 | properties; or some files of a tree could not be copied or removed, and it says which |
/// | 400, 415 | a malformed field or XML; content of MKCOL |
/// | 403 | the name is not allowed, or it is the folder itself; PROPFIND with Depth: infinity |
/// | 405, 409 | MKCOL of what exists; the folder around it does not |
/// | 412 | If, If-Match or the like is not met, or Overwrite: F and the name is taken |
/// | 413, 507 | the content, or a tree, exceeds an option; the disk is full |
/// | 502 | Destination is on another host |
///
/// RFC:       4918
class SKUA_API WebDavHandler final {
 public:
  /// Opens the folder and holds it open; one that gets its name replaces it. Removes temporary
  /// files of uploads that were interrupted.
  /// Ends with: NotFound, PermissionDenied; Unsupported on Windows and in a build without expat.
  static Result<WebDavHandler, Problem> open(const std::string& directory,
                                             WebDavOptions options = {});

  /// Answers all methods of WebDAV but LOCK and UNLOCK. The path is that of the route's rest
  /// wildcard, or the whole path if the route has none.
  ///
  /// Waits for: the content, and the file system on another thread. If it is dropped meanwhile,
  ///            what that thread does comes to its end.
  Task<Response> operator()(Request& request) const;
  /// Answers as if the request were for `path`, decoded and with a leading slash, below the folder.
  /// The beginning of the request's own path, without it, is the URL of the folder.
  Task<Response> answer_at(Request& request, std::string_view path) const;

 private:
  friend class Router;
  explicit WebDavHandler(std::shared_ptr<const files::WebDavSite> site) noexcept;

  std::shared_ptr<const files::WebDavSite> site_;  // copies of a handler, as routers make them
};

}  // namespace skua
