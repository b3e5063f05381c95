// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "files/safe_path.hpp"
#include "files/save.hpp"
#include "files/upload/folder.hpp"
#include "files/upload/unfinished_uploads.hpp"
#include "files/upload/upload_fields.hpp"
#include "skua/error.hpp"
#include "skua/request.hpp"
#include "skua/status.hpp"
#include "skua/upload_options.hpp"

namespace skua::files {

/// A folder that accepts uploads. Any thread may use it.
class UploadSite final {
 public:
  /// `keeps_properties`: a file that replaces another gets its WebDAV properties.
  UploadSite(Root root, UploadOptions options, bool keeps_properties = false)
      : root_(std::move(root)),
        options_(options),
        keeps_properties_(keeps_properties),
        uploads_(uploads_of(root_)) {}

  [[nodiscard]] const Root& root() const noexcept { return root_; }
  [[nodiscard]] const UploadOptions& options() const noexcept { return options_; }
  [[nodiscard]] bool keeps_properties() const noexcept { return keeps_properties_; }
  [[nodiscard]] std::mutex& naming() const noexcept { return uploads_->naming; }
  [[nodiscard]] UnfinishedUploads& unfinished() const noexcept { return uploads_->unfinished; }

 private:
  Root root_;
  UploadOptions options_;
  bool keeps_properties_;
  std::shared_ptr<FolderUploads> uploads_;
};

/// The end of an upload, as its client is told.
struct UploadResult {
  Status status = Status::Created;
  std::string_view reason{};  ///< of an error, with static lifetime
  std::string etag{};         ///< of the new file
};

/// One file on its way into a folder: written under a temporary name, then renamed. Its calls
/// block.
///
/// The temporary file is locked while it is in use, so that remove_unfinished() can tell those that
/// a killed process left behind.
///
/// Lifetime:  if destroyed before commit() succeeds, it removes the temporary file.
class UploadFile final : public SavedFile {
 public:
  /// `path` is the canonical path below the site's root. `conditions` is the request whose
  /// preconditions the file must meet; null: none.
  UploadFile(std::shared_ptr<const UploadSite> site, std::string path,
             std::shared_ptr<const Request> conditions);
  ~UploadFile() override;

  /// Creates the temporary file. Returns the reason if the upload is bound to fail: 404 if there is
  /// no folder for the file, 403, 409 or 412.
  std::optional<UploadResult> begin();
  /// Like begin(), for an upload that can be resumed: `state` is kept beside its temporary file,
  /// whose name nobody can guess.
  std::optional<UploadResult> begin_part(const PartState& state);
  /// Opens the temporary file of begin_part() again, to append to it. Returns the reason if that is
  /// not possible: 404, or 423 if another process has it.
  std::optional<UploadResult> resume_part(const std::string& token);
  /// Replaces the state of a part.
  Result<void> keep_state(const PartState& state);
  /// The secret part of the temporary file's name.
  [[nodiscard]] std::string token() const;
  [[nodiscard]] Result<FileStat> stat() const noexcept;
  /// Closes the temporary file and keeps it, for resume_part().
  void leave() noexcept;
  Result<void> write(std::string_view text) override;
  /// Waits until the content is on the disk.
  Result<void> keep() override;
  /// Gives the file its name. Returns 201, 204, 409, 412 or 5xx.
  UploadResult commit();

 private:
  [[nodiscard]] std::optional<UploadResult> check(const Result<FileStat>& current) const;
  [[nodiscard]] std::optional<UploadResult> open_folder();
  struct NewFile {
    Descriptor file{};
    std::string name{};
  };
  [[nodiscard]] Result<NewFile> create(std::size_t name_bytes) const;
  [[nodiscard]] Result<void> create_temporary(std::size_t name_bytes);
  [[nodiscard]] UploadResult take_name();
  void take_properties() const;

  std::shared_ptr<const UploadSite> site_;
  std::string path_;
  std::string name_;
  std::shared_ptr<const Request> conditions_;
  Folder folder_;
  Descriptor file_;
  std::string temporary_;  // its name; empty: there is none
  bool is_part_ = false;   // has a state beside it
};

/// Returns the tag by which the conditions of an upload know a file. It is strong at once, unlike
/// that of a file that was written a moment ago: each upload is another inode, so that no two have
/// the same tag.
std::string strong_etag(const FileStat& stat);

/// How many random bytes keep temporary names apart; more keep one secret.
inline constexpr std::size_t short_name_bytes = 8;
/// Returns a new temporary name with this many random bytes.
Result<std::string> unfinished_name(std::size_t bytes = short_name_bytes);

/// Returns the result for a file system error: 507 for a full disk, 413 for a file that is too long
/// for the file system.
UploadResult failed(const Error& error) noexcept;

}  // namespace skua::files
