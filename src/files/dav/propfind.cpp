// SPDX-License-Identifier: MIT
// In: PROPFIND and PROPPATCH. Out: 207. The members of a folder are read and sent piece by piece,
// so that their number costs no memory.
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <mutex>
#include <utility>
#include <vector>

#include "async/off_loop.hpp"
#include "files/dav/dead_properties.hpp"
#include "files/dav/multistatus.hpp"
#include "files/dav/properties.hpp"
#include "files/dav/request_fields.hpp"
#include "files/dav/tree_folder.hpp"
#include "files/dav/webdav_site.hpp"
#include "files/listing/directory_index.hpp"
#include "skua/async.hpp"
#include "skua/body_writer.hpp"

namespace skua::files {
namespace {

constexpr std::size_t names_at_once = 256;
constexpr std::size_t text_at_once = 65'536;

WallTime wall_now() noexcept { return std::chrono::system_clock::now(); }

/// The answer to PROPFIND for a folder and its members, as it is made.
class MemberListing {
 public:
  MemberListing(std::shared_ptr<const DavTarget> target, PropertyQuery query, TreeFolder folder,
                NameReader reader, std::string begin) noexcept
      : target_(std::move(target)),
        query_(std::move(query)),
        folder_(std::move(folder)),
        reader_(std::move(reader)),
        text_(std::move(begin)) {}

  /// Returns the next piece; empty at the end. Blocks.
  std::string next() {
    while (!is_over_ && text_.size() < text_at_once) {
      std::vector<std::string> names;
      const Result<bool> has_more = reader_.read(names, names_at_once);
      if (!has_more) throw Exception(has_more.error());
      is_over_ = !*has_more;
      for (const std::string& name : names) append_member(name);
      if (is_over_) text_ += multistatus_end;
    }
    return std::exchange(text_, {});
  }

 private:
  void append_member(const std::string& name) {
    const Root& root = target_->site->root();
    if (!is_visible(name, root.policy())) return;
    Result<FileStat> stat = folder_.stat(name);
    if (!stat || stat->kind == FileKind::Other) return;
    const bool is_folder = stat->kind == FileKind::Directory;
    const std::string path = (target_->is_root() ? "/" : target_->path + '/') + name;
    const TreeAccess& access = target_->access;
    if (!access.shows(Method::Propfind, is_folder ? path + '/' : path, is_folder)) return;
    Descriptor file;
    if (stat->kind == FileKind::Link) {
      Result<OpenFile> found = root.find(path);
      if (!found) return;
      stat = found->stat;
      file = std::move(found->descriptor);
    } else if (query_.needs_dead()) {
      Result<Descriptor> opened = folder_.open_file(name);
      if (opened) file = *std::move(opened);
    }
    DavResource member{.path = target_->url_path(true) + name, .stat = *stat};
    if (stat->kind == FileKind::Directory) member.path += '/';
    if (file && query_.needs_dead()) member.dead = read_properties(file.number());
    append_resource(text_, member, query_, wall_now());
  }

  std::shared_ptr<const DavTarget> target_;
  PropertyQuery query_;
  TreeFolder folder_;
  NameReader reader_;
  std::string text_;
  bool is_over_ = false;
};

Task<> write_members(std::shared_ptr<MemberListing> listing, BodyWriter& writer) {
  while (true) {
    std::string text = co_await async::off_loop(&MemberListing::next, listing);
    if (text.empty()) break;
    auto written = writer.write(Body(std::move(text)));
    co_await written;
  }
}

Response members_response(const std::shared_ptr<const DavTarget>& target, PropertyQuery query,
                          OpenFile found, std::string begin) {
  TreeFolder folder(std::move(found.descriptor));
  Result<NameReader> reader = NameReader::open(folder);
  if (!reader) return status_for(reader.error().code());
  const auto listing = std::make_shared<MemberListing>(target, std::move(query), std::move(folder),
                                                       *std::move(reader), std::move(begin));
  const auto produce = [listing](BodyWriter& writer) { return write_members(listing, writer); };
  return Response::stream(dav_media_type, produce).status(Status::MultiStatus);
}

// Returns the status of a property that could not be stored.
Status storage_status(const Error& error) noexcept {
  switch (error.system_code()) {
    case ENOSPC:
    case E2BIG:
#if defined(EDQUOT)
    case EDQUOT:
#endif
      return Status::InsufficientStorage;
    default:
      return error.code() == Errc::BodyTooLong ? Status::InsufficientStorage : Status::Forbidden;
  }
}

std::optional<Status> change_properties(int file, const std::vector<PropertyChange>& changes) {
  std::vector<xml::Node> properties = read_properties(file);
  if (!apply_changes(properties, changes)) return Status::Forbidden;
  const Result<void> written = write_properties(file, properties);
  if (!written) return storage_status(written.error());
  return std::nullopt;
}

Response malformed(const Error& error) {
  if (error.code() != Errc::MalformedText) return error;
  return {Status::BadRequest, "the content is not the XML of this method\n"};
}

}  // namespace

Response answer_propfind(const std::shared_ptr<const DavTarget>& target, std::string_view content) {
  const auto depth = depth_of(*target->request);
  if (!depth) return Status::BadRequest;
  Result<PropertyQuery> query = PropertyQuery::parse(content);
  if (!query) return malformed(query.error());
  Result<OpenFile> found = find_target(*target);
  if (!found) return status_for(found.error().code());
  const bool is_folder = found->stat.kind == FileKind::Directory;
  if (is_folder && *depth == Depth::Infinity) {
    return condition_response(Status::Forbidden, "propfind-finite-depth");
  }
  if (auto refused = check_if_field(*target, found->stat)) return *std::move(refused);
  DavResource resource{.path = target->url_path(is_folder), .stat = found->stat};
  if (query->needs_dead()) resource.dead = read_properties(found->descriptor.number());
  std::string text(multistatus_begin);
  append_resource(text, resource, *query, wall_now());
  if (is_folder && *depth == Depth::One) {
    return members_response(target, *std::move(query), *std::move(found), std::move(text));
  }
  text.append(multistatus_end);
  return {Status::MultiStatus, Body(std::move(text)), dav_media_type};
}

Response answer_proppatch(const DavTarget& target, std::string_view content) {
  const auto changes = parse_property_changes(content);
  if (!changes) return malformed(changes.error());
  // Also keeps another PROPPATCH from reading what this one is about to replace.
  const std::lock_guard lock(target.site->uploads()->naming());
  const Result<OpenFile> found = find_target(target);
  if (!found) return status_for(found.error().code());
  if (auto refused = check_conditions(target, found->stat)) return *std::move(refused);
  const auto failure = change_properties(found->descriptor.number(), *changes);
  const bool is_folder = found->stat.kind == FileKind::Directory;
  std::string text = changes_text(target.url_path(is_folder), *changes, failure);
  return {Status::MultiStatus, Body(std::move(text)), dav_media_type};
}

}  // namespace skua::files
