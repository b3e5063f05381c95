// SPDX-License-Identifier: MIT
// The public API of this folder: a handler for a route with a rest wildcard, and Router::files.
#include "files/file_site.hpp"
#include "http/captures.hpp"
#include "http/request_parts.hpp"
#include "skua/files.hpp"
#include "skua/router.hpp"

#include <optional>
#include <utility>

namespace skua {

FileHandler::FileHandler(std::shared_ptr<const files::FileSite> site) noexcept
    : site_(std::move(site)) {}

Result<FileHandler> FileHandler::open(const std::string& directory, FileOptions options) {
  const files::PathPolicy policy{.dotfiles = options.dotfiles,
                                 .follow_symlinks = options.follow_symlinks};
  Result<files::Root> root = files::Root::open(directory, policy);
  if (!root) return root.error();
  return FileHandler(std::make_shared<const files::FileSite>(
      *std::move(root), std::move(options), std::make_unique<files::TimeSource>()));
}

namespace {

// Returns the match of the route's rest wildcard: the last capture, if it ends where the path does.
std::optional<std::string_view> find_rest(const Request& request) noexcept {
  const http::Captures* const captures = http::RequestAccess::captures(request);
  if (captures == nullptr || captures->count == 0) return std::nullopt;
  const std::string_view last = (*captures)[captures->count - 1];
  if (!request.path().ends_with(last)) return std::nullopt;
  return last;
}

}  // namespace

Response FileHandler::operator()(const Request& request) const {
  const std::string_view path = request.path();
  const std::optional<std::string_view> rest = find_rest(request);
  if (!rest) return site_->answer(request, path);
  // Includes the slash before the rest, as FileSite expects.
  const std::size_t begin = path.size() - rest->size();
  return site_->answer(request, path.substr(begin == 0 ? 0 : begin - 1));
}

// Redirects `/assets` to `/assets/`.
Response FileHandler::answer_prefix(const Request& request) const {
  return site_->answer(request, request.path().ends_with('/') ? "/" : "");
}

Router& Router::files(Prefix prefix, const std::string& directory, const FileOptions& options,
                      Where where) {
  const FileHandler handler = FileHandler::open(directory, options).value();
  Router folder;
  folder.get(
      "/", [handler](const Request& request) { return handler.answer_prefix(request); }, where);
  folder.get("/{path...}", handler, where);
  return mount(prefix, std::move(folder));
}

}  // namespace skua
