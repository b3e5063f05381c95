// SPDX-License-Identifier: MIT
// The origin is written before the first byte of the part and removed after the last, so that a
// part is never mistaken for one of other content. A lock on the part shows that it is in use.
#include "client/files/resumable_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#if defined(__linux__)
#include <sys/syscall.h>
#endif

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <utility>

#include "base/http_date.hpp"
#include "files/save.hpp"

namespace skua::client {
namespace {

constexpr std::size_t max_origin_bytes = 16 * 1024;
constexpr std::string_view first_line = "skua download 1";
constexpr int max_numbers = 1000;

Error busy() noexcept { return Error::from_system(EBUSY, "another download"); }

std::string numbered(const std::string& path, int number) {
  return number == 0 ? path : path + "-" + std::to_string(number);
}

std::string part_path_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  const std::size_t name = slash == path.npos ? 0 : slash + 1;
  return path.substr(0, name) + "." + path.substr(name) + ".part";
}

std::string text_of(const PartOrigin& origin) {
  std::string text(first_line);
  text.append("\n").append(origin.url).append("\n").append(origin.validator).append("\n");
  if (origin.total_bytes) text += std::to_string(*origin.total_bytes);
  return text + "\n";
}

std::string_view take_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(text.size(), end + 1));
  return line;
}

std::optional<PartOrigin> parse_origin(std::string_view whole) {
  std::string_view text = whole;
  if (take_line(text) != first_line) return std::nullopt;
  PartOrigin origin;
  origin.url = take_line(text);
  origin.validator = take_line(text);
  const std::string_view total = take_line(text);
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(total.data(), total.data() + total.size(), number);
  if (error == std::errc() && end == total.data() + total.size()) origin.total_bytes = number;
  // Rejects a file that was truncated, or that we did not write.
  return text_of(origin) == whole ? std::optional(std::move(origin)) : std::nullopt;
}

// O_NONBLOCK: it may be a FIFO without a writer.
std::optional<PartOrigin> read_origin(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (descriptor < 0) return std::nullopt;
  std::string text(max_origin_bytes, '\0');
  const ssize_t size = ::read(descriptor, text.data(), text.size());
  ::close(descriptor);
  if (size <= 0) return std::nullopt;
  return parse_origin(std::string_view(text).substr(0, static_cast<std::size_t>(size)));
}

// The server's validator is sent back in a field, so it must be a valid value.
bool is_usable(const PartOrigin& origin) {
  const bool is_field = std::ranges::none_of(origin.validator, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 || byte == 0x7f;
  });
  return is_field && !origin.validator.empty() && text_of(origin).size() < max_origin_bytes;
}

// Renames, but never replaces a file.
bool rename_beside(const std::string& from, const std::string& to) noexcept {
#if defined(__linux__)
  // RENAME_NOREPLACE: musl has neither the name nor a function for the system call.
  constexpr unsigned keeps_existing = 1;
  const long renamed =
      ::syscall(SYS_renameat2, AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), keeps_existing);
  if (renamed == 0) return true;
  const bool is_unknown = errno == EINVAL || errno == ENOSYS;  // to the file system or the kernel
#elif defined(__APPLE__)
  if (::renamex_np(from.c_str(), to.c_str(), RENAME_EXCL) == 0) return true;
  const bool is_unknown = errno == ENOTSUP;  // to the file system
#else
  const bool is_unknown = true;
#endif
  if (!is_unknown || ::link(from.c_str(), to.c_str()) != 0) return false;
  ::unlink(from.c_str());
  return true;
}

}  // namespace

std::string origin_url(const Url& url) {
  Url bare = url;
  const bool is_bare = bare.set_userinfo("") && bare.set_fragment(std::nullopt);
  return is_bare ? bare.to_string() : "";
}

ResumableFile::ResumableFile(const std::string& path, Options options)
    : path_(path), first_path_(path), options_(options) {
  number_part(0);
}

void ResumableFile::number_part(int number) {
  part_ = part_path_of(numbered(first_path_, number));
  origin_path_ = part_ + ".origin";
}

Error ResumableFile::failure(const std::string& culprit, const char* call) noexcept {
  const Error error = Error::from_system(errno, call);
  culprit_ = &culprit;
  return error;
}

void ResumableFile::give_up() noexcept {
  if (descriptor_ < 0) return;
  if (is_ours_ && !can_be_resumed()) {
    ::unlink(origin_path_.c_str());
    ::unlink(part_.c_str());
  }
  ::close(std::exchange(descriptor_, -1));
}

Result<void> ResumableFile::look(std::string_view url) {
  const Result<bool> opened = open_next(O_WRONLY);
  if (!opened) return opened.error();
  if (!*opened) {
    look_for_whole();
    return {};
  }
  auto origin = read_origin(origin_path_);
  const bool is_other = !url.empty() && origin && origin->url != url;
  if (!origin || is_other || !is_usable(*origin) || size_bytes_ == 0) return {};
  origin_ = *std::move(origin);
  found_ = Found::Part;
  return {};
}

// keep() gave the file the server's time: another file is unlikely to share its time and size.
void ResumableFile::look_for_whole() {
  struct ::stat status{};
  if (::lstat(path_.c_str(), &status) != 0 || !S_ISREG(status.st_mode) || status.st_size == 0) {
    return;
  }
  std::array<char, http_date_bytes> date{};
  format_http_date(std::chrono::sys_seconds(std::chrono::seconds(status.st_mtime)), date);
  origin_.validator.assign(date.data(), date.size());
  size_bytes_ = static_cast<std::uint64_t>(status.st_size);
  found_ = Found::Whole;
}

// Opens and locks the part. Returns false if it does not exist.
Result<bool> ResumableFile::open(int flags) noexcept {
  constexpr int always = O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
  descriptor_ = ::open(part_.c_str(), flags | always, 0666);
  if (descriptor_ < 0 && errno == ENOENT && (flags & O_CREAT) == 0) return false;
  if (descriptor_ < 0) return failure(part_, "open");
  // A file system without locks is usable, too.
  if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) return busy();
  struct ::stat opened{};
  struct ::stat named{};
  if (::fstat(descriptor_, &opened) != 0) return failure(part_, "fstat");
  const bool is_ours = ::lstat(part_.c_str(), &named) == 0 && opened.st_dev == named.st_dev &&
                       opened.st_ino == named.st_ino;
  if (!is_ours) return busy();  // it was renamed between our calls
  if (!S_ISREG(opened.st_mode)) return Error(Errc::Unsupported, "a part that is not a plain file");
  size_bytes_ = static_cast<std::uint64_t>(opened.st_size);
  return true;
}

Result<bool> ResumableFile::open_next(int flags) {
  Result<bool> opened = open(flags);
  for (int number = 1; number < max_numbers; ++number) {
    const bool is_busy = !opened && opened.error().system_code() == EBUSY;
    if (!is_busy || !options_.never_replace) break;
    give_up();
    number_part(number);
    opened = open(flags);
  }
  if (!opened) give_up();
  return opened;
}

Result<void> ResumableFile::start(PartOrigin origin) {
  if (descriptor_ < 0) {
    const Result<bool> opened = open_next(O_WRONLY | O_CREAT);
    if (!opened) return opened.error();
  }
  is_ours_ = true;
  origin_ = PartOrigin();
  ::unlink(origin_path_.c_str());
  if (::ftruncate(descriptor_, 0) != 0) return failure(part_, "ftruncate");
  size_bytes_ = 0;
  if (!is_usable(origin)) origin.validator.clear();
  origin_ = std::move(origin);
  return origin_.validator.empty() ? Result<void>() : write_origin();
}

Result<void> ResumableFile::write_origin() {
  culprit_ = &origin_path_;
  files::PartialFile file;
  if (auto created = file.create(origin_path_, 0600); !created) return created;
  if (auto written = file.write(text_of(origin_)); !written) return written;
  return file.keep_as(origin_path_);
}

Result<void> ResumableFile::write(std::string_view text) noexcept {
  while (!text.empty()) {
    const ssize_t count = ::write(descriptor_, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return failure(part_, "write");
    text.remove_prefix(static_cast<std::size_t>(count));
    size_bytes_ += static_cast<std::uint64_t>(count);
  }
  return {};
}

Result<void> ResumableFile::keep() {
  // Some file systems report a lack of space only on close. Closing a copy keeps the lock.
  const int copy = ::dup(descriptor_);
  if (copy >= 0 && ::close(copy) != 0) return failure(part_, "close");
  if (modified_) {  // best effort: not all file systems store times
    const timespec times[2] = {{0, UTIME_OMIT}, {modified_->time_since_epoch().count(), 0}};
    static_cast<void>(::futimens(descriptor_, times));
  }
  if (const Result<void> named = take_name(); !named) return named;
  ::unlink(origin_path_.c_str());
  ::close(std::exchange(descriptor_, -1));
  return {};
}

Result<void> ResumableFile::take_name() {
  if (!options_.never_replace) {
    if (::rename(part_.c_str(), path_.c_str()) != 0) return failure(path_, "rename");
    return {};
  }
  for (int number = 0; number < max_numbers; ++number) {
    std::string name = numbered(path_, number);
    if (rename_beside(part_, name)) {
      path_ = std::move(name);
      return {};
    }
    if (errno != EEXIST) break;
  }
  return failure(path_, "rename");
}

}  // namespace skua::client
