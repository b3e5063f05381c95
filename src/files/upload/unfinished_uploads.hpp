// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "files/safe_path.hpp"
#include "skua/bytes.hpp"
#include "skua/upload_options.hpp"

namespace skua::files {

class Folder;
class PartWriter;

/// The end of the name of a part's state.
inline constexpr std::string_view state_suffix = ".state";

/// Reports whether a text can be the secret part of a temporary file's name.
bool is_part_token(std::string_view token) noexcept;

/// How long a part is kept that has no content yet: its client has begun it to send some.
inline constexpr std::chrono::seconds keep_empty = std::chrono::minutes(10);

/// How much more than what has arrived is reserved for an upload of unknown length.
inline constexpr std::uint64_t reserved_step_bytes = 64_MiB;

/// Reports whether a part has not grown for so long that it is to be removed.
bool is_expired(const FileStat& part, std::chrono::seconds keep) noexcept;

/// A resumable upload that is not finished.
struct UnfinishedUpload {
  std::string folder{};  ///< with a slash at its end, below the root
  std::uint64_t reserved_bytes = 0;
  std::string client{};                  ///< who has begun it; empty: nobody in particular
  std::shared_ptr<PartWriter> writer{};  ///< of the request that sends it now, until it has left
};

/// A resumable upload that is complete.
struct FinishedUpload {
  std::string token{};
  std::string owner{};
  std::uint64_t size_bytes = 0;
};

/// The facts by which an upload is counted.
struct UploadClaim {
  std::string folder{};
  std::optional<std::uint64_t> length_bytes{};  ///< of the whole file, if it is known
  std::uint64_t size_bytes = 0;                 ///< of what has arrived
  std::string client{};
};

/// Bounds the resumable uploads of a folder that are not finished, those of each client to a
/// quarter of all, and remembers some that are, for clients that did not get their answer. Any
/// thread may use it.
class UnfinishedUploads final {
 public:
  /// Adds an upload; one of unknown length counts as what has arrived and a step. Returns false if
  /// there are too many.
  bool add(const std::string& token, UploadClaim claim, const UploadOptions& limits);
  /// Adds an upload that another process has begun, however many there are.
  void adopt(const std::string& token, UploadClaim claim, const UploadOptions& limits);
  /// Reserves as many bytes for an upload. Returns false if there are too few.
  bool reserve(const std::string& token, std::uint64_t size_bytes, const UploadOptions& limits);
  void remove(const std::string& token);
  void finish(FinishedUpload upload);
  [[nodiscard]] std::optional<FinishedUpload> find_finished(std::string_view token) const;
  /// Waits for other threads that take over or complete the upload, and keeps them out.
  [[nodiscard]] std::unique_lock<std::mutex> lock(const std::string& token);
  /// Sets the writer of an upload. Returns the one that had it, which must leave it.
  std::shared_ptr<PartWriter> exchange_writer(const std::string& token,
                                              std::shared_ptr<PartWriter> writer);
  /// Forgets the writer of an upload, unless another has come since.
  void drop_writer(const PartWriter& writer) noexcept;
  /// Returns the tokens and folders of uploads that no request sends now.
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> idle() const;

 private:
  [[nodiscard]] bool has_room(const std::string& token, const std::string& client,
                              std::uint64_t wanted_bytes, const UploadOptions& limits) const;

  std::array<std::mutex, 16> turns_;  // each for some of the tokens; held while the disk works
  mutable std::mutex mutex_;
  std::map<std::string, UnfinishedUpload> uploads_;
  std::deque<FinishedUpload> finished_;
};

/// Shared by the sites of a folder, which come and go with the settings, while uploads go on.
struct FolderUploads {
  UnfinishedUploads unfinished{};
  /// Held from the check of an upload's conditions until it has its name, so that of two uploads
  /// that replace the same version only one does.
  std::mutex naming{};
};

/// Returns what the sites of a folder share in this process.
std::shared_ptr<FolderUploads> uploads_of(const Root& root);

/// Removes a part and its state, or a state whose part is gone, unless a request sends it now.
/// Returns whether it did.
bool remove_part(const Folder& folder, const std::string& token);

/// Removes the temporary files of uploads, in the folder and those below it, that no process uses.
/// Parts of uploads that can be resumed stay, and are added to `kept` if it is not null.
void remove_unfinished(const std::string& directory, const UploadOptions& options = {},
                       UnfinishedUploads* kept = nullptr);

}  // namespace skua::files
