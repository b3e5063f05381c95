// SPDX-License-Identifier: MIT
// The tag is written before the first byte of the part and removed after the last, so that a part
// is never taken for one of something else. A lock on the part says that somebody is writing.
#include "client/resumable_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <utility>

#include "base/http_date.hpp"
#include "files/partial_file.hpp"

namespace skua::client {
namespace {

constexpr std::size_t most_validator_bytes = 1024;

Result<std::string> read_tag(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (descriptor < 0) return Error::from_system(errno, "open");
  std::array<char, most_validator_bytes> buffer{};
  const ssize_t size = ::read(descriptor, buffer.data(), buffer.size());
  ::close(descriptor);
  if (size < 0) return Error::from_system(errno, "read");
  return std::string(buffer.data(), static_cast<std::size_t>(size));
}

Error busy() noexcept { return Error::from_system(EBUSY, "another download"); }

// What a server says goes into a field of ours again.
bool is_usable(std::string_view validator) noexcept {
  for (const char c : validator) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) return false;
  }
  return !validator.empty() && validator.size() < most_validator_bytes;
}

}  // namespace

ResumableFile::ResumableFile(const std::string& path, bool resumes)
    : path_(path), part_(path + ".part"), tag_(path + ".part.tag"), resumes_(resumes) {}

void ResumableFile::give_up() noexcept {
  if (descriptor_ < 0) return;
  const bool is_useful = resumes_ && !validator_.empty();
  if (is_ours_ && !is_useful) {
    ::unlink(tag_.c_str());
    ::unlink(part_.c_str());
  }
  ::close(std::exchange(descriptor_, -1));
}

Result<void> ResumableFile::look() {
  struct ::stat status{};
  if (::lstat(part_.c_str(), &status) != 0) {
    if (errno == ENOENT) return look_for_whole();
    return Error::from_system(errno, "lstat");
  }
  if (!S_ISREG(status.st_mode)) return Error(Errc::Unsupported, "a part that is no plain file");
  Result<std::string> tag = read_tag(tag_);
  if (!tag || !is_usable(*tag) || status.st_size == 0) return {};
  validator_ = *std::move(tag);
  size_bytes_ = static_cast<std::uint64_t>(status.st_size);
  found_ = Found::Part;
  return {};
}

// keep() has given it the server's time: another file has hardly the same time and size.
Result<void> ResumableFile::look_for_whole() {
  struct ::stat status{};
  if (::lstat(path_.c_str(), &status) != 0 || !S_ISREG(status.st_mode) || status.st_size == 0) {
    return {};
  }
  std::array<char, http_date_bytes> date{};
  format_http_date(std::chrono::sys_seconds(std::chrono::seconds(status.st_mtim.tv_sec)), date);
  validator_.assign(date.data(), date.size());
  size_bytes_ = static_cast<std::uint64_t>(status.st_size);
  found_ = Found::Whole;
  return {};
}

// The part and its lock; how large it is.
Result<std::uint64_t> ResumableFile::open() noexcept {
  // O_NONBLOCK: nobody may be at the other end of what is no file.
  constexpr int flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
  descriptor_ = ::open(part_.c_str(), flags, 0666);
  if (descriptor_ < 0) return Error::from_system(errno, "open");
  // A file system without locks is no reason to write nothing.
  if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) return busy();
  struct ::stat opened{};
  struct ::stat named{};
  if (::fstat(descriptor_, &opened) != 0) return Error::from_system(errno, "fstat");
  const bool is_ours = ::lstat(part_.c_str(), &named) == 0 && opened.st_dev == named.st_dev &&
                       opened.st_ino == named.st_ino;
  if (!is_ours) return busy();  // it was given its name between our calls
  if (!S_ISREG(opened.st_mode)) return Error(Errc::Unsupported, "a part that is no plain file");
  return static_cast<std::uint64_t>(opened.st_size);
}

Result<void> ResumableFile::append() noexcept {
  const Result<std::uint64_t> size_bytes = open();
  if (!size_bytes) return size_bytes.error();
  if (*size_bytes != size_bytes_) return busy();  // it has grown since the server was asked
  is_ours_ = true;
  return {};
}

Result<void> ResumableFile::start(std::string_view validator) {
  const Result<std::uint64_t> opened = open();
  if (!opened) return opened.error();
  is_ours_ = true;
  validator_.clear();
  ::unlink(tag_.c_str());
  if (::ftruncate(descriptor_, 0) != 0) return Error::from_system(errno, "ftruncate");
  size_bytes_ = 0;
  if (!is_usable(validator)) return {};
  files::PartialFile tag;
  if (auto created = tag.create(tag_); !created) return created;
  if (auto written = tag.write(validator); !written) return written;
  if (auto kept = tag.keep_as(tag_); !kept) return kept;
  validator_ = validator;
  return {};
}

Result<void> ResumableFile::write(std::string_view text) noexcept {
  while (!text.empty()) {
    const ssize_t count = ::write(descriptor_, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return Error::from_system(errno, "write");
    text.remove_prefix(static_cast<std::size_t>(count));
    size_bytes_ += static_cast<std::uint64_t>(count);
  }
  return {};
}

Result<void> ResumableFile::keep() noexcept {
  // Some file systems say only when a file is closed that they had no room; the lock stays.
  const int copy = ::dup(descriptor_);
  if (copy >= 0 && ::close(copy) != 0) return Error::from_system(errno, "close");
  if (modified_) {  // a file system that keeps no such times is no reason to keep no file
    const timespec times[2] = {{0, UTIME_OMIT}, {modified_->time_since_epoch().count(), 0}};
    static_cast<void>(::futimens(descriptor_, times));
  }
  if (::rename(part_.c_str(), path_.c_str()) != 0) return Error::from_system(errno, "rename");
  ::unlink(tag_.c_str());
  ::close(std::exchange(descriptor_, -1));
  return {};
}

}  // namespace skua::client
