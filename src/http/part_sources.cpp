// SPDX-License-Identifier: MIT
// The two common sources of parts: a text and a file. The size of a file is read when it is added,
// but the file is opened when it is sent, so a thousand files need one descriptor.
#include "http/part_sources.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace skua::http {
namespace {

class TextSource final : public PartSource {
 public:
  explicit TextSource(std::string text) noexcept : text_(std::move(text)) {}

  [[nodiscard]] std::optional<std::uint64_t> length() const override { return text_.size(); }

  Result<std::size_t> read(std::span<char> into) override {
    const std::size_t size = std::min(into.size(), text_.size() - sent_bytes_);
    std::memcpy(into.data(), text_.data() + sent_bytes_, size);
    sent_bytes_ += size;
    return size;
  }

 private:
  std::string text_;
  std::size_t sent_bytes_ = 0;
};

class FileSource final : public PartSource {
 public:
  FileSource(std::string path, std::uint64_t size_bytes) noexcept
      : path_(std::move(path)), size_bytes_(size_bytes) {}
  FileSource(const FileSource&) = delete;
  FileSource& operator=(const FileSource&) = delete;
  ~FileSource() override {
    if (descriptor_ >= 0) ::close(descriptor_);
  }

  [[nodiscard]] std::optional<std::uint64_t> length() const override { return size_bytes_; }

  Result<std::size_t> read(std::span<char> into) override {
    if (descriptor_ < 0) {
      if (auto opened = open(); !opened) return opened.error();
    }
    for (;;) {
      const ssize_t size = ::read(descriptor_, into.data(), into.size());
      if (size >= 0) return static_cast<std::size_t>(size);
      if (errno != EINTR) return Error::from_system(errno, "read file");
    }
  }

 private:
  // The file may be a pipe by now, and waiting for its other end could take forever.
  Result<void> open() {
    descriptor_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (descriptor_ < 0) return Error::from_system(errno, "open file");
    struct stat state{};
    if (::fstat(descriptor_, &state) != 0) return Error::from_system(errno, "open file");
    if (!S_ISREG(state.st_mode)) return Error(Errc::Unsupported, "not a regular file");
    return {};
  }

  std::string path_;
  std::uint64_t size_bytes_;
  int descriptor_ = -1;
};

}  // namespace

std::unique_ptr<PartSource> make_text_source(std::string text) {
  return std::make_unique<TextSource>(std::move(text));
}

Result<std::unique_ptr<PartSource>> make_file_source(const std::string& path) {
  struct stat state{};
  if (::stat(path.c_str(), &state) != 0) return Error::from_system(errno, "stat file");
  if (!S_ISREG(state.st_mode)) return Error(Errc::Unsupported, "not a regular file");
  return std::make_unique<FileSource>(path, static_cast<std::uint64_t>(state.st_size));
}

}  // namespace skua::http
