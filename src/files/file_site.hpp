// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "async/semaphore.hpp"
#include "files/archive/archive_response.hpp"
#include "files/cache/file_cache.hpp"
#include "files/cache/per_thread.hpp"
#include "files/etag/content_tags.hpp"
#include "files/file_head.hpp"
#include "files/safe_path.hpp"
#include "skua/error.hpp"
#include "skua/file_options.hpp"
#include "skua/request.hpp"
#include "skua/response.hpp"

namespace skua::files {

class LargeListings;

/// One thread's caches of a folder.
struct SiteCaches {
  SiteCaches(const Root& root, const TimeSource& times, const FileFields& fields,
             FileCacheOptions options);

  FileCache files;
  std::vector<CodedCache> coded{};  ///< in order of preference
};

/// A served folder: maps requests to responses.
///
/// `const` members may be called from any thread; each thread has its own cache.
class FileSite final {
 public:
  FileSite(Root root, FileOptions options, std::unique_ptr<const TimeSource> times);
  FileSite(const FileSite&) = delete;
  FileSite& operator=(const FileSite&) = delete;

  /// Answers GET and HEAD for `path`, the part of the request's path below this folder. It starts
  /// with a slash, or is empty if the request names the folder without one.
  [[nodiscard]] Response answer(const Request& request, std::string_view path) const;
  /// Answers GET and HEAD with the file or index at `path`, wherever the request points.
  [[nodiscard]] Response answer_at(const Request& request, std::string_view path) const;

 private:
  [[nodiscard]] Response answer_directory(const Request& request, std::string_view path) const;
  // Nullopt if the folder has no index. `path` ends in a slash.
  [[nodiscard]] std::optional<Response> answer_index(const Request& request,
                                                     std::string_view path) const;
  [[nodiscard]] Response list(const Request& request, std::string_view path) const;
  [[nodiscard]] Response answer_file(const Request& request, FoundFile found,
                                     std::string_view path) const;
  [[nodiscard]] std::optional<Response> answer_coded(const Request& request, FoundFile& found,
                                                     std::string_view path) const;

  std::shared_ptr<const Root>
      root_;  // shared with listings and streams that outlive the handler of a request
  FileOptions options_;
  std::unique_ptr<const TimeSource> times_;
  std::unique_ptr<const ContentTags> tags_;  // null: tags are made of the files' states
  std::unique_ptr<RecentStates> recent_;
  FileFields fields_;
  async::Semaphore archive_permits_;
  std::shared_ptr<LargeListings> listings_;  // shared with streams that outlive the site
  PerThread<SiteCaches> caches_;
};

}  // namespace skua::files
