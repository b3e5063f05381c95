// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <string>

#include "files/safe_path.hpp"

namespace skua::files {

/// A wall-clock time, as in file time stamps.
using WallTime = std::chrono::sys_time<std::chrono::nanoseconds>;

/// Reports whether a file was modified so shortly before `now` that another write could leave the
/// same time stamp. RFC 9110 §8.8.2.2 has a similar rule for Last-Modified.
bool is_just_modified(const FileStat& stat, WallTime now) noexcept;

/// Returns the entity tag of a file, including its quotes: `"1f4-5c0b2a9d3e8f7a61"`, the size and a
/// digest of modification time (nanoseconds), size and inode.
///
/// The tag is weak until the file has been unchanged for two seconds, then strong: two writes in
/// one tick of the file system's clock have the same time stamp, so a strong tag could name both.
/// The inode tells files apart when a deployment sets a fixed time on all. It is hashed, because
/// the plain inode number in a tag is an information leak.
std::string make_etag(const FileStat& stat, WallTime now);

}  // namespace skua::files
