// SPDX-License-Identifier: MIT
#pragma once

#include "skua/release.hpp"  // first: checks the C++ version

#include <memory>
#include <string>
#include <string_view>

#include "skua/config.hpp"
#include "skua/error.hpp"
#include "skua/file_options.hpp"
#include "skua/request.hpp"
#include "skua/response.hpp"

namespace skua {

namespace files {
class FileSite;
}
class Router;

/// A handler that serves a folder: small files from memory, large ones by sendfile.
///
/// ```cpp
/// router.files("/assets", "public", {.max_age = 1h});            // throws if there is no folder
/// auto site = skua::FileHandler::open("public", {.listing = true});  // returns an error instead
/// if (site) router.get("/{path...}", *site);
/// ```
///
/// Supports ETag, Last-Modified, all conditional requests, ranges, index files and listings.
/// Requests cannot leave the folder, neither by `..`, nor by links, nor by disguised names.
class SKUA_API FileHandler final {
 public:
  /// Opens the folder and holds it open; one that gets its name later replaces it (POSIX).
  /// Ends with: NotFound, PermissionDenied; Unsupported for FileOptions::content_etags without
  ///            OpenSSL.
  static Result<FileHandler, Problem> open(const std::string& directory, FileOptions options = {});

  /// Answers GET and HEAD with the file named by the route's rest wildcard, or by the whole path if
  /// the route has none.
  Response operator()(const Request& request) const;

  /// Answers GET and HEAD with the file at `path`, whatever the request's own path is: the page of
  /// an application for all its URLs, or the new place of a file.
  ///
  /// `path` is decoded and starts with a slash: `/app/index.html`. A folder is answered with its
  /// index, or with 404 if it has none; it is neither listed nor redirected to.
  [[nodiscard]] Response answer_at(const Request& request, std::string_view path) const;

 private:
  friend class Router;
  explicit FileHandler(std::shared_ptr<const files::FileSite> site) noexcept;

  // Copies of a handler, as routers make them, share its caches.
  std::shared_ptr<const files::FileSite> site_;
};

}  // namespace skua
