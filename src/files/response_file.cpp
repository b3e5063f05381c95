// SPDX-License-Identifier: MIT
// Response::file and Router::file: a single file as a response, and at a URL.
#include "files/file_body.hpp"
#include "files/file_head.hpp"
#include "files/file_site.hpp"
#include "files/safe_path.hpp"
#include "files/time_source.hpp"
#include "skua/response.hpp"
#include "skua/router.hpp"

#include <chrono>
#include <memory>
#include <string>
#include <utility>

namespace skua {
namespace {

// Splits a path into its folder, and its last component with a leading slash.
std::pair<std::string, std::string> split_path(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == path.npos) return {".", "/" + path};
  return {slash == 0 ? "/" : path.substr(0, slash), path.substr(slash)};
}

}  // namespace

Response Response::file(const std::string& path, std::string_view type) {
  files::FilePlace place{.path = path};
  Result<files::OpenFile> file = place.open();
  if (!file) return status_for(file.error().code());
  const files::FileStat stat = file->stat;
  if (stat.kind != files::FileKind::Regular) return Status::NotFound;
  const files::FileHead head = files::describe(path, stat, std::chrono::system_clock::now());
  Body body;
  if (stat.size_bytes != 0) {
    body = files::file_body(*std::move(file), std::move(place), {0, stat.size_bytes});
  }
  Response response(Status::Ok, std::move(body), type.empty() ? head.type : type);
  files::add_validators(response, head, {});
  response.header("X-Content-Type-Options", "nosniff");
  return response;
}

Router& Router::file(Pattern<0> url, const std::string& path, const FileOptions& options,
                     Where where) {
  auto [folder, file_name] = split_path(path);
  // The program names the file, so a leading dot does not hide it.
  const files::PathPolicy policy{.dotfiles = true, .follow_symlinks = options.follow_symlinks};
  files::Root root = files::Root::open(folder, policy).value();
  if (root.find(file_name).value().stat.kind != files::FileKind::Regular) {
    throw Exception(Error(Errc::NotFound, "Router::file: not a regular file"));
  }
  const auto site = std::make_shared<const files::FileSite>(std::move(root), options,
                                                            std::make_unique<files::TimeSource>());
  return get(
      url,
      [site, name = std::move(file_name)](const Request& request) {
        return site->answer(request, name);
      },
      where);
}

}  // namespace skua
