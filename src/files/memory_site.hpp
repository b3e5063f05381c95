// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "coding/coding.hpp"
#include "files/cache/cached_files.hpp"
#include "files/file_head.hpp"
#include "skua/memory_files.hpp"
#include "skua/request.hpp"
#include "skua/response.hpp"

namespace skua::files {

/// A folder of files that are part of the program.
///
/// `const` members may be called from any thread.
class MemorySite final {
 public:
  MemorySite(std::span<const EmbeddedFile> files, const FileOptions& options);

  /// Answers GET and HEAD for `path`, the part of the request's path below this folder. It starts
  /// with a slash, or is empty if the request names the folder without one.
  [[nodiscard]] Response answer(const Request& request, std::string_view path) const;

 private:
  struct Form {
    coding::Coding coding;
    CachedFile file;
  };
  struct Entry {
    CachedFile plain;
    std::vector<Form> coded;
  };

  void add(const EmbeddedFile& file);
  [[nodiscard]] const Entry* find(std::string_view path) const;
  [[nodiscard]] Response answer_file(const Request& request, const Entry& entry) const;

  std::string index_;
  FileFields fields_;
  std::unordered_map<std::string_view, Entry> entries_;  // by the embedded file's path
  std::unordered_set<std::string_view> folders_;         // with their slashes
};

}  // namespace skua::files
