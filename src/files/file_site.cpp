// SPDX-License-Identifier: MIT
// In: a request, and the part of its path that lies in the folder. Out: a file, its index, a
// listing, a redirect to where the slash is, or an error that says no more than its status.
#include "files/file_site.hpp"

#include "files/directory_index.hpp"
#include "files/escape.hpp"
#include "files/file_response.hpp"
#include "http/request_parts.hpp"

#include <utility>

namespace skua::files {
namespace {

const http::Head& head_of(const Request& request) noexcept {
  return *http::RequestAccess::parts(request).head;
}

Response error_response(Error error) { return status_for(error.code()); }

}  // namespace

FileSite::FileSite(Root root, FileOptions options, std::unique_ptr<const TimeSource> times)
    : root_(std::move(root)),
      options_(std::move(options)),
      times_(std::move(times)),
      cache_control_(cache_control(options_.max_age)),
      caches_([this] { return std::make_unique<FileCache>(root_, *times_, cache_control_); }) {}

Response FileSite::answer(const Request& request, std::string_view path) const {
  if (request.method() != Method::Get && request.method() != Method::Head) {
    return Response(Status::MethodNotAllowed).header("Allow", "GET, HEAD");
  }
  if (path.empty()) return redirect(request);  // the folder's own name without a slash
  if (path.back() == '/') return answer_directory(request, path);
  Result<FoundFile> found = caches_.local().find(path);
  if (!found) return error_response(found.error());
  if (found->cached == nullptr && found->file.stat.kind == FileKind::Directory) {
    return redirect(request);
  }
  return answer_file(request, *std::move(found), path);
}

Response FileSite::answer_directory(const Request& request, std::string_view path) const {
  if (!options_.index.empty()) {
    thread_local std::string index;  // keeps its memory from one request to the next
    index.assign(path).append(options_.index);
    Result<FoundFile> found = caches_.local().find(index);
    if (!found && found.error().code() != Errc::NotFound) return error_response(found.error());
    const bool is_file =
        found && (found->cached != nullptr || found->file.stat.kind == FileKind::Regular);
    if (is_file) return answer_file(request, *std::move(found), index);
  }
  if (!options_.listing) return Status::NotFound;
  return list(request, path);
}

Response FileSite::answer_file(const Request& request, FoundFile found,
                               std::string_view path) const {
  return file_response(head_of(request), std::move(found), path, cache_control_, times_->wall());
}

// Relative links of an index need the slash. The address is made of the path that was understood,
// not of what was sent, and never begins with two slashes: those would name another host.
Response FileSite::redirect(const Request& request) const {
  std::string_view path = request.path();
  while (path.starts_with('/')) path.remove_prefix(1);
  std::string location = "/";
  append_path(location, path);
  location += '/';
  if (!request.query_string().empty()) location.append("?").append(request.query_string());
  Response response = Response::redirect(location, Status::MovedPermanently);
  if (!cache_control_.empty()) response.header("Cache-Control", cache_control_);
  return response;
}

Response FileSite::list(const Request& request, std::string_view path) const {
  Result<DirectoryListing> listing = read_directory(root_, path);
  if (!listing) return error_response(listing.error());
  const ListingSort sort = parse_sort(request.query("sort").value_or("name"));
  sort_entries(*listing, sort);
  const bool is_json = prefers_json(request.header("accept").value_or(""));
  Response response = is_json ? Response::json(listing_json(*listing, request.path()))
                              : Response::html(listing_html(*listing, request.path(), sort));
  response.header("Cache-Control", "no-cache");
  response.header("Vary", "Accept");
  response.header("X-Content-Type-Options", "nosniff");
  response.header("Content-Security-Policy",
                  "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; "
                  "form-action 'none'; frame-ancestors 'self'");
  return response;
}

}  // namespace skua::files
