// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "files/upload/upload_fields.hpp"
#include "files/upload/upload_file.hpp"
#include "skua/bytes.hpp"
#include "skua/error.hpp"

namespace skua::files {

/// The file of a resumable upload while one request appends to it. Another request can end that at
/// any time, from any thread, so each call checks whether the file is still ours. Calls block,
/// except add().
///
/// Lifetime:  begin_part() and resume_part() return it to a request. Once that lets go of it, it
///            leaves what has arrived to be resumed.
class PartWriter final {
 public:
  /// `folder` is that of the file, with a slash at its end.
  PartWriter(std::shared_ptr<const UploadSite> site, std::unique_ptr<UploadFile> file,
             std::string folder, PartState state, std::uint64_t size_bytes);
  PartWriter(const PartWriter&) = delete;
  PartWriter& operator=(const PartWriter&) = delete;
  ~PartWriter();

  /// Reserves room for a file of this size. Returns false if other uploads need it. Does not block.
  bool reserve(std::uint64_t size_bytes);
  /// Takes content. Returns the number of bytes that wait for flush(). Does not block.
  std::size_t add(Bytes piece);
  /// Writes the content that was taken.
  ///
  /// Ends with: Cancelled if another request goes on with the upload. For any other error the
  ///            upload is removed.
  Result<void> flush();
  /// Waits until the content is on the disk.
  Result<void> keep();

  /// Stops writing, after a call in progress; all that was taken stays.
  void leave() noexcept;
  /// Removes the upload.
  void remove();
  /// Gives the file its name. Returns 201, 204, 409, 412 or 5xx; for errors, the upload is removed.
  UploadResult commit();
  /// Notes the length of the whole file, and reserves room for it.
  Result<void> set_length(std::uint64_t length_bytes);

  [[nodiscard]] const std::string& token() const noexcept { return token_; }
  [[nodiscard]] const std::string& folder() const noexcept { return folder_; }
  [[nodiscard]] const PartState& state() const noexcept { return state_; }
  /// The size when the request began.
  [[nodiscard]] std::uint64_t begin_bytes() const noexcept { return begin_bytes_; }
  /// The most bytes that the file may get.
  [[nodiscard]] std::uint64_t most_bytes() const noexcept;

 private:
  void remove_locked();
  Result<void> flush_locked();
  std::string take_content();

  std::shared_ptr<const UploadSite> site_;
  std::mutex mutex_;
  std::unique_ptr<UploadFile> file_;  // null: it is no longer ours
  std::mutex content_mutex_;          // never held while the disk is waited for
  std::string content_;
  std::string token_;
  std::string folder_;
  PartState state_;
  std::uint64_t begin_bytes_;
  std::uint64_t reserved_bytes_ = 0;
};

/// The beginning of a request to a resumable upload.
struct PartAccess {
  std::optional<UploadResult> refused{};
  std::shared_ptr<PartWriter> writer{};
};

/// Creates an upload of the file at `path` for a client; an empty one is nobody in particular.
/// Removes those that have expired.
PartAccess begin_part(const std::shared_ptr<const UploadSite>& site, const std::string& path,
                      const PartState& state, std::shared_ptr<const Request> conditions,
                      const std::string& client = {});

/// Takes over an upload from any request that sends it. 404 also if `owner` is not the one who
/// began it.
PartAccess resume_part(const std::shared_ptr<const UploadSite>& site, const std::string& folder,
                       const std::string& token, const std::string& owner);

}  // namespace skua::files
