// SPDX-License-Identifier: MIT
// In: MKCOL, DELETE, COPY and MOVE. Out: what they do to the disk, and their answers. A name is
// changed in its open folder, which the root has found, so that no link or concurrent rename leads
// elsewhere.
#include <cerrno>
#include <mutex>
#include <string>
#include <utility>

#include "files/dav/multistatus.hpp"
#include "files/dav/request_fields.hpp"
#include "files/dav/tree.hpp"
#include "files/dav/tree_folder.hpp"
#include "files/dav/webdav_site.hpp"
#include "skua/response.hpp"

namespace skua::files {
namespace {

/// A name in an open folder.
struct NamedPlace {
  TreeFolder folder;
  std::string name{};
  std::optional<FileStat> stat{};  ///< of what has the name, which may be a link

  [[nodiscard]] bool is_folder() const noexcept {
    return stat && stat->kind == FileKind::Directory;
  }
};

// Finds the folder of a path. Ends with: 403 for a name that is not allowed, 409 if there is no
// such folder.
Result<NamedPlace, Status> locate(const Root& root, const std::string& path) {
  if (path == "/" || !is_safe_path(path, root.policy())) return Status::Forbidden;
  const std::size_t name_begin = path.rfind('/') + 1;
  Result<OpenFile> parent = root.find(path.substr(0, name_begin));
  if (!parent && parent.error().code() == Errc::NotFound) return Status::Conflict;
  if (!parent) return tree_status(parent.error());
  NamedPlace place{.folder = TreeFolder(std::move(parent->descriptor)),
                   .name = path.substr(name_begin)};
  const Result<FileStat> stat = place.folder.stat(place.name);
  if (stat) {
    place.stat = *stat;
  } else if (stat.error().code() != Errc::NotFound) {
    return tree_status(stat.error());
  }
  return place;
}

/// The file or folder that a request is for: as a name, and open, also through a link.
struct FoundSource {
  NamedPlace place;
  OpenFile file;
  FileStat named;  // what has the name, which may be a link to the file

  [[nodiscard]] bool is_folder() const noexcept { return file.stat.kind == FileKind::Directory; }
};

// Ends with: 404, also for what clients cannot see; 403 for the folder of the site.
Result<FoundSource, Status> find_source(const DavTarget& target) {
  if (target.is_root()) return Status::Forbidden;
  Result<OpenFile> file = find_target(target);
  if (!file) return status_for(file.error().code());
  Result<NamedPlace, Status> place = locate(target.site->root(), target.path);
  if (!place) return place.error() == Status::Conflict ? Status::NotFound : place.error();
  const std::optional<FileStat> named = place->stat;
  if (!named) return Status::NotFound;
  return FoundSource{.place = *std::move(place), .file = *std::move(file), .named = *named};
}

Response failure_response(const TreeWork& work, const DavTarget& target,
                          const std::string& whole_path) {
  const auto& failures = work.failures();
  if (failures.size() == 1 && failures.front().path == whole_path) return failures.front().status;
  return status_response(failures, target.prefix);
}

TreeWork work_on(const DavTarget& target, TreeWork::Purpose purpose) {
  return {target.site->root(), target.site->options(), target.access, purpose};
}

// Removes a folder with all that is in it. Returns the answer if anything is left of it.
std::optional<Response> remove_folder(const DavTarget& target, const NamedPlace& place,
                                      const std::string& path) {
  TreeWork work = work_on(target, TreeWork::Purpose::Remove);
  const Result<TreeFolder> folder = place.folder.open_folder(place.name);
  if (!folder) return Response(tree_status(folder.error()));
  if (const auto refused = work.measure(*folder, path + '/', {})) return Response(*refused);
  if (work.remove(place.folder, place.name, path + '/')) return std::nullopt;
  return failure_response(work, target, path + '/');
}

/// A COPY or MOVE whose fields have been read.
struct Transfer {
  const DavTarget& target;
  std::string path{};  ///< of the destination, below the folder
  bool overwrites = true;
  bool is_deep = true;
  bool is_move = false;
};

// Returns why a folder cannot become the other, which may be inside of it or around it.
std::optional<Status> refuse_nesting(const DavTarget& target, const FoundSource& source,
                                     const NamedPlace& to) {
  if (to.stat &&
      (is_same_file(*to.stat, source.file.stat) || is_same_file(*to.stat, source.named))) {
    return Status::Forbidden;
  }
  const Result<OpenFile> root = target.site->root().find("/");
  if (!root) return tree_status(root.error());
  if (source.is_folder()) {
    const auto is_inside = to.folder.is_within(source.file.stat, root->stat);
    if (!is_inside) return tree_status(is_inside.error());
    if (*is_inside) return Status::Forbidden;
  }
  if (!to.stat || to.stat->kind != FileKind::Directory) return std::nullopt;
  const auto is_around = source.place.folder.is_within(*to.stat, root->stat);
  if (!is_around) return tree_status(is_around.error());
  return *is_around ? std::optional(Status::Forbidden) : std::nullopt;
}

// Opens the folder to copy, which may be a link to one.
Result<TreeFolder, Status> open_source(const Transfer& transfer, const FoundSource& source) {
  Result<TreeFolder> folder = source.place.folder.open_folder(source.place.name);
  if (folder) return *std::move(folder);
  Result<OpenFile> opened = transfer.target.site->root().find(transfer.target.path);
  if (!opened) return tree_status(opened.error());
  return TreeFolder(std::move(opened->descriptor));
}

TreeWork copying(const Transfer& transfer) {
  return work_on(transfer.target,
                 transfer.is_move ? TreeWork::Purpose::Move : TreeWork::Purpose::Copy);
}

// Returns why the source cannot be copied as a whole.
std::optional<Status> refuse_copy(const Transfer& transfer, const FoundSource& source) {
  if (!source.is_folder()) {
    const bool is_small =
        source.file.stat.size_bytes <= transfer.target.site->options().max_copy_bytes;
    return is_small ? std::nullopt : std::optional(Status::InsufficientStorage);
  }
  if (!transfer.is_deep) return std::nullopt;
  const auto from = open_source(transfer, source);
  if (!from) return from.error();
  return copying(transfer).measure(*from, transfer.target.path + '/', transfer.path + '/');
}

Response transferred(bool existed) { return existed ? Status::NoContent : Status::Created; }

Response copy_source(const Transfer& transfer, const FoundSource& source, const NamedPlace& to,
                     bool existed) {
  TreeWork work = copying(transfer);
  if (!source.is_folder()) {
    const bool replaces = existed && !to.is_folder();
    const auto copied = work.copy_file(source.file.descriptor, to.folder, to.name, replaces, true);
    return copied ? transferred(existed) : Response(tree_status(copied.error()));
  }
  const auto from = open_source(transfer, source);
  if (!from) return from.error();
  work.copy_folder(*from, transfer.target.path + '/', to.folder, to.name, transfer.path + '/',
                   transfer.is_deep);
  to.folder.sync();
  if (!work.failures().empty()) return failure_response(work, transfer.target, transfer.path + '/');
  return transferred(existed);
}

// A folder on another file system, or in a sandbox that cannot move between folders, is copied.
Response move_source(const Transfer& transfer, const FoundSource& source, const NamedPlace& to,
                     bool existed) {
  const NamedPlace& from = source.place;
  const bool replaces = existed && !to.is_folder();
  std::unique_lock lock(transfer.target.site->uploads()->naming());
  if (auto refused = check_conditions(transfer.target, source.file.stat)) {
    return *std::move(refused);
  }
  const Result<void> moved = replaces && !from.is_folder()
                                 ? from.folder.move(from.name, to.folder, to.name)
                                 : from.folder.move_beside(from.name, to.folder, to.name);
  lock.unlock();
  if (moved) {
    to.folder.sync();
    from.folder.sync();
    return transferred(existed);
  }
  if (moved.error().system_code() != EXDEV) return tree_status(moved.error());
  if (const auto refused = refuse_copy(transfer, source)) return *refused;
  Response copied = copy_source(transfer, source, to, existed);
  if (copied.status() == Status::MultiStatus || code(copied.status()) >= 300) return copied;
  TreeWork work = work_on(transfer.target, TreeWork::Purpose::Remove);
  const std::string path = transfer.target.path + (from.is_folder() ? "/" : "");
  if (work.remove(from.folder, from.name, path)) return copied;
  return failure_response(work, transfer.target, path);
}

// Reports whether the request might as well have been a GET of the source, and a DELETE and a PUT
// of the destination; and a DELETE of the source if that moves.
bool is_allowed(const Transfer& transfer, const FoundSource& source) {
  const TreeAccess& access = transfer.target.access;
  const std::string slash = source.is_folder() ? "/" : "";
  const auto may_remove = [&](const std::string& path) {
    // A DELETE of a folder may come with or without its slash.
    return access.allows(Method::Delete, path) && access.allows(Method::Delete, path + slash);
  };
  return access.allows(Method::Get, transfer.target.path + slash) &&
         (!transfer.is_move || may_remove(transfer.target.path)) &&
         access.allows(Method::Put, transfer.path + slash) && may_remove(transfer.path);
}

// A folder that is renamed takes along all that is in it.
bool has_to_be_measured(const Transfer& transfer, const FoundSource& source) {
  const TreeAccess& access = transfer.target.access;
  return source.is_folder() && (access.has_exceptions_below(transfer.target.path) ||
                                access.has_exceptions_below(transfer.path));
}

// Reports whether the tree could be removed again as a whole.
bool fits(const Transfer& transfer, const FoundSource& source) {
  if (!source.is_folder()) return true;
  const std::size_t most = transfer.target.site->options().max_tree_depth;
  const std::size_t around = depth_of_path(transfer.path) - 1;
  if (around >= most) return false;
  // Its depth does not grow.
  if (transfer.is_move && around < depth_of_path(transfer.target.path)) return true;
  if (!transfer.is_deep) return true;
  const auto from = open_source(transfer, source);
  return !from || is_at_most(*from, most - around);
}

Response carry_out(const Transfer& transfer) {
  const DavTarget& target = transfer.target;
  const auto source = find_source(target);
  if (!source) return source.error();
  if (!is_allowed(transfer, *source)) return Status::Forbidden;
  if (auto refused = check_conditions(target, source->file.stat)) return *std::move(refused);
  const auto to = locate(target.site->root(), transfer.path);
  if (!to) return to.error();
  const bool existed = to->stat.has_value();
  if (existed && !transfer.overwrites) return Status::PreconditionFailed;
  // As for uploads: links and special files are never replaced.
  const FileKind kind = to->stat.value_or(FileStat()).kind;
  if (kind != FileKind::Regular && kind != FileKind::Directory) return Status::Conflict;
  if (const auto refused = refuse_nesting(target, *source, *to)) return *refused;
  if (!fits(transfer, *source)) return Status::InsufficientStorage;
  // RFC 4918 §9.8.4: what is replaced is removed as by DELETE. A file is replaced at once.
  const bool has_to_go = to->is_folder() || (existed && source->is_folder());
  if (!transfer.is_move || has_to_be_measured(transfer, *source) ||
      (has_to_go && !can_move(source->place.folder, to->folder))) {
    if (const auto refused = refuse_copy(transfer, *source)) return *refused;
  }
  if (to->is_folder()) {
    if (auto left = remove_folder(target, *to, transfer.path)) return *std::move(left);
  } else if (has_to_go) {
    const Result<void> removed = to->folder.remove_file(to->name);
    if (!removed) return tree_status(removed.error());
  }
  return transfer.is_move ? move_source(transfer, *source, *to, existed)
                          : copy_source(transfer, *source, *to, existed);
}

Response answer_transfer(const DavTarget& target, bool is_move) {
  const Request& request = *target.request;
  const auto depth = depth_of(request);
  const auto overwrites = overwrite_of(request);
  const auto destination = request.header("Destination");
  const bool is_valid = depth && overwrites && destination &&
                        (*depth == Depth::Infinity || (*depth == Depth::Zero && !is_move));
  if (!is_valid) return Status::BadRequest;
  auto path = path_of_url(*destination, request, target.prefix);
  if (!path) return path.error();
  while (path->size() > 1 && path->ends_with('/')) path->pop_back();
  return carry_out({.target = target,
                    .path = *std::move(path),
                    .overwrites = *overwrites,
                    .is_deep = *depth == Depth::Infinity,
                    .is_move = is_move});
}

}  // namespace

Response answer_mkcol(const DavTarget& target) {
  if (target.is_root()) return Status::MethodNotAllowed;
  const auto place = locate(target.site->root(), target.path);
  if (!place) return place.error();
  const std::lock_guard lock(target.site->uploads()->naming());
  if (auto refused = check_conditions(target, place->stat)) return *std::move(refused);
  if (place->stat) return Status::MethodNotAllowed;
  const std::size_t most = target.site->options().max_tree_depth;
  if (depth_of_path(target.path) > most) return Status::InsufficientStorage;
  const Result<void> made = place->folder.make_folder(place->name);
  if (!made && made.error().system_code() == EEXIST) return Status::MethodNotAllowed;
  if (!made) return tree_status(made.error());
  place->folder.sync();
  return Status::Created;
}

Response answer_delete(const DavTarget& target) {
  if (depth_of(*target.request) != Depth::Infinity) return Status::BadRequest;
  std::unique_lock lock(target.site->uploads()->naming());
  const auto source = find_source(target);
  if (!source) return source.error();
  if (auto refused = check_conditions(target, source->file.stat)) return *std::move(refused);
  const NamedPlace& place = source->place;
  if (place.is_folder()) {
    lock.unlock();
    if (auto left = remove_folder(target, place, target.path)) return *std::move(left);
  } else {
    const Result<void> removed = place.folder.remove_file(place.name);
    if (!removed) return tree_status(removed.error());
  }
  place.folder.sync();
  return Status::NoContent;
}

Response answer_copy(const DavTarget& target) { return answer_transfer(target, false); }

Response answer_move(const DavTarget& target) { return answer_transfer(target, true); }

}  // namespace skua::files
