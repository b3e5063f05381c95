// SPDX-License-Identifier: MIT
// The file calls of POSIX, whatever the platform calls them. On POSIX systems these are the
// system's own functions. On Windows they take UTF-8 paths and set errno, too, and files are
// opened such that others may rename or remove them meanwhile.
#pragma once

#if defined(_WIN32)
#include <fcntl.h>
#else
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#endif

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "skua/error.hpp"

namespace skua::disk {

#if defined(_WIN32)

inline constexpr std::string_view separators = "/\\:";  // the colon is that of a drive
inline constexpr int close_on_exec = O_NOINHERIT | O_BINARY;
/// Opens to read. Never waits for the other end of a pipe.
inline constexpr int for_reading = O_RDONLY | close_on_exec;
/// Open files of our own, in whose place others may have put something else: no link is followed.
inline constexpr int for_appending = O_WRONLY | O_APPEND | close_on_exec;
inline constexpr int for_reading_own = for_reading;

/// Whether the name of a removed file is free although the file is still open.
inline constexpr bool frees_names_at_once = false;

int open(const char* path, int flags, int mode = 0) noexcept;
int close(int file) noexcept;
std::ptrdiff_t read(int file, void* into, std::size_t size_bytes) noexcept;
std::ptrdiff_t write(int file, const void* bytes, std::size_t size_bytes) noexcept;
/// Replaces a file, as POSIX does.
int rename(const char* from, const char* to) noexcept;
int unlink(const char* path) noexcept;
int ftruncate(int file, std::int64_t size_bytes) noexcept;

#else

inline constexpr std::string_view separators = "/";
inline constexpr int close_on_exec = O_CLOEXEC;
inline constexpr int for_reading = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
inline constexpr int for_appending = O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
inline constexpr int for_reading_own = for_reading | O_NOFOLLOW;
inline constexpr bool frees_names_at_once = true;

using ::close;
using ::ftruncate;
using ::open;
using ::read;
using ::rename;
using ::unlink;
using ::write;

#endif

/// Returns where the last name in a path begins.
constexpr std::size_t name_begin(std::string_view path) noexcept {
  return path.find_last_of(separators) + 1;  // npos + 1 is 0
}

/// Opens to read what may come through a pipe: waits for a writer that is there, but a pipe without
/// one is empty. Returns -1 and sets errno.
int open_stream(const char* path) noexcept;

/// An owned file descriptor, closed on destruction.
class Descriptor {
 public:
  Descriptor() noexcept = default;
  explicit Descriptor(int number) noexcept : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }

  [[nodiscard]] int number() const noexcept { return number_; }
  /// Releases ownership: the caller must close the descriptor.
  [[nodiscard]] int release() noexcept { return std::exchange(number_, -1); }
  explicit operator bool() const noexcept { return number_ >= 0; }

 private:
  int number_ = -1;
};

enum class FileKind : std::uint8_t { Regular, Directory, Link, Other };

/// The metadata that identifies a state of a file. Times are in nanoseconds since 1970.
struct FileStat {
  std::uint64_t size_bytes = 0;
  std::int64_t modified_ns = 0;
  std::int64_t changed_ns = 0;  ///< inode change time: covers renames, links and restored times too
  std::uint64_t inode = 0;
  std::uint64_t device = 0;
  FileKind kind = FileKind::Regular;

  friend bool operator==(const FileStat&, const FileStat&) noexcept = default;
};

/// Returns the state of an open file, or of a path's file, which for a link is the link's target
/// or the link itself.
Result<FileStat> stat_of(int file) noexcept;
Result<FileStat> stat_of(const std::string& path);
Result<FileStat> stat_of_link(const std::string& path);

/// Locks a file until it is closed. Returns false if another descriptor holds the lock, or may: NFS
/// and CIFS cannot tell for a descriptor that only reads. A file system without locks succeeds.
bool lock(int file) noexcept;
/// Sets the time of the last modification, if the file system stores times.
void set_modified(int file, std::chrono::sys_seconds time) noexcept;
/// Reports a lack of space that the file system has kept until now. Returns -1 and sets errno.
int finish_writes(int file) noexcept;
/// Waits until what was written is on the disk. Returns -1 and sets errno.
int sync(int file) noexcept;
/// Renames a file or folder, but replaces nothing: EEXIST if the name is taken. A file system that
/// has neither such a call nor links is asked for the name first: what another thread or process
/// puts there right after is replaced. Returns -1 and sets errno.
int rename_beside(const std::string& from, const std::string& to) noexcept;

#if !defined(_WIN32)
/// Like rename_beside(), but the paths are relative to a folder, or to two.
int rename_beside(int folder, const std::string& from, const std::string& to) noexcept;
int rename_beside(int folder, const std::string& from, int to_folder,
                  const std::string& to) noexcept;
FileStat converted(const struct stat& state) noexcept;
#endif

}  // namespace skua::disk
