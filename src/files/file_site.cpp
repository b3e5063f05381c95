// SPDX-License-Identifier: MIT
// In: a request, and the part of its path below the folder. Out: a file, an index file, a listing,
// a redirect that adds the slash, or an error that reveals only its status.
#include "files/file_site.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "base/ascii.hpp"
#include "base/thread_object.hpp"
#include "coding/coding.hpp"
#include "files/access/tree_access.hpp"
#include "files/compressed_stream.hpp"
#include "files/file_response.hpp"
#include "files/listing/directory_index.hpp"
#include "files/listing/folder_reads.hpp"
#include "files/listing/page_assets.hpp"
#include "files/listing/readme.hpp"
#include "files/site_answer.hpp"
#include "http/message/cause.hpp"
#include "skua/async.hpp"
#include "skua/body_writer.hpp"
#include "skua/files.hpp"
#include "skua/router.hpp"

namespace skua::files {
namespace {

using coding::Coding;

Response error_response(Error error) {
  Response response = http::failure_response(error);
  if (error.code() == Errc::Overloaded) {
    response.body("the folder of this site is gone, or was replaced and cannot be opened\n",
                  "text/plain; charset=utf-8");
    response.header("Retry-After", "1");
  }
  return response;
}

std::string checked_type(std::string type) {
  if (!std::ranges::all_of(type, ascii::is_field_value)) {
    throw std::invalid_argument("FileOptions::type has a control character");
  }
  return type;
}

FileUse use_by(const Request& request) noexcept {
  return {.is_part = head_of(request).has(http::FieldName::Range),
          .is_copied = request.is_secure() || request.version() == Version::Http2};
}

// The path of an index file; keeps its memory from one request to the next.
struct IndexPath {
  std::string text;
};

// The input of a listing, and its requested form.
struct ListingWork {
  std::optional<DirectoryReader> reader{};
  TreeAccess access{};
  std::string below{};  // the path below the folder
  std::string path{};   // as in the request
  ListingSort sort{};
  std::size_t page_number = 1;
  std::string filter{};
  bool has_gallery = false;
  bool is_json = false;
  bool has_upload_form = false;
  bool has_archives = false;
  decltype(FileOptions::render_readme) render_readme{};  // empty: none is shown
  std::optional<OpenFile> readme{};
  std::string readme_name{};
  std::vector<DirectoryEntry> entries{};
  bool is_truncated = false;
  // Set for a large folder. The listings outlive the call on their thread.
  std::shared_ptr<LargeListings> listings{};
  std::shared_ptr<FolderRead> all{};
  std::shared_ptr<const Root> root{};

  // Lists a large folder; called on the thread of listings. What only the text needs goes with the
  // call: the response lasts until its peer has taken the text, and then ends on the loop, which
  // must not have to destroy a million entries. A copy of the response reads the folder again.
  std::string text_of_all() {
    const auto read = all ? std::exchange(all, nullptr) : std::make_shared<FolderRead>();
    reader.emplace(DirectoryReader::open(root, below).value());
    read->read(root, access, below).value();
    read->sort(*reader, sort);
    is_truncated = read->is_truncated();
    find_description(read->entries());
    std::string made =
        filter.empty() ? text_of(read->entries()) : text_of(filtered(read->entries(), filter));
    readme.reset();
    reader.reset();
    return made;
  }

  std::string text() {
    filter_entries(entries, filter);
    if (sort.order != ListingOrder::Name) reader->add_details(entries);
    sort_entries(entries, sort);
    return text_of(entries);
  }

  std::string text_of(std::span<const DirectoryEntry> sorted) {
    ListingPage page = make_page(sorted, sort, page_number);
    std::vector<DirectoryEntry> shown(page.entries.begin(), page.entries.end());
    // NOLINTNEXTLINE(bugprone-unchecked-optional-access): it is there until the text is made
    reader->add_details(shown);
    page.entries = shown;
    page.is_truncated = is_truncated;
    page.filter = filter;
    page.has_gallery = has_gallery;
    page.has_upload_form = has_upload_form;
    page.has_archives = has_archives;
    const std::string described = readme_html();
    page.readme = described;
    return is_json ? listing_json(page, path) : listing_html(page, path);
  }

  // Only the first page of the whole folder shows its description.
  void find_description(std::span<const DirectoryEntry> among) {
    if (readme || !render_readme || is_json || page_number != 1 || !filter.empty()) return;
    // NOLINTNEXTLINE(bugprone-unchecked-optional-access): it is there until the text is made
    readme = open_readme(*reader, among, readme_name);
  }

  std::string readme_html() const {
    if (!readme) return {};
    const std::optional<std::string> content = read_readme(*readme);
    return content ? render_readme(readme_name, *content) : std::string();
  }
};

Task<> write_listing(std::shared_ptr<ListingWork> work, BodyWriter& writer) {
  const auto finish = [work] { return work->text_of_all(); };
  auto call = offload(work->listings->lane(), finish);
  std::string text = co_await call;
  auto written = writer.write(Body(std::move(text)));
  co_await written;
}

Response large_listing(ListingWork work) {
  const std::string_view type = work.is_json ? "application/json" : "text/html; charset=utf-8";
  const auto shared = std::make_shared<ListingWork>(std::move(work));  // std::function copies it
  return Response::stream(type,
                          [shared](BodyWriter& writer) { return write_listing(shared, writer); });
}

Response busy() {
  Response response(Status::ServiceUnavailable, "too many folders are being listed; try again\n");
  return std::move(response.header("Retry-After", "1"));
}

}  // namespace

SiteCaches::SiteCaches(const Root& root, const TimeSource& times, const FileFields& fields,
                       FileCacheOptions options)
    : files(root, times, fields, options) {
  if (!fields.siblings && !fields.made) return;
  coded.reserve(PreferredCodings::all.size());
  for (const Coding coding : PreferredCodings::all) {
    coded.emplace_back(root, times, fields, coding, options);
  }
}

FileSite::FileSite(Root root, FileOptions options, std::unique_ptr<const TimeSource> times)
    : root_(std::make_shared<const Root>(std::move(root))),
      options_(std::move(options)),
      times_(std::move(times)),
      tags_(options_.content_etags ? std::make_unique<const ContentTags>(root_) : nullptr),
      recent_(std::make_unique<RecentStates>()),
      fields_{.cache_control = cache_control(options_.max_age),
              .fixed_type = checked_type(options_.type),
              .siblings = options_.precompressed,
              .made = options_.compress,
              .tags = tags_.get(),
              .recent = recent_.get()},
      archive_permits_(options_.archives),
      listings_(std::make_shared<LargeListings>()),
      caches_([this] {
        const FileCacheOptions cache{.fresh = options_.check_interval};
        return std::make_unique<SiteCaches>(*root_, *times_, fields_, cache);
      }) {}

Response FileSite::answer(const Request& request, std::string_view path) const {
  if (auto refused = refuse_method(request)) return *std::move(refused);
  if (path.empty()) return redirect_to_folder(request, fields_.cache_control);
  if (path.back() == '/') return answer_directory(request, path);
  Result<FoundFile> found = caches_.local().files.find(path, use_by(request));
  if (!found) return error_response(found.error());
  if (!found->is_file()) return redirect_to_folder(request, fields_.cache_control);
  return answer_file(request, *std::move(found), path);
}

// A folder is its index, never a redirect: the client would come back with another path, and the
// caller could send it here again and again.
Response FileSite::answer_at(const Request& request, std::string_view path) const {
  if (auto refused = refuse_method(request)) return *std::move(refused);
  if (!path.ends_with('/')) {
    Result<FoundFile> found = caches_.local().files.find(path, use_by(request));
    if (!found) return error_response(found.error());
    if (found->is_file()) return answer_file(request, *std::move(found), path);
  }
  std::string folder(path);
  if (!folder.ends_with('/')) folder += '/';
  return answer_index(request, folder).value_or(Status::NotFound);
}

Response FileSite::answer_directory(const Request& request, std::string_view path) const {
  if (options_.archives != 0) {
    auto archive = answer_archive(request, root_, path, archive_permits_);
    if (archive) return *std::move(archive);
  }
  if (auto response = answer_index(request, path)) return *std::move(response);
  if (!options_.listing) return Status::NotFound;
  return list(request, path);
}

std::optional<Response> FileSite::answer_index(const Request& request,
                                               std::string_view path) const {
  if (options_.index.empty()) return std::nullopt;
  std::string& index = base::thread_object<IndexPath>().text;
  index.assign(path).append(options_.index);
  Result<FoundFile> found = caches_.local().files.find(index, use_by(request));
  if (!found && found.error().code() != Errc::NotFound) return error_response(found.error());
  if (!found || !found->is_file()) return std::nullopt;
  return answer_file(request, *std::move(found), index);
}

Response FileSite::answer_file(const Request& request, FoundFile found,
                               std::string_view path) const {
  if (auto coded = answer_coded(request, found, path)) return *std::move(coded);
  return file_response(head_of(request), std::move(found), root_, path, fields_, times_->wall());
}

// Answers with the coding that the client likes best among those that the file has; returns nullopt
// if it has none of them.
std::optional<Response> FileSite::answer_coded(const Request& request, FoundFile& found,
                                               std::string_view path) const {
  const http::Head& head = head_of(request);
  if (!fields_.siblings && !fields_.made) return std::nullopt;
  const FileUse use = use_by(request);
  // A range of compressed content means nothing once another version compresses it.
  const bool may_make = !use.is_part;
  std::vector<CodedCache>& caches = caches_.local().coded;
  PreferredCodings codings(request);
  while (const std::optional<Coding> coding = codings.next()) {
    const auto cache = std::ranges::find(caches, *coding, &CodedCache::coding);
    if (auto form = cache->find(path, found, use)) {
      return file_response(head, *std::move(form), root_, path, fields_, times_->wall());
    }
    if (found.cached != nullptr || !may_make || !fields_.made) continue;
    auto stream = compressed_stream(path, found, fields_, *coding, times_->wall());
    if (stream) return stream;
  }
  return std::nullopt;
}

Response FileSite::list(const Request& request, std::string_view path) const {
  Result<DirectoryReader> reader = DirectoryReader::open(root_, path);
  if (!reader) return error_response(reader.error());
  ListingWork work{.reader = *std::move(reader),
                   .access = TreeAccess(request, path),
                   .below = std::string(path),
                   .path = std::string(request.path())};
  work.sort = parse_sort(request.query("sort").value_or("name"));
  work.page_number = parse_page(request.query("page").value_or("1"));
  work.filter = request.query("q").value_or("");
  work.has_gallery = request.query("view") == "gallery";
  work.is_json = prefers_json(request.header("accept").value_or(""));
  work.has_upload_form = !options_.upload_form.empty() && path.starts_with(options_.upload_form);
  work.has_archives = options_.archives != 0;
  work.render_readme = options_.render_readme;
  // Reading and sorting a large folder takes long, so another thread does it.
  const Result<bool> has_more =
      read_entries(*work.reader, work.access, path, work.entries, page_entries);
  if (!has_more) return error_response(has_more.error());
  bool is_large = *has_more;
  if (!is_large) work.find_description(work.entries);
  if (work.readme && work.readme->stat.size_bytes > long_readme_bytes) is_large = true;
  if (is_large) {
    if (listings_->lane().is_full()) return busy();
    work.listings = listings_;
    work.root = root_;
    // Another router may protect other paths of this site.
    const bool is_whole = !work.access.has_exceptions_below(path);
    work.all = is_whole ? listings_->join(work.below) : std::make_shared<FolderRead>();
    work.entries.clear();
    work.readme.reset();
    work.reader.reset();
  }
  Response response = is_large       ? large_listing(std::move(work))
                      : work.is_json ? Response::json(work.text())
                                     : Response::html(work.text());
  response.header("Cache-Control", "no-cache");
  response.header("Vary", "Accept");
  response.header("X-Content-Type-Options", "nosniff");
  if (options_.render_readme) {
    response.header("Content-Security-Policy", readme_policy());
  } else {
    response.header("Content-Security-Policy", listing_policy);
  }
  return response;
}

}  // namespace skua::files

// The public API of this folder: a handler for a route with a rest wildcard, and Router::files.

namespace skua {

FileHandler::FileHandler(std::shared_ptr<const files::FileSite> site) noexcept
    : site_(std::move(site)) {}

Result<FileHandler, Problem> FileHandler::open(const std::string& directory, FileOptions options) {
  const files::PathPolicy policy{.dotfiles = options.dotfiles,
                                 .follow_symlinks = options.follow_symlinks};
  if (options.content_etags && !files::ContentTags::is_available()) {
    return files::ContentTags::missing();
  }
  Result<files::Root> root = files::Root::open(directory, policy);
  if (!root) return files::could_not("open the folder", directory, root.error());
  root->on_replaced(options.on_replaced);
  return FileHandler(std::make_shared<const files::FileSite>(
      *std::move(root), std::move(options), std::make_unique<files::TimeSource>()));
}

Response FileHandler::operator()(const Request& request) const {
  return site_->answer(request, files::path_below_route(request));
}

Response FileHandler::answer_at(const Request& request, std::string_view path) const {
  return site_->answer_at(request, path);
}

Router& Router::files(Prefix prefix, const std::string& directory, const FileOptions& options,
                      Where where) {
  const FileHandler handler = FileHandler::open(directory, options).value();
  return mount(prefix, files::folder_routes(handler.site_, where));
}

}  // namespace skua
