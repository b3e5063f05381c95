// SPDX-License-Identifier: MIT
// In: a folder. Out: the folder without what killed processes left, but with the parts of uploads
// that can be resumed. An upload in progress is told by its lock.
#include "files/upload/unfinished_uploads.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include "base/base_encoding.hpp"
#include "base/file_io.hpp"
#include "files/listing/directory_index.hpp"
#include "files/upload/folder.hpp"
#include "files/upload/part_writer.hpp"
#include "files/upload/upload_fields.hpp"

namespace skua::files {
namespace {

constexpr std::size_t entries_at_a_time = 1000;
constexpr std::size_t token_digits = 32;
constexpr std::size_t max_finished = 100;

// Returns the token of a part, or of its state.
std::string token_of(std::string_view name) {
  name.remove_prefix(unfinished_prefix.size());
  if (name.ends_with(state_suffix)) name.remove_suffix(state_suffix.size());
  return is_part_token(name) ? std::string(name) : std::string();
}

/// Looks through the folders below a root.
class Cleaner {
 public:
  Cleaner(std::shared_ptr<const Root> root, const UploadOptions& options, UnfinishedUploads* kept)
      : root_(std::move(root)), options_(options), kept_(kept) {}

  void look_at(const std::string& folder, const std::string& name) {
    const std::string token = token_of(name);
    if (kept_ == nullptr || token.empty()) return remove_if_unused(folder, name);
    if (name.ends_with(state_suffix)) {
      const std::string part = name.substr(0, name.size() - state_suffix.size());
      if (!root_->find(folder + part)) remove_if_unused(folder, name);
      return;
    }
    const auto state = read_state(folder + name + std::string(state_suffix));
    const Result<OpenFile> part = root_->find(folder + name);
    if (!part) return;
    const bool is_kept =
        state && !is_expired(part->stat, options_.keep_unfinished) &&
        kept_->add(token, folder, state->length_bytes.value_or(options_.max_bytes));
    if (is_kept) return;
    remove_if_unused(folder, name);
    remove_if_unused(folder, name + std::string(state_suffix));
  }

 private:
  [[nodiscard]] std::optional<PartState> read_state(const std::string& path) const {
    const Result<OpenFile> file = root_->find(path);
    if (!file) return std::nullopt;
    std::string text(max_state_bytes, '\0');
    const auto count = base::read_at(file->descriptor.number(), 0, text);
    if (!count) return std::nullopt;
    text.resize(*count);
    return parse_state(text);
  }

  void remove_if_unused(const std::string& path, const std::string& name) const {
    Result<OpenFile> parent = root_->find(path);
    if (!parent) return;
    const Folder folder(std::move(parent->descriptor));
    const Result<FileStat> found = folder.stat(name);
    if (!found || found->kind != FileKind::Regular) return;
    const disk::Descriptor file(folder.open_to_lock(name));
    if (file && disk::lock(file.number())) folder.remove(name);
  }

  std::shared_ptr<const Root> root_;
  const UploadOptions& options_;
  UnfinishedUploads* kept_;
};

}  // namespace

bool is_part_token(std::string_view token) noexcept {
  return hex::is_lower_text(token, token_digits);
}

bool is_expired(const FileStat& part, std::chrono::seconds keep) noexcept {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto age = now - std::chrono::nanoseconds(part.modified_ns);
  return std::chrono::floor<std::chrono::seconds>(age) >= keep;
}

UnfinishedUploads::UnfinishedUploads(const UploadOptions& options) noexcept
    : max_count_(options.max_unfinished),
      max_bytes_(std::max(options.max_bytes, options.max_unfinished_bytes)) {}

bool UnfinishedUploads::add(const std::string& token, const std::string& folder,
                            std::uint64_t reserved_bytes) {
  const std::lock_guard lock(mutex_);
  if (uploads_.size() >= max_count_ || reserved_bytes > max_bytes_ - reserved_bytes_) return false;
  uploads_.insert_or_assign(token,
                            UnfinishedUpload{.folder = folder, .reserved_bytes = reserved_bytes});
  reserved_bytes_ += reserved_bytes;
  return true;
}

void UnfinishedUploads::remove(const std::string& token) {
  const std::lock_guard lock(mutex_);
  const auto upload = uploads_.find(token);
  if (upload == uploads_.end()) return;
  reserved_bytes_ -= upload->second.reserved_bytes;
  uploads_.erase(upload);
}

void UnfinishedUploads::finish(FinishedUpload upload) {
  const std::lock_guard lock(mutex_);
  if (finished_.size() == max_finished) finished_.pop_front();
  finished_.push_back(std::move(upload));
}

std::optional<FinishedUpload> UnfinishedUploads::find_finished(std::string_view token) const {
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find(finished_, token, &FinishedUpload::token);
  return found == finished_.end() ? std::nullopt : std::optional(*found);
}

std::unique_lock<std::mutex> UnfinishedUploads::lock(const std::string& token) {
  return std::unique_lock(turns_[std::hash<std::string>()(token) % turns_.size()]);
}

std::shared_ptr<PartWriter> UnfinishedUploads::exchange_writer(const std::string& token,
                                                               std::shared_ptr<PartWriter> writer) {
  const std::lock_guard lock(mutex_);
  const auto upload = uploads_.find(token);
  if (upload == uploads_.end()) return nullptr;
  return std::exchange(upload->second.writer, std::move(writer));
}

void UnfinishedUploads::drop_writer(const PartWriter& writer) noexcept {
  const std::lock_guard lock(mutex_);
  const auto upload = uploads_.find(writer.token());
  if (upload != uploads_.end() && upload->second.writer.get() == &writer) {
    upload->second.writer = nullptr;
  }
}

std::vector<std::pair<std::string, std::string>> UnfinishedUploads::idle() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::pair<std::string, std::string>> found;
  for (const auto& [token, upload] : uploads_) {
    if (upload.writer == nullptr) found.emplace_back(token, upload.folder);
  }
  return found;
}

void remove_unfinished(const std::string& directory, const UploadOptions& options,
                       UnfinishedUploads* kept) {
  const PathPolicy everything{.dotfiles = true, .follow_symlinks = false, .unfinished = true};
  Result<Root> opened = Root::open(directory, everything);
  if (!opened) return;
  const auto root = std::make_shared<const Root>(*std::move(opened));
  Cleaner cleaner(root, options, kept);
  std::vector<std::string> folders{"/"};
  std::vector<DirectoryEntry> entries;
  while (!folders.empty()) {
    const std::string folder = std::move(folders.back());
    folders.pop_back();
    Result<DirectoryReader> reader = DirectoryReader::open(root, folder);
    if (!reader) continue;
    for (bool has_more = true; has_more;) {
      entries.clear();
      has_more = reader->read(entries, entries_at_a_time).value_or(false);
      for (const DirectoryEntry& entry : entries) {
        if (entry.is_directory) {
          folders.push_back(folder + entry.name + "/");
        } else if (is_unfinished(entry.name)) {
          cleaner.look_at(folder, entry.name);
        }
      }
    }
  }
}

}  // namespace skua::files
