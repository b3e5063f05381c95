// SPDX-License-Identifier: MIT
// In: files that are part of the program, and requests. Out: what a folder with them would answer.
#include "files/memory_site.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <utility>

#include "files/file_response.hpp"
#include "files/mime_type.hpp"
#include "files/site_answer.hpp"
#include "skua/router.hpp"

namespace skua::files {
namespace {

using coding::Coding;

CachedFile embedded(const EmbeddedFile& file, std::string_view content, FileHead head,
                    const FileFields& fields) {
  CachedFile entry;
  entry.path = file.path;
  entry.head = std::move(head);
  return with_responses(std::move(entry), std::string(content), fields);
}

}  // namespace

MemorySite::MemorySite(std::span<const EmbeddedFile> files, const FileOptions& options)
    : index_(options.index), fields_{.cache_control = cache_control(options.max_age)} {
  for (const EmbeddedFile& file : files) add(file);
}

void MemorySite::add(const EmbeddedFile& file) {
  FileHead head;
  head.etag.append("\"").append(file.digest).append("\"");
  head.type = mime_type(file.path);
  head.varies = !file.gzip.empty() || !file.zstd.empty();
  Entry entry;
  for (const auto& [coding, content] :
       {std::pair(Coding::Zstd, file.zstd), std::pair(Coding::Gzip, file.gzip)}) {
    if (content.empty()) continue;
    FileHead coded = coded_head(head, coding);
    coded.etag.erase(0, 2);  // these bytes are always the same, so their tag is strong
    entry.coded.push_back({coding, embedded(file, content, std::move(coded), fields_)});
  }
  entry.plain = embedded(file, file.content, std::move(head), fields_);
  entries_.insert_or_assign(file.path, std::move(entry));
  for (std::size_t i = 0; i < file.path.size(); ++i) {
    if (file.path[i] == '/') folders_.insert(file.path.substr(0, i + 1));
  }
}

const MemorySite::Entry* MemorySite::find(std::string_view path) const {
  const auto found = entries_.find(path);
  return found != entries_.end() ? &found->second : nullptr;
}

Response MemorySite::answer(const Request& request, std::string_view path) const {
  if (auto refused = refuse_method(request)) return *std::move(refused);
  if (path.empty()) return redirect_to_folder(request, fields_.cache_control);
  if (!path.ends_with('/')) {
    if (const Entry* const entry = find(path)) return answer_file(request, *entry);
    if (!folders_.contains(std::string(path) + '/')) return Status::NotFound;
    return redirect_to_folder(request, fields_.cache_control);
  }
  const Entry* const index = index_.empty() ? nullptr : find(std::string(path) + index_);
  if (index == nullptr) return Status::NotFound;
  return answer_file(request, *index);
}

Response MemorySite::answer_file(const Request& request, const Entry& entry) const {
  const CachedFile* chosen = &entry.plain;
  PreferredCodings codings(request);
  while (const std::optional<Coding> coding = codings.next()) {
    const auto form = std::ranges::find(entry.coded, *coding, &Form::coding);
    if (form == entry.coded.end()) continue;
    chosen = &form->file;
    break;
  }
  return file_response(head_of(request), {.cached = chosen}, nullptr, {}, fields_,
                       std::chrono::system_clock::now());
}

}  // namespace skua::files

// The public API: a handler for a route with a rest wildcard, and Router::files.

namespace skua {

MemoryFiles::MemoryFiles(std::span<const EmbeddedFile> files, const FileOptions& options)
    : site_(std::make_shared<const files::MemorySite>(files, options)) {}

Response MemoryFiles::operator()(const Request& request) const {
  return site_->answer(request, files::path_below_route(request));
}

Router& Router::files(Prefix prefix, const MemoryFiles& handler, Where where) {
  return mount(prefix, files::folder_routes(handler.site_, where));
}

}  // namespace skua
