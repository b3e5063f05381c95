// SPDX-License-Identifier: MIT
// The tag is written before the first byte of the part and removed after the last, so that a part
// is never taken for one of something else.
#include "client/resumable_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <utility>

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

// What a server says goes into a field of ours again.
bool is_usable(std::string_view validator) noexcept {
  for (const char c : validator) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) return false;
  }
  return !validator.empty() && validator.size() < most_validator_bytes;
}

}  // namespace

ResumableFile::ResumableFile(const std::string& path)
    : path_(path), part_(path + ".part"), tag_(path + ".part.tag") {}

ResumableFile::~ResumableFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Result<void> ResumableFile::look() {
  struct ::stat status{};
  if (::lstat(part_.c_str(), &status) != 0) {
    if (errno == ENOENT) return {};
    return Error::from_system(errno, "lstat");
  }
  if (!S_ISREG(status.st_mode)) return Error(Errc::Unsupported, "a part that is no plain file");
  Result<std::string> tag = read_tag(tag_);
  if (!tag || !is_usable(*tag)) return {};
  validator_ = *std::move(tag);
  size_bytes_ = static_cast<std::uint64_t>(status.st_size);
  return {};
}

Result<void> ResumableFile::open(int flags) noexcept {
  descriptor_ = ::open(part_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | flags, 0666);
  if (descriptor_ < 0) return Error::from_system(errno, "open");
  return {};
}

Result<void> ResumableFile::append() noexcept { return open(O_APPEND); }

Result<void> ResumableFile::start(std::string_view validator) {
  remove();
  size_bytes_ = 0;
  if (is_usable(validator)) {
    files::PartialFile tag;
    if (auto created = tag.create(tag_); !created) return created;
    if (auto written = tag.write(validator); !written) return written;
    if (auto kept = tag.keep_as(tag_); !kept) return kept;
  }
  return open(O_TRUNC);
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
  if (::close(std::exchange(descriptor_, -1)) != 0) return Error::from_system(errno, "close");
  if (::rename(part_.c_str(), path_.c_str()) != 0) return Error::from_system(errno, "rename");
  ::unlink(tag_.c_str());
  return {};
}

void ResumableFile::remove() noexcept {
  ::unlink(tag_.c_str());
  ::unlink(part_.c_str());
}

}  // namespace skua::client
