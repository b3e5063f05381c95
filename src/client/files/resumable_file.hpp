// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "skua/error.hpp"
#include "skua/url.hpp"

namespace skua::client {

/// The content that a part belongs to.
struct PartOrigin {
  std::string url{};        ///< without a name and a password
  std::string validator{};  ///< a strong ETag or a date, for If-Range; empty: not resumable
  std::optional<std::uint64_t> total_bytes{};

  bool operator==(const PartOrigin&) const noexcept = default;
};

/// Returns a URL as stored in a PartOrigin: without a name, a password and a fragment.
std::string origin_url(const Url& url);

/// A file that is downloaded in one go or in several. The part is `.NAME.part` in the folder of
/// NAME, and beside it `.NAME.part.origin` says what it is a part of. The finished file has the
/// modification time of the server's. All calls block: use it off the loop.
///
/// Ends with: SystemFailure (EBUSY), from look() and start(), if another download writes that part.
class ResumableFile {
 public:
  /// The outcome of look().
  enum class Found : std::uint8_t {
    Nothing,
    Part,   ///< of origin()
    Whole,  ///< the file itself; the validator is its time
  };
  struct Options {
    bool keeps_part = false;  ///< keeps a part that is given up, if it can be resumed
    /// Replaces neither a file nor a part that is being written: NAME-1 is tried next.
    bool never_replace = false;
  };

  ResumableFile(const std::string& path, Options options);
  ResumableFile(const ResumableFile&) = delete;
  ResumableFile& operator=(const ResumableFile&) = delete;
  ~ResumableFile() { give_up(); }

  /// Looks for an earlier part, else for the file. Ignores a part of unknown origin or of another
  /// URL; an empty URL matches any.
  Result<void> look(std::string_view url);
  [[nodiscard]] Found found() const noexcept { return found_; }
  [[nodiscard]] std::uint64_t size_bytes() const noexcept { return size_bytes_; }
  [[nodiscard]] const PartOrigin& origin() const noexcept { return origin_; }
  /// The path that the file will have or, after keep(), has.
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] const std::string& part_path() const noexcept { return part_; }
  /// The path that could not be written last: the part, its origin or the file.
  [[nodiscard]] const std::string& culprit() const noexcept { return *culprit_; }

  /// Reports whether a part that is given up now would be kept: it is not empty, and a server can
  /// be asked for the rest.
  [[nodiscard]] bool can_be_resumed() const noexcept {
    return options_.keeps_part && size_bytes_ != 0 && !origin_.validator.empty();
  }

  /// Sets another name in the same folder, before keep(); the part keeps its name.
  void rename(std::string path) { path_ = std::move(path); }
  /// Continues the part that was found.
  void append() noexcept { is_ours_ = true; }
  /// Starts anew. If the validator is empty, the part cannot be resumed.
  Result<void> start(PartOrigin origin);
  Result<void> write(std::string_view text) noexcept;
  /// Sets the modification time that keep() gives to the file.
  void set_modified(std::chrono::sys_seconds time) noexcept { modified_ = time; }
  /// Completes the file and gives it its name.
  Result<void> keep();
  /// Ends the download; removes the part if it cannot be resumed.
  void give_up() noexcept;

 private:
  Result<bool> open(int flags) noexcept;
  Result<bool> open_next(int flags);
  void number_part(int number);
  void look_for_whole();
  Result<void> write_origin();
  Result<void> take_name();
  Error failure(const std::string& culprit, const char* call) noexcept;
  Error failure(const std::string& culprit, Error error) noexcept;

  std::string path_;
  const std::string first_path_;
  const Options options_;
  std::string part_;
  std::string origin_path_;
  const std::string* culprit_ = &part_;
  PartOrigin origin_;
  std::optional<std::chrono::sys_seconds> modified_{};
  std::uint64_t size_bytes_ = 0;
  int descriptor_ = -1;
  Found found_ = Found::Nothing;
  bool is_ours_ = false;  // the part may be removed: others did not leave it
};

}  // namespace skua::client
