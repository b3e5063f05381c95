// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>

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
/// auto site = skua::FileHandler::open("public", {.listing = true});  // says so instead
/// if (site) router.get("/{path...}", *site);
/// ```
///
/// ETag, Last-Modified and every condition on them, ranges, index files and listings. Nothing leads
/// out of the folder: neither `..`, nor links, nor names that only look harmless.
class FileHandler final {
 public:
  /// Opens the folder; it is held open, so a later rename of it changes nothing.
  /// Ends with: NotFound, PermissionDenied.
  static Result<FileHandler> open(const std::string& directory, FileOptions options = {});

  /// Answers GET and HEAD with the file that the rest wildcard of the route names, or the whole
  /// path where the route has none.
  Response operator()(const Request& request) const;

 private:
  friend class Router;
  explicit FileHandler(std::shared_ptr<const files::FileSite> site) noexcept;
  Response answer_prefix(const Request& request) const;

  // Shared: copies of a handler, as routers make them, serve from the same caches.
  std::shared_ptr<const files::FileSite> site_;
};

}  // namespace skua
