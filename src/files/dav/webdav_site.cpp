// SPDX-License-Identifier: MIT
// In: requests of WebDAV clients. Out: their answers. Content is read here, on the loop; the rest
// is done off the loop, as nearly all of it waits for the disk.
#include "files/dav/webdav_site.hpp"

#include <chrono>
#include <cstddef>
#include <functional>

#include "async/off_loop.hpp"
#include "files/cache/file_changes.hpp"
#include "files/dav/multistatus.hpp"
#include "files/dav/request_fields.hpp"
#include "files/dav/tree_folder.hpp"
#include "files/file_head.hpp"
#include "files/site_answer.hpp"
#include "files/upload/upload_site.hpp"
#include "http/message/conditional.hpp"
#include "http/message/request_body.hpp"
#include "skua/async.hpp"
#include "skua/router.hpp"
#include "skua/webdav.hpp"
#include "xml/xml.hpp"

namespace skua {
namespace files {
namespace {

constexpr std::size_t max_xml_bytes = 65'536;
// Most requests that change trees are done in no time, and a client that removes many files does
// not expect to be refused.
constexpr Duration permit_patience = 10s;
constexpr std::string_view allowed_methods =
    "OPTIONS, GET, HEAD, PUT, DELETE, MKCOL, COPY, MOVE, PROPFIND, PROPPATCH";

using DavSite = std::shared_ptr<const WebDavSite>;
using Target = std::shared_ptr<const DavTarget>;

Response options_response() {
  Response response(Status::Ok, "");
  response.header("Allow", allowed_methods);
  response.header("DAV", "1");
  response.header("MS-Author-Via", "DAV");  // or Windows asks for FrontPage first
  return response;
}

std::string etag_of_url(const DavTarget& target, std::string_view url) {
  const auto path = path_of_url(url, *target.request, target.prefix);
  if (!path || !target.access.allows(Method::Get, *path)) return {};
  const Result<OpenFile> found = target.site->root().find(*path);
  if (!found || found->stat.kind != FileKind::Regular) return {};
  return strong_etag(found->stat);
}

using Answer = std::function<Response(const Target& target)>;

Task<Response> answer_off_loop(Target target, Answer answer) {
  Response response = co_await async::off_loop(&Answer::operator(), answer, target);
  co_return response;
}

Task<Response> change_tree(Target target, Answer answer) {
  auto waiting = tree_permits().acquire(permit_patience);
  const async::Semaphore::Permit permit = co_await waiting;
  if (!permit) co_return Response(Status::ServiceUnavailable).header("Retry-After", "30");
  // The call has the permit: it goes on if the client leaves.
  const Answer change = [answer, permit](const Target& one) { return answer(one); };
  auto answering = answer_off_loop(std::move(target), change);
  Response response = co_await answering;
  co_return response;
}

using XmlAnswer = std::function<Response(const Target& target, std::string_view content)>;

Task<Response> answer_with_content(Target target, Request& request, XmlAnswer answer) {
  if (http::has_coding(request)) co_return Error(Errc::UnsupportedCoding, "Content-Encoding");
  auto reading = request.text(max_xml_bytes);
  const std::string content = co_await reading;
  const Answer read = [content, answer](const Target& one) { return answer(one, content); };
  auto answering = answer_off_loop(std::move(target), read);
  Response response = co_await answering;
  co_return response;
}

// RFC 4918 §9.3: content of a kind that the server does not know is refused.
Task<Response> answer_without_content(Target target, Request& request, Answer answer) {
  const std::optional<Bytes> piece = co_await request.read();
  if (piece && !piece->empty()) co_return Status::UnsupportedMediaType;
  auto answering = answer_off_loop(std::move(target), std::move(answer));
  Response response = co_await answering;
  co_return response;
}

// Returns why a PUT is refused by If; 200 if it is not.
Response answer_to_if(const Target& target) {
  const Result<OpenFile> found = find_target(*target);
  const auto current = found ? std::optional(found->stat) : std::nullopt;
  return check_if_field(*target, current).value_or(Response(Status::Ok));
}

Task<Response> put_under_condition(Target target, Request& request) {
  auto checking = answer_off_loop(target, answer_to_if);
  Response checked = co_await checking;
  if (checked.status() != Status::Ok) co_return checked;
  auto putting = answer_put(target->site->uploads(), request, target->asked_path());
  Response response = co_await putting;
  co_return response;
}

Task<Response> answer_change(const Target& target, Request& request) {
  if (is_from_another_origin(request)) {
    return detail::finished_task(
        {Status::Forbidden, "pages of other origins may not change files\n"});
  }
  const auto with_target = [](Response (*function)(const DavTarget&)) {
    return [function](const Target& one) {
      Response response = function(*one);
      note_file_change();
      return response;
    };
  };
  switch (request.method()) {
    case Method::Put:
      if (request.header("If")) return put_under_condition(target, request);
      return answer_put(target->site->uploads(), request, target->asked_path());
    case Method::Proppatch:
      return answer_with_content(target, request, [](const Target& one, std::string_view content) {
        return answer_proppatch(*one, content);
      });
    case Method::Mkcol: return answer_without_content(target, request, with_target(answer_mkcol));
    case Method::Delete: return change_tree(target, with_target(answer_delete));
    case Method::Copy: return change_tree(target, with_target(answer_copy));
    case Method::Move: return change_tree(target, with_target(answer_move));
    default:
      return detail::finished_task(
          Response(Status::MethodNotAllowed).header("Allow", allowed_methods));
  }
}

std::string_view without_slash(std::string_view path) noexcept {
  while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  return path.empty() ? "/" : path;
}

}  // namespace

const async::Semaphore& tree_permits() {
  static const async::Semaphore permits(tree_changes_at_most);
  return permits;
}

DavTarget::DavTarget(std::shared_ptr<const WebDavSite> the_site, const Request& the_request,
                     std::string_view the_path)
    : site(std::move(the_site)),
      request(detail::keep_request(the_request)),
      path(without_slash(the_path)),
      has_slash(the_path.size() > 1 && the_path.ends_with('/')),
      access(the_request, the_path) {
  std::string_view url = the_request.path();
  if (url.ends_with(the_path)) url.remove_suffix(the_path.size());
  prefix = url;
}

std::string DavTarget::url_path(bool is_folder) const {
  std::string text = prefix + path;
  if (is_folder && !text.ends_with('/')) text += '/';
  return text;
}

Result<OpenFile> find_target(const DavTarget& target) {
  return target.site->root().find(target.asked_path());
}

std::optional<Response> check_conditions(const DavTarget& target,
                                         const std::optional<FileStat>& current) {
  const bool is_file = current && current->kind == FileKind::Regular;
  const std::string etag = is_file ? strong_etag(*current) : std::string();
  http::Validators validators{
      .etag = etag, .exists = current.has_value(), .is_version = names_file_version};
  if (current) {
    validators.modified = std::chrono::floor<std::chrono::seconds>(
        WallTime{std::chrono::nanoseconds(current->modified_ns)});
  }
  const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  const auto met = http::check_preconditions(head_of(*target.request), validators, now);
  if (met != http::Precondition::Proceed) return Response(Status::PreconditionFailed);
  return check_if_field(target, current);
}

std::optional<Response> check_if_field(const DavTarget& target,
                                       const std::optional<FileStat>& current) {
  const auto text = target.request->header("If");
  if (!text) return std::nullopt;
  const auto field = IfField::parse(*text);
  if (!field) return Response(Status::BadRequest);
  const auto etag_of = [&](std::string_view url) {
    if (!url.empty()) return etag_of_url(target, url);
    const bool is_file = current && current->kind == FileKind::Regular;
    return is_file ? strong_etag(*current) : std::string();
  };
  if (field->holds(etag_of)) return std::nullopt;
  return Response(Status::PreconditionFailed);
}

Task<Response> answer_webdav(const DavSite& site, Request& request, std::string_view path) {
  switch (request.method()) {
    case Method::Get:
    case Method::Head: return detail::finished_task(site->files().answer(request, path));
    case Method::Options: return detail::finished_task(options_response());
    default: break;
  }
  const auto target = std::make_shared<const DavTarget>(site, request, path);
  if (request.method() == Method::Propfind) {
    return answer_with_content(target, request, answer_propfind);
  }
  return answer_change(target, request);
}

}  // namespace files

WebDavHandler::WebDavHandler(std::shared_ptr<const files::WebDavSite> site) noexcept
    : site_(std::move(site)) {}

Result<WebDavHandler, Problem> WebDavHandler::open(const std::string& directory,
                                                   WebDavOptions options) {
  if (!files::has_tree_folders()) {
    return Problem::from(Error(Errc::Unsupported, "WebDAV on this system"));
  }
  if (!xml::is_available()) {
    return Problem::from(Error(Errc::Unsupported, "WebDAV without expat"));
  }
  const files::PathPolicy policy{.dotfiles = options.files.dotfiles,
                                 .follow_symlinks = options.files.follow_symlinks};
  Result<files::Root> read = files::Root::open(directory, policy);
  if (!read) return files::could_not("open the folder", directory, read.error());
  Result<files::Root> written = files::Root::open(directory, policy);
  if (!written) return files::could_not("open the folder", directory, written.error());
  files::remove_unfinished(directory);
  FileOptions shown = options.files;
  shown.check_interval = {};  // clients see their own changes at once
  const UploadOptions uploads{.max_bytes = options.max_bytes,
                              .overwrite = true,
                              .dotfiles = shown.dotfiles,
                              .follow_symlinks = shown.follow_symlinks};
  auto files = std::make_shared<const files::FileSite>(*std::move(read), std::move(shown),
                                                       std::make_unique<files::TimeSource>());
  auto upload_site = std::make_shared<const files::UploadSite>(*std::move(written), uploads, true);
  return WebDavHandler(std::make_shared<const files::WebDavSite>(
      std::move(files), std::move(upload_site), std::move(options)));
}

Task<Response> WebDavHandler::operator()(Request& request) const {
  return answer_at(request, files::path_below_route(request));
}

Task<Response> WebDavHandler::answer_at(Request& request, std::string_view path) const {
  return files::answer_webdav(site_, request, path);
}

Router& Router::webdav(Prefix prefix, const std::string& directory, const WebDavOptions& options,
                       Where where) {
  const WebDavHandler handler = WebDavHandler::open(directory, options).value();
  const auto answer_prefix = [handler](Request& request) {
    return handler.answer_at(request, request.path().ends_with('/') ? "/" : "");
  };
  Router folder;
  for (const Method method : {Method::Options, Method::Put, Method::Delete, Method::Mkcol,
                              Method::Copy, Method::Move, Method::Propfind, Method::Proppatch}) {
    folder.route(method, "/", answer_prefix, where);
    folder.route(method, "/{path...}", handler, where);
  }
  // Plain handlers: reading files needs no coroutine.
  const auto site = handler.site_;
  const auto read_prefix = [site](const Request& request) {
    return site->files().answer(request, request.path().ends_with('/') ? "/" : "");
  };
  const auto read = [site](const Request& request) {
    return site->files().answer(request, files::path_below_route(request));
  };
  folder.get("/", read_prefix, where);
  folder.get("/{path...}", read, where);
  return mount(prefix, std::move(folder));
}

}  // namespace skua
