// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "coding/coding.hpp"
#include "files/cache/file_changes.hpp"
#include "files/etag/content_tags.hpp"
#include "files/safe_path.hpp"
#include "http/message/conditional.hpp"
#include "loop/clock.hpp"
#include "skua/response.hpp"

namespace skua::files {

/// A wall-clock time, as in file time stamps.
using WallTime = std::chrono::sys_time<std::chrono::nanoseconds>;

/// Reports whether a file was modified so shortly before `now` that another write could leave the
/// same time stamp. RFC 9110 §8.8.2.2 has a similar rule for Last-Modified.
bool is_just_modified(const FileStat& stat, WallTime now) noexcept;

/// Like is_just_modified(), but also for the inode change time, which moves even if the
/// modification time is set back.
bool has_recent_timestamps(FileStat stat, WallTime now) noexcept;

/// Returns the entity tag of a file, including its quotes: `"1f4-5c0b2a9d3e8f7a61"`, the size and a
/// digest of modification time (nanoseconds), size and inode.
///
/// The tag is weak until the file has been unchanged for two seconds, unless this process has
/// written it: two writes in one tick of the file system's clock have the same time stamp, so a
/// strong tag could name both. The strong tag that follows has another text, because it may name
/// what was written last.
/// The inode tells files apart when a deployment sets a fixed time on all. It is hashed, because
/// the plain inode number in a tag is an information leak.
std::string make_etag(const FileStat& stat, WallTime now);

/// The clocks of a file cache; tests substitute their own.
class TimeSource {
 public:
  TimeSource() = default;
  TimeSource(const TimeSource&) = delete;
  TimeSource& operator=(const TimeSource&) = delete;
  virtual ~TimeSource() = default;

  /// Returns a monotonic time, for ages.
  [[nodiscard]] virtual loop::Instant now() const noexcept {
    return std::chrono::steady_clock::now();
  }
  /// Returns the wall-clock time, to compare with file time stamps.
  [[nodiscard]] virtual WallTime wall() const noexcept { return std::chrono::system_clock::now(); }
};

/// The parts that the responses for the files of one site have in common.
struct FileFields {
  std::string cache_control{};  ///< empty: no Cache-Control
  std::string fixed_type{};     ///< media type of all; empty: by their names
  bool siblings = false;        ///< `app.js.br` and the like are sent for `app.js`
  bool made = false;            ///< text is compressed by the server
  /// The tags of files by their content; null: tags are made of the files' states.
  const ContentTags* tags = nullptr;
  RecentStates* recent = nullptr;  ///< shared by the threads of the site; null: there is one thread

  /// Reports whether the response for such a file depends on Accept-Encoding.
  [[nodiscard]] bool vary(std::string_view type) const noexcept;
};

/// The metadata of a file in a response.
struct FileHead {
  std::string etag{};           ///< including its quotes; empty: not known
  std::string last_modified{};  ///< never in the future (RFC 9110 §8.8.2.1); empty: unknown
  std::string_view type{};      ///< media type: static, or of the FileFields
  std::string_view coding{};    ///< Content-Encoding, with static lifetime; empty: none
  bool varies = false;          ///< with Accept-Encoding
  std::chrono::sys_seconds modified{};

  [[nodiscard]] http::Validators validators() const noexcept SKUA_LIFETIMEBOUND {
    if (last_modified.empty()) return {.etag = etag};
    return {.etag = etag, .modified = modified};
  }
};

/// Returns the end of a sibling's name: `.br`, `.gz`, `.zst`; empty for other codings.
std::string_view sibling_suffix(coding::Coding coding) noexcept;

/// Describes the file at `path` in this state, as of `now`; or a sibling of it with this state.
/// `text` is its content, if that has been read. It has no tag if tags are those of content, and
/// the content is not known yet, or may be about to change.
FileHead describe(std::string_view path, const FileStat& stat, WallTime now,
                  const FileFields& fields = {},
                  std::optional<coding::Coding> coding = std::nullopt,
                  std::optional<std::string_view> text = std::nullopt);

/// Describes what compressing a file makes of it. Its tag is weak: another version of the library
/// may make other bytes.
///
/// RFC:       9110 §8.8.3.3
FileHead coded_head(const FileHead& plain, coding::Coding coding);

/// See http::Validators::is_version: a file's tag, its weak form, and those of coded_head().
bool names_file_version(http::EntityTag tag, http::EntityTag own) noexcept;

/// Returns the Cache-Control value for `max_age`; empty if the field is to be omitted.
std::string cache_control(std::chrono::seconds max_age);

/// Adds ETag, Last-Modified, Cache-Control and Vary, which 200, 206 and 304 share.
///
/// RFC:       9110 §15.3.7, §15.4.5
void add_validators(Response& response, const FileHead& head, std::string_view cache_control);

/// Returns 200 with the whole file, its type, coding, validators and Accept-Ranges.
Response whole_response(const FileHead& head, Body body, std::string_view cache_control);

/// Returns 304. RFC 9110 §15.4.5
Response unchanged_response(const FileHead& head, std::string_view cache_control);

}  // namespace skua::files
