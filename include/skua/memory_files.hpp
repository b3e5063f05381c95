// SPDX-License-Identifier: MIT
#pragma once

#include "skua/release.hpp"  // first: checks the C++ version

#include <memory>
#include <span>
#include <string_view>

#include "skua/config.hpp"
#include "skua/file_options.hpp"
#include "skua/request.hpp"
#include "skua/response.hpp"

namespace skua {

namespace files {
class MemorySite;
}
class Router;

/// A file that is part of the program. skua_embed_files() in CMake writes constants of this type.
struct EmbeddedFile {
  std::string_view path{};  ///< `/style.css`
  std::string_view content{};
  std::string_view digest{};  ///< of the content, for its ETag: letters and digits
  std::string_view gzip{};    ///< the content in this coding; empty: not smaller
  std::string_view zstd{};
};

/// A handler that serves files that are part of the program, with ETags that are the same in each
/// process, conditional requests, ranges, index files and compressed forms.
///
/// ```cmake
/// skua_embed_files(my_program assets)  # each file in assets/, as `assets` in assets.hpp
/// ```
/// ```cpp
/// router.files("/assets", skua::MemoryFiles(assets));
/// router.get("/{path...}", skua::MemoryFiles(assets));  // at the root
/// ```
class SKUA_API MemoryFiles final {
 public:
  /// Uses the options `index` and `max_age`, and ignores the others.
  ///
  /// Lifetime:  the files' bytes outlive the object, as those from CMake do.
  explicit MemoryFiles(std::span<const EmbeddedFile> files, const FileOptions& options = {});

  /// Answers GET and HEAD with the file named by the route's rest wildcard, or by the whole path if
  /// the route has none.
  Response operator()(const Request& request) const;

 private:
  friend class Router;

  // Copies of a handler, as routers make them, share its files.
  std::shared_ptr<const files::MemorySite> site_;
};

}  // namespace skua
