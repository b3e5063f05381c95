// SPDX-License-Identifier: MIT
// In: text. Out: a file that exists either completely or not at all.
#include "files/save.hpp"

#include <cerrno>
#include <memory>
#include <new>
#include <optional>
#include <utility>

#include "async/destroy_off_loop.hpp"
#include "async/off_loop.hpp"
#include "crypto/random.hpp"
#include "files/cache/file_changes.hpp"
#include "http/form/multipart_reader.hpp"
#include "skua/multipart.hpp"
#include "skua/request.hpp"

namespace skua::files {
namespace {

constexpr int tries = 16;

Result<std::string> random_name(const std::string& path) {
  const Result<std::string> token = crypto::random_token(8);
  if (!token) return token.error();
  return path + ".part-" + *token;
}

}  // namespace

Result<void> write_all(int file, std::string_view text) noexcept {
  while (!text.empty()) {
    const auto count = disk::write(file, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return Error::from_system(errno, "write");
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  return {};
}

void close_off_loop(disk::Descriptor file) noexcept try {
  async::destroy_off_loop(std::make_shared<disk::Descriptor>(std::move(file)));
} catch (const std::bad_alloc&) {
  return;  // it is closed here
}

PartialFile::~PartialFile() {
  if (!name_.empty()) disk::unlink(name_.c_str());
  if (descriptor_ >= 0) close_off_loop(disk::Descriptor(descriptor_));
}

Result<void> PartialFile::create(const std::string& path, unsigned mode) {
  for (int i = 0; i < tries; ++i) {
    Result<std::string> name = random_name(path);
    if (!name) return name.error();
    descriptor_ =
        disk::open(name->c_str(), O_WRONLY | O_CREAT | O_EXCL | disk::close_on_exec, mode);
    if (descriptor_ >= 0) {
      name_ = *std::move(name);
      return {};
    }
    if (errno != EEXIST) break;
  }
  return Error::from_system(errno, "open");
}

Result<void> PartialFile::keep_as(const std::string& path) noexcept {
  // Closes first: some file systems report only now that they are full.
  if (disk::close(std::exchange(descriptor_, -1)) != 0) return Error::from_system(errno, "close");
  if (disk::rename(name_.c_str(), path.c_str()) != 0) return Error::from_system(errno, "rename");
  name_.clear();
  note_file_change();
  return {};
}

}  // namespace skua::files

// In: the content of a request or of a part of it. Out: a file that gets its name only once it is
// complete.

namespace skua {
namespace files {
namespace {

// Bytes per write: large, so that the switch to another thread costs little.
constexpr std::size_t batch_bytes = 256_KiB;

// A PartialFile whose first write creates it.
class PlainFile final : public SavedFile {
 public:
  explicit PlainFile(std::string path) noexcept : path_(std::move(path)) {}

  Result<void> write(std::string_view text) override {
    if (!is_created_) {
      if (auto created = partial_.create(path_); !created) return created;
      is_created_ = true;
    }
    return partial_.write(text);
  }
  Result<void> keep() override { return partial_.keep_as(path_); }

 private:
  std::string path_;
  PartialFile partial_;
  bool is_created_ = false;
};

}  // namespace

struct FileSaver::Batch {
  explicit Batch(std::shared_ptr<SavedFile> saved) noexcept : file(std::move(saved)) {}

  // Runs off the loop.
  Result<void> write(bool is_last) {
    if (auto written = file->write(text); !written) return written;
    text.clear();
    return is_last ? file->keep() : Result<void>();
  }

  std::shared_ptr<SavedFile> file;
  std::string text;
};

FileSaver::FileSaver(std::string path) : FileSaver(std::make_shared<PlainFile>(std::move(path))) {}

FileSaver::FileSaver(std::shared_ptr<SavedFile> file)
    : batch_(std::make_shared<Batch>(std::move(file))) {}

Task<Result<void>> FileSaver::flush(std::shared_ptr<Batch> batch, bool is_last) {
  try {
    const Result<void> written = co_await async::off_loop(&Batch::write, batch, is_last);
    co_return written;
  } catch (const Exception& error) {  // the thread pool's queue is full
    co_return error.error();
  }
}

Task<Result<void>> FileSaver::write(Bytes piece) {
  size_bytes_ += piece.size();
  batch_->text += text(piece);
  if (batch_->text.size() < batch_bytes) co_return Result<void>();
  const Result<void> written = co_await flush(batch_, false);
  co_return written;
}

Task<Result<std::uint64_t>> FileSaver::end() {
  const Result<void> written = co_await flush(batch_, true);
  if (!written) co_return written.error();
  co_return size_bytes_;
}

namespace {

Task<Result<std::uint64_t>> save_part(http::MultipartReader& reader, std::string path,
                                      std::uint64_t limit_bytes) {
  FileSaver saver(std::move(path));
  std::uint64_t left_bytes = limit_bytes;
  while (true) {
    const Result<std::optional<Bytes>> read = co_await reader.read();
    if (!read) co_return read.error();
    const std::optional<Bytes>& piece = *read;
    if (!piece) break;
    if (piece->size() > left_bytes) co_return Error(Errc::BodyTooLong, "part");
    left_bytes -= piece->size();
    const Result<void> written = co_await saver.write(*piece);
    if (!written) co_return written.error();
  }
  Result<std::uint64_t> saved = co_await saver.end();
  co_return saved;
}

}  // namespace
}  // namespace files

Task<Result<std::uint64_t>> Request::save(std::string path) {
  files::FileSaver saver(std::move(path));
  while (true) {
    const std::optional<Bytes> piece = co_await read();
    if (!piece) break;
    const Result<void> written = co_await saver.write(*piece);
    if (!written) co_return written.error();
  }
  Result<std::uint64_t> saved = co_await saver.end();
  co_return saved;
}

namespace {

/// Whether a path ends with a name that the peer has chosen, and that may lead anywhere.
bool is_led_astray(const Part& part, std::string_view path) {
  const std::string_view name = part.filename().value_or(std::string_view());
  return name.find_first_of("/\\") != std::string_view::npos && path.ends_with(name);
}

Task<Result<std::uint64_t>> refuse_name() {
  co_return Error(Errc::PermissionDenied,
                  "Part::save: the peer's name for the file leads to another folder: use "
                  "safe_filename() instead of filename()");
}

}  // namespace

Task<Result<std::uint64_t>> Part::save(std::string path, std::uint64_t limit_bytes) {
  if (is_led_astray(*this, path)) return refuse_name();
  return files::save_part(*reader_, std::move(path), limit_bytes);
}

}  // namespace skua
