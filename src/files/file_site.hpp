// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "files/safe_path.hpp"
#include "files/time_source.hpp"
#include "files/worker_caches.hpp"
#include "skua/error.hpp"
#include "skua/file_options.hpp"
#include "skua/request.hpp"
#include "skua/response.hpp"

namespace skua::files {

/// A folder that is served: from a request to its answer.
///
/// `const` members may be called from any thread; each has a cache of its own.
class FileSite final {
 public:
  /// `times` outlives the site.
  FileSite(Root root, FileOptions options, std::unique_ptr<const TimeSource> times);
  FileSite(const FileSite&) = delete;
  FileSite& operator=(const FileSite&) = delete;

  /// Answers GET and HEAD for `path`, the end of the request's own path that belongs to this
  /// folder; without its leading slash only if that is missing in the request.
  [[nodiscard]] Response answer(const Request& request, std::string_view path) const;

 private:
  [[nodiscard]] Response answer_directory(const Request& request, std::string_view path) const;
  [[nodiscard]] Response redirect(const Request& request) const;
  [[nodiscard]] Response list(const Request& request, std::string_view path) const;
  [[nodiscard]] Response answer_file(const Request& request, FoundFile found,
                                     std::string_view path) const;

  std::shared_ptr<const Root>
      root_;  // shared with listings and streams that outlive a request's handler
  FileOptions options_;
  std::unique_ptr<const TimeSource> times_;
  std::string cache_control_;
  WorkerCaches caches_;
};

}  // namespace skua::files
