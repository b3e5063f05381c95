// SPDX-License-Identifier: MIT
// In: PUT and POST requests. Out: files, and the answers that tell their clients about them.
// Content goes to the disk piece by piece; all calls that may wait for the disk are made off the
// loop.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "async/off_loop.hpp"
#include "base/ascii.hpp"
#include "files/access/tree_access.hpp"
#include "files/save.hpp"
#include "files/site_answer.hpp"
#include "files/upload/upload_answer.hpp"
#include "files/upload/upload_file.hpp"
#include "files/upload/upload_site.hpp"
#include "http/message/request_body.hpp"
#include "skua/accept.hpp"
#include "skua/async.hpp"
#include "skua/http_error.hpp"
#include "skua/multipart.hpp"
#include "skua/router.hpp"
#include "skua/uploads.hpp"

namespace skua {
namespace files {

bool is_from_another_origin(const Request& request) noexcept {
  if (const auto site = request.header("Sec-Fetch-Site")) {
    return *site != "same-origin" && *site != "none";
  }
  const auto origin = request.header("Origin");
  if (!origin) return false;
  const std::size_t scheme_end = origin->find("://");
  return scheme_end == origin->npos ||
         !ascii::equals_ignoring_case(origin->substr(scheme_end + 3), request.requested_host());
}

Response refusal(Status status, std::string_view reason) {
  return {status, Body(std::string(reason).append("\n"))};
}

std::optional<Response> refuse_upload(const UploadSite& site, const Request& request) {
  if (is_from_another_origin(request)) {
    return refusal(Status::Forbidden, "pages of other origins may not upload");
  }
  // RFC 9110 §14.5: a server that does not support partial PUT answers 400.
  if (request.header("Content-Range")) {
    return refusal(Status::BadRequest, "parts of files are not accepted");
  }
  if (http::has_coding(request)) return Error(Errc::UnsupportedCoding, "Content-Encoding");
  const auto& length = http::RequestAccess::parts(request).length_bytes;
  if (length.value_or(0) > site.options().max_bytes) return Error(Errc::BodyTooLong);
  return std::nullopt;
}

Response stored_response(const UploadResult& result, const std::string& url) {
  Response response(result.status);
  if (result.status == Status::Created) response.header("Location", url);
  if (!result.etag.empty()) response.header("ETag", result.etag);
  return response;
}

namespace {

using Site = std::shared_ptr<const UploadSite>;

// Reads content of a request, of which `left_bytes` are still allowed.
Task<std::optional<Bytes>> read_some(Request& request, std::uint64_t& left_bytes) {
  const std::optional<Bytes> piece = co_await request.read();
  if (piece && piece->size() > left_bytes) throw HttpError(Status::ContentTooLarge);
  if (piece) left_bytes -= piece->size();
  co_return piece;
}

Task<Result<std::optional<Bytes>>> read_content(Request& request, std::uint64_t& left_bytes) {
  const std::optional<Bytes> piece = co_await read_some(request, left_bytes);
  co_return piece;
}

using Pieces = std::function<Task<Result<std::optional<Bytes>>>()>;

// Writes a file and gives it its name.
Task<UploadResult> store(std::shared_ptr<UploadFile> file, Pieces pieces) {
  std::optional<UploadResult> refused = co_await async::off_loop(&UploadFile::begin, file);
  if (refused) co_return *std::move(refused);
  FileSaver saver(file);
  while (true) {
    auto reading = pieces();
    const Result<std::optional<Bytes>> read = co_await reading;
    if (!read) co_return failed(read.error());
    const std::optional<Bytes>& piece = *read;
    if (!piece) break;
    const Result<void> written = co_await saver.write(*piece);
    if (!written) co_return failed(written.error());
  }
  const Result<std::uint64_t> saved = co_await saver.end();
  if (!saved) co_return failed(saved.error());
  UploadResult result = co_await async::off_loop(&UploadFile::commit, file);
  co_return result;
}

Task<Response> put(Site site, Request& request, std::string path) {
  std::uint64_t left_bytes = site->options().max_bytes;
  const auto file =
      std::make_shared<UploadFile>(std::move(site), std::move(path), detail::keep_request(request));
  const Pieces pieces = [&request, &left_bytes] { return read_content(request, left_bytes); };
  UploadResult result = co_await store(file, pieces);
  // RFC 4918 §9.7.1: the missing folder is not the target of the request.
  if (result.status == Status::NotFound) result.status = Status::Conflict;
  if (!result.reason.empty()) co_return refusal(result.status, result.reason);
  co_return stored_response(result, url_of(request.path()));
}

// The files of one form that have been written.
struct StoredFiles {
  std::size_t count = 0;
  UploadResult last{};  // 201 if any file is new
  std::string last_name{};
  std::string names{};  // a line each

  void add(UploadResult result, std::string name) {
    if (count != 0 && last.status == Status::Created) result.status = Status::Created;
    last = std::move(result);
    names.append(name).append("\n");
    last_name = std::move(name);
    ++count;
  }
};

Response form_failed(const StoredFiles& stored, std::string_view name, const UploadResult& result) {
  std::string text(name);
  text.append(": ").append(result.reason).append("\n");
  if (stored.count != 0) text.append("written before it:\n").append(stored.names);
  return {result.status, Body(std::move(text))};
}

Response form_stored(const Request& request, StoredFiles stored) {
  if (stored.count == 0) return refusal(Status::BadRequest, "the form has no file");
  std::string folder(request.path());
  if (!folder.ends_with('/')) folder += '/';
  if (preferred_type(request, {"text/plain", "text/html"}) == "text/html") {
    return Response::redirect(url_of(folder));
  }
  if (stored.count == 1) {
    return stored_response(stored.last, url_of(folder + stored.last_name));
  }
  stored.last.etag.clear();
  return stored_response(stored.last, url_of(folder));
}

Task<Response> post(Site site, Request& request, std::string folder) {
  const TreeAccess access(request, folder);
  if (!folder.ends_with('/')) folder += '/';
  std::uint64_t left_bytes = site->options().max_bytes;
  Multipart parts(request.content_type(),
                  [&request, &left_bytes] { return read_some(request, left_bytes); });
  StoredFiles stored;
  while (true) {
    Result<std::optional<Part>> next = co_await parts.next();
    if (!next) co_return next.error();
    std::optional<Part>& part = *next;
    if (!part) break;
    // Browsers send a nameless file if none was chosen.
    if (part->filename().value_or("").empty()) continue;
    std::string name = part->safe_filename();
    if (name.empty() || !access.allows(Method::Put, folder + name)) {
      const UploadResult refused{Status::Forbidden, "its name is not allowed"};
      co_return form_failed(stored, "a file", refused);
    }
    const auto file = std::make_shared<UploadFile>(site, folder + name, nullptr);
    const Pieces pieces = [&part] { return part->read(); };
    UploadResult result = co_await store(file, pieces);
    if (!result.reason.empty()) co_return form_failed(stored, name, result);
    stored.add(std::move(result), std::move(name));
  }
  co_return form_stored(request, std::move(stored));
}

}  // namespace

Task<Response> answer_put(std::shared_ptr<const UploadSite> site, Request& request,
                          std::string path) {
  if (auto refused = refuse_upload(*site, request))
    return detail::finished_task(*std::move(refused));
  return put(std::move(site), request, std::move(path));
}

}  // namespace files

UploadHandler::UploadHandler(std::shared_ptr<const files::UploadSite> site) noexcept
    : site_(std::move(site)) {}

Result<UploadHandler, Problem> UploadHandler::open(const std::string& directory,
                                                   UploadOptions options) {
  const files::PathPolicy policy{.dotfiles = options.dotfiles,
                                 .follow_symlinks = options.follow_symlinks};
  Result<files::Root> root = files::Root::open(directory, policy);
  if (!root) return files::could_not("open the folder", directory, root.error());
  const auto site = std::make_shared<const files::UploadSite>(*std::move(root), options);
  files::remove_unfinished(directory, options, options.resumable ? &site->unfinished() : nullptr);
  return UploadHandler(site);
}

Task<Response> UploadHandler::operator()(Request& request) const {
  return answer_at(request, files::path_below_route(request));
}

Task<Response> UploadHandler::answer_at(Request& request, std::string_view path) const {
  if (site_->options().resumable && files::is_for_resumable(request, path)) {
    return files::answer_resumable(site_, request, path);
  }
  const bool is_put = request.method() == Method::Put;
  if (!is_put && request.method() != Method::Post) {
    return detail::finished_task(Response(Status::MethodNotAllowed).header("Allow", "PUT, POST"));
  }
  if (auto refused = files::refuse_upload(*site_, request)) {
    return detail::finished_task(*std::move(refused));
  }
  return is_put ? files::put(site_, request, std::string(path))
                : files::post(site_, request, std::string(path));
}

Router& Router::uploads(Prefix prefix, const std::string& directory, const UploadOptions& options,
                        Where where) {
  const UploadHandler handler = UploadHandler::open(directory, options).value();
  Router folder;
  folder.post("/", [handler](Request& request) { return handler.answer_at(request, "/"); }, where);
  folder.put("/{path...}", handler, where);
  folder.post("/{path...}", handler, where);
  if (options.resumable) {
    constexpr std::size_t part_folder_bytes = std::string_view("/.skua-uploads").size();
    const auto at_part = [handler](Request& request) {
      const std::size_t rest_bytes = files::path_below_route(request).size();
      const std::string_view path = request.path();
      return handler.answer_at(request, path.substr(path.size() - rest_bytes - part_folder_bytes));
    };
    folder.options(
        "/", [handler](Request& request) { return handler.answer_at(request, "/"); }, where);
    folder.options("/{path...}", handler, where);
    for (const Method method : {Method::Head, Method::Patch, Method::Delete, Method::Post}) {
      folder.route(method, "/.skua-uploads/{path...}", at_part, where);
    }
  }
  return mount(prefix, std::move(folder));
}

}  // namespace skua
