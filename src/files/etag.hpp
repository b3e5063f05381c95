// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <string>

#include "files/safe_path.hpp"

namespace skua::files {

/// A point of civil time, as file systems stamp it.
using WallTime = std::chrono::sys_time<std::chrono::nanoseconds>;

/// Whether a file was written so shortly before `now` that another write of the same size could
/// leave the very same time stamp. RFC 9110 §8.8.2.2 draws the same line for Last-Modified.
bool is_just_modified(const FileStat& stat, WallTime now) noexcept;

/// The entity tag of a file, quotes included: `"1f4-5c0b2a9d3e8f7a61"`, size and a digest of its
/// state.
///
/// Strong once the file has been left alone for two seconds, weak before: two writes within one
/// tick of the file system's clock have the same time stamp, and a strong tag would call them the
/// same. Made of modification time (nanoseconds), size and inode. The inode tells apart what a
/// deployment gives one fixed time; it is mixed in irrecoverably, as its plain number was once an
/// information leak.
std::string make_etag(const FileStat& stat, WallTime now);

}  // namespace skua::files
