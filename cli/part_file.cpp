// SPDX-License-Identifier: MIT
// The origin is written when the part is empty and before its first byte, so bytes never stand
// beside the origin of others. A lock says that somebody is writing.
#include "part_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <utility>

#include "base/ascii.hpp"
#include "client/problem.hpp"
#include "request_items.hpp"

namespace skua::cli {
namespace {

constexpr int most_numbers = 1000;
constexpr std::string_view first_line = "skua download 1";

Problem problem_of(int number, const std::string& what, const std::string& path) {
  const Error error = Error::from_system(number, "");
  const std::string reason = number == EEXIST ? "the file exists" : client::reason_of(error);
  return {.error = error, .text = "cannot " + what + " " + path + ": " + reason};
}

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

std::optional<PartOrigin> parse_origin(const std::string& whole) {
  std::string_view text = whole;
  if (take_line(text) != first_line) return std::nullopt;
  PartOrigin origin;
  origin.url = take_line(text);
  origin.validator = take_line(text);
  const std::string_view total = take_line(text);
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(total.data(), total.data() + total.size(), number);
  if (error == std::errc() && end == total.data() + total.size()) origin.total_bytes = number;
  // What was cut, or is of somebody else's, is not what we wrote.
  return text_of(origin) == whole ? std::optional(std::move(origin)) : std::nullopt;
}

// Renames, but never over a file that is there.
bool rename_beside(const std::string& from, const std::string& to) {
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return true;
  const bool is_unknown = errno == EINVAL || errno == ENOSYS;  // of this file system, this kernel
  if (!is_unknown || ::link(from.c_str(), to.c_str()) != 0) return false;
  ::unlink(from.c_str());
  return true;
}

}  // namespace

PartFile::PartFile(std::string part_path, net::Socket file)
    : part_path_(std::move(part_path)), file_(std::move(file)) {}

Result<PartFile, Problem> PartFile::open(const std::string& path) {
  for (int number = 0; number < most_numbers; ++number) {
    const std::string part_path = part_path_of(numbered(path, number));
    net::Socket file(
        ::open(part_path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0666));
    if (!file) return problem_of(errno, "write", part_path);
    if (::flock(file.descriptor(), LOCK_EX | LOCK_NB) != 0) {
      if (errno == EWOULDBLOCK) continue;
      return problem_of(errno, "lock", part_path);
    }
    struct stat about{};
    struct stat named{};
    const bool is_ours = ::fstat(file.descriptor(), &about) == 0 &&
                         ::lstat(part_path.c_str(), &named) == 0 && about.st_ino == named.st_ino;
    if (!is_ours) continue;  // it was given its name between our two calls
    if (!S_ISREG(about.st_mode)) return problem_of(EINVAL, "write", part_path);
    PartFile part(part_path, std::move(file));
    part.size_bytes_ = static_cast<std::uint64_t>(about.st_size);
    part.read_origin();
    return part;
  }
  return problem_of(EEXIST, "write", part_path_of(path));
}

PartFile::~PartFile() {
  const bool is_kept = size_bytes_ != 0 && (!is_begun_ || can_be_resumed());
  if (!file_ || is_kept) return;
  ::unlink(part_path_.c_str());
  ::unlink(origin_path().c_str());
}

void PartFile::read_origin() {
  struct stat about{};
  // A pipe that somebody put there would be waited for.
  const bool is_file = ::lstat(origin_path().c_str(), &about) == 0 && S_ISREG(about.st_mode);
  if (size_bytes_ == 0 || !is_file) return;
  const Result<std::string, Problem> text = read_file(origin_path());
  if (text) origin_ = parse_origin(*text);
}

Problem PartFile::could_not(const char* step, const std::string& path) const {
  return problem_of(errno, step, path);
}

Result<void, Problem> PartFile::restart(const PartOrigin& origin) {
  if (::ftruncate(file_.descriptor(), 0) != 0) return could_not("write", part_path_);
  size_bytes_ = 0;
  is_begun_ = true;
  origin_ = origin;
  const std::string path = origin_path();
  ::unlink(path.c_str());
  if (origin.validator.empty()) return {};
  const net::Socket file(
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  const std::string text = text_of(origin);
  const bool is_written =
      file && ::write(file.descriptor(), text.data(), text.size()) == ssize_t(text.size());
  if (!is_written) return could_not("write", path);
  return {};
}

Result<void, Problem> PartFile::write(std::string_view piece) {
  while (!piece.empty()) {
    const ssize_t count = ::write(file_.descriptor(), piece.data(), piece.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return could_not("write", part_path_);
    size_bytes_ += static_cast<std::uint64_t>(count);
    piece.remove_prefix(static_cast<std::size_t>(count));
  }
  return {};
}

// Some file systems say only when a file is closed that they had no room.
bool PartFile::is_stored() const noexcept { return ::close(::dup(file_.descriptor())) == 0; }

Result<std::string, Problem> PartFile::keep_as(const std::string& path) {
  if (!is_stored()) return could_not("write", part_path_);
  if (::rename(part_path_.c_str(), path.c_str()) != 0) return could_not("write", path);
  ::unlink(origin_path().c_str());
  file_.reset();
  return path;
}

Result<std::string, Problem> PartFile::keep_beside(const std::string& path) {
  if (!is_stored()) return could_not("write", part_path_);
  for (int number = 0; number < most_numbers; ++number) {
    std::string name = numbered(path, number);
    if (rename_beside(part_path_, name)) {
      ::unlink(origin_path().c_str());
      file_.reset();
      return name;
    }
    if (errno != EEXIST) break;
  }
  return could_not("write", path);
}

}  // namespace skua::cli
