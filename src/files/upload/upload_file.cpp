// SPDX-License-Identifier: MIT
// In: the pieces of a file. Out: a file that has its name once all of it is on the disk, or
// nothing. Conditions are checked twice: before the content, to save the client the way, and again
// together with the renaming, which alone decides.
#include "files/upload/upload_file.hpp"

#include <cerrno>
#include <chrono>
#include <memory>
#include <utility>

#include "crypto/random.hpp"
#include "files/cache/file_changes.hpp"
#include "files/dav/dead_properties.hpp"
#include "files/file_head.hpp"
#include "files/site_answer.hpp"
#include "http/message/conditional.hpp"

namespace skua::files {
namespace {

constexpr int max_tries = 16;
// 128 bits: the name of a part is all that its client has to know.
constexpr std::size_t secret_bytes = 16;

}  // namespace

std::string strong_etag(const FileStat& stat) {
  const WallTime modified{std::chrono::nanoseconds(stat.modified_ns)};
  return make_etag(stat, modified + std::chrono::hours(1));
}

Result<std::string> unfinished_name(std::size_t bytes) {
  const Result<std::string> token = crypto::random_token(bytes);
  if (!token) return token.error();
  return std::string(unfinished_prefix) + *token;
}

UploadResult failed(const Error& error) noexcept {
  switch (error.system_code()) {
    case ENOSPC:
#if defined(EDQUOT)
    case EDQUOT:
#endif
      return {.status = Status::InsufficientStorage, .reason = "the disk is full"};
    case EFBIG:
      return {.status = Status::ContentTooLarge,
              .reason = "the disk cannot hold files of this size"};
    default: return {.status = status_for(error.code()), .reason = message(error.code())};
  }
}

UploadFile::UploadFile(std::shared_ptr<const UploadSite> site, std::string path,
                       std::shared_ptr<const Request> conditions)
    : site_(std::move(site)),
      path_(std::move(path)),
      name_(path_.substr(path_.rfind('/') + 1)),
      conditions_(std::move(conditions)) {}

UploadFile::~UploadFile() {
  if (temporary_.empty()) return;
  folder_.remove(temporary_);
  if (is_part_) folder_.remove(temporary_ + std::string(state_suffix));
  close_off_loop(std::move(file_));
}

std::optional<UploadResult> UploadFile::begin() {
  if (auto refused = open_folder()) return refused;
  if (auto refused = check(folder_.stat(name_))) return refused;
  if (const auto created = create_temporary(short_name_bytes); !created)
    return failed(created.error());
  return std::nullopt;
}

std::optional<UploadResult> UploadFile::begin_part(const PartState& state) {
  if (auto refused = open_folder()) return refused;
  if (auto refused = check(folder_.stat(name_))) return refused;
  if (const auto created = create_temporary(secret_bytes); !created) return failed(created.error());
  is_part_ = true;
  if (const auto kept = keep_state(state); !kept) return failed(kept.error());
  return std::nullopt;
}

std::optional<UploadResult> UploadFile::resume_part(const std::string& token) {
  if (auto refused = open_folder()) return refused;
  std::string name = std::string(unfinished_prefix) + token;
  Descriptor file(folder_.open(name, O_WRONLY | O_APPEND));
  if (!file) return UploadResult{Status::NotFound, "there is no such upload"};
  if (!disk::lock(file.number())) {
    return UploadResult{Status::Locked, "another process has the upload"};
  }
  // It may have been removed, or completed, before it was locked.
  const Result<FileStat> opened = disk::stat_of(file.number());
  const Result<FileStat> found = folder_.stat(name);
  if (!opened || !found || opened->inode != found->inode || opened->kind != FileKind::Regular) {
    return UploadResult{Status::NotFound, "there is no such upload"};
  }
  file_ = std::move(file);
  temporary_ = std::move(name);
  is_part_ = true;
  return std::nullopt;
}

Result<void> UploadFile::keep_state(const PartState& state) {
  const Result<NewFile> made = create(short_name_bytes);
  if (!made) return made.error();
  Result<void> written = write_all(made->file.number(), to_text(state));
  if (written && folder_.rename(made->name, temporary_ + std::string(state_suffix)) != 0) {
    written = Error::from_system(errno, "rename");
  }
  if (!written) folder_.remove(made->name);
  return written;
}

std::string UploadFile::token() const { return temporary_.substr(unfinished_prefix.size()); }

Result<FileStat> UploadFile::stat() const noexcept { return disk::stat_of(file_.number()); }

void UploadFile::leave() noexcept {
  temporary_.clear();
  file_ = Descriptor();
}

std::optional<UploadResult> UploadFile::open_folder() {
  if (name_.empty()) return UploadResult{Status::Conflict, "the path names a folder"};
  if (!is_safe_path(path_, site_->root().policy())) {
    return UploadResult{Status::Forbidden, "the name is not allowed"};
  }
  const std::string_view parent = std::string_view(path_).substr(0, path_.size() - name_.size());
  Result<OpenFile> folder = site_->root().find(parent);
  if (!folder && folder.error().code() == Errc::NotFound) {
    return UploadResult{Status::NotFound, "there is no such folder"};
  }
  if (!folder) return failed(folder.error());
  folder_ = Folder(std::move(folder->descriptor));
  return std::nullopt;
}

std::optional<UploadResult> UploadFile::check(const Result<FileStat>& current) const {
  const bool exists = current.has_value();
  if (!exists && current.error().code() != Errc::NotFound) return failed(current.error());
  if (conditions_ != nullptr) {
    http::Validators validators{.exists = exists, .is_version = names_file_version};
    const std::string etag = exists ? strong_etag(*current) : std::string();
    const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
    if (exists) {
      validators.etag = etag;
      validators.modified = std::chrono::floor<std::chrono::seconds>(
          WallTime{std::chrono::nanoseconds(current->modified_ns)});
    }
    const auto met = http::check_preconditions(head_of(*conditions_), validators, now);
    if (met == http::Precondition::Failed) {
      return UploadResult{Status::PreconditionFailed, "the file is not as expected"};
    }
  }
  if (!exists) return std::nullopt;
  if (current->kind != FileKind::Regular) {
    return UploadResult{Status::Conflict, "the name is taken, but not by a file"};
  }
  if (site_->options().overwrite) return std::nullopt;
  return UploadResult{Status::Conflict, "there is a file with this name"};
}

Result<UploadFile::NewFile> UploadFile::create(std::size_t name_bytes) const {
  for (int i = 0; i < max_tries; ++i) {
    Result<std::string> name = unfinished_name(name_bytes);
    if (!name) return name.error();
    Descriptor file(folder_.create(*name));
    if (!file && errno == EEXIST) continue;
    if (!file) return Error::from_system(errno, "create");
    // A site that opens now may have taken it for a remnant before it was locked.
    const bool is_locked = disk::lock(file.number());
    const Result<FileStat> made = disk::stat_of(file.number());
    const Result<FileStat> found = folder_.stat(*name);
    if (!is_locked || !made || !found || found->inode != made->inode) continue;
    return NewFile{std::move(file), *std::move(name)};
  }
  return Error(Errc::Overloaded, "create");
}

Result<void> UploadFile::create_temporary(std::size_t name_bytes) {
  Result<NewFile> made = create(name_bytes);
  if (!made) return made.error();
  file_ = std::move(made->file);
  temporary_ = std::move(made->name);
  return {};
}

Result<void> UploadFile::write(std::string_view text) { return write_all(file_.number(), text); }

Result<void> UploadFile::keep() {
  return disk::sync(file_.number()) == 0 ? Result<void>() : Error::from_system(errno, "fsync");
}

UploadResult UploadFile::commit() {
  UploadResult result = take_name();
  if (code(result.status) < 300) folder_.sync();
  return result;
}

// RFC 4918 §9.7.1: PUT leaves the properties of a file as they are.
void UploadFile::take_properties() const {
  const Result<OpenFile> replaced = site_->root().find(path_);
  if (replaced) copy_properties(replaced->descriptor.number(), file_.number());
}

UploadResult UploadFile::take_name() {
  const Result<FileStat> made = disk::stat_of(file_.number());
  if (!made) return failed(made.error());
  const std::lock_guard lock(site_->naming());
  for (int i = 0; i < max_tries; ++i) {
    const Result<FileStat> current = folder_.stat(name_);
    if (auto refused = check(current)) return *std::move(refused);
    if (current && site_->keeps_properties()) take_properties();
    // A file that has appeared since then is not replaced: its state has not been checked.
    const int renamed =
        current ? folder_.rename(temporary_, name_) : folder_.rename_beside(temporary_, name_);
    if (renamed == 0) {
      if (is_part_) folder_.remove(temporary_ + std::string(state_suffix));
      temporary_.clear();
      note_written(*made);
      return {.status = current ? Status::NoContent : Status::Created, .etag = strong_etag(*made)};
    }
    if (errno != EEXIST) return failed(Error::from_system(errno, "rename"));
  }
  return {.status = Status::Conflict, .reason = "the file keeps changing"};
}

}  // namespace skua::files
