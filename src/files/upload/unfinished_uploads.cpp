// SPDX-License-Identifier: MIT
// In: a folder. Out: the folder without what killed processes left, but with the parts of uploads
// that can be resumed. An upload in progress is told by its lock.
#include "files/upload/unfinished_uploads.hpp"

#include <algorithm>
#include <cerrno>
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

// A client's share of a number of uploads, or of bytes.
template <class T>
T share_of(T all, T at_least) noexcept {
  return std::max(all / 4, std::min(all, at_least));
}

constexpr std::size_t least_share = 4;

UnfinishedUpload unfinished(UploadClaim claim, const UploadOptions& limits) {
  const std::uint64_t step = claim.size_bytes + std::min(reserved_step_bytes, limits.max_bytes);
  return {.folder = std::move(claim.folder),
          .reserved_bytes = claim.length_bytes.value_or(std::min(step, limits.max_bytes)),
          .client = std::move(claim.client)};
}

/// Looks through the folders below a root.
class Cleaner {
 public:
  Cleaner(std::shared_ptr<const Root> root, const UploadOptions& options, UnfinishedUploads* kept)
      : root_(std::move(root)), options_(options), kept_(kept) {}

  void look_at(const std::string& folder, const std::string& name) {
    const std::string token = token_of(name);
    if (token.empty()) return remove_if_unused(folder, name);
    if (is_kept(folder, token)) return;
    Result<OpenFile> parent = root_->find(folder);
    if (!parent) return;
    const bool is_removed = remove_part(Folder(std::move(parent->descriptor)), token);
    if (is_removed && kept_ != nullptr) kept_->remove(token);
  }

 private:
  [[nodiscard]] bool is_kept(const std::string& folder, const std::string& token) const {
    const std::string path = folder + std::string(unfinished_prefix) + token;
    const Result<OpenFile> part = root_->find(path);
    const Result<OpenFile> state_file = root_->find(path + std::string(state_suffix));
    for (const auto* const file : {&part, &state_file}) {
      if (!*file && file->error().code() != Errc::NotFound) return true;  // it may be well
    }
    if (!part || !state_file) return false;
    const auto state = read_state(*state_file);
    if (!state || is_expired(part->stat, options_.keep_unfinished)) return false;
    // Its client is not known: nobody may have checked the name of its owner.
    UploadClaim claim{
        .folder = folder, .length_bytes = state->length_bytes, .size_bytes = part->stat.size_bytes};
    return kept_ == nullptr || kept_->add(token, std::move(claim), options_);
  }

  static std::optional<PartState> read_state(const OpenFile& file) {
    std::string text(max_state_bytes, '\0');
    const auto count = base::read_at(file.descriptor.number(), 0, text);
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
  const auto kept = part.size_bytes == 0 ? std::min(keep, keep_empty) : keep;
  return std::chrono::floor<std::chrono::seconds>(age) >= kept;
}

// One upload of any client always fits into the bytes of an option; others' matter as well.
bool UnfinishedUploads::has_room(const std::string& token, const std::string& client,
                                 std::uint64_t wanted_bytes, const UploadOptions& limits) const {
  const std::uint64_t all_bytes = std::max(limits.max_bytes, limits.max_unfinished_bytes);
  std::uint64_t left_bytes = all_bytes;
  std::uint64_t own_bytes = share_of(all_bytes, limits.max_bytes);
  for (const auto& [other, upload] : uploads_) {
    if (other == token) continue;
    left_bytes -= std::min(left_bytes, upload.reserved_bytes);
    if (!client.empty() && upload.client == client) {
      own_bytes -= std::min(own_bytes, upload.reserved_bytes);
    }
  }
  return wanted_bytes <= left_bytes && wanted_bytes <= own_bytes;
}

bool UnfinishedUploads::add(const std::string& token, UploadClaim claim,
                            const UploadOptions& limits) {
  const std::lock_guard lock(mutex_);
  if (uploads_.contains(token)) return true;
  if (uploads_.size() >= limits.max_unfinished) return false;
  UnfinishedUpload added = unfinished(std::move(claim), limits);
  const auto own = static_cast<std::size_t>(std::ranges::count_if(uploads_, [&](const auto& one) {
    return !added.client.empty() && one.second.client == added.client;
  }));
  if (own >= share_of(limits.max_unfinished, least_share)) return false;
  if (!has_room(token, added.client, added.reserved_bytes, limits)) return false;
  uploads_.emplace(token, std::move(added));
  return true;
}

void UnfinishedUploads::adopt(const std::string& token, UploadClaim claim,
                              const UploadOptions& limits) {
  const std::lock_guard lock(mutex_);
  uploads_.emplace(token, unfinished(std::move(claim), limits));
}

bool UnfinishedUploads::reserve(const std::string& token, std::uint64_t size_bytes,
                                const UploadOptions& limits) {
  const std::lock_guard lock(mutex_);
  const auto upload = uploads_.find(token);
  if (upload == uploads_.end() || size_bytes <= upload->second.reserved_bytes) return true;
  if (!has_room(token, upload->second.client, size_bytes, limits)) return false;
  upload->second.reserved_bytes = size_bytes;
  return true;
}

void UnfinishedUploads::remove(const std::string& token) {
  const std::lock_guard lock(mutex_);
  uploads_.erase(token);
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

std::shared_ptr<FolderUploads> uploads_of(const Root& root) {
  static std::mutex mutex;
  static std::map<std::pair<std::uint64_t, std::uint64_t>, std::weak_ptr<FolderUploads>> all;
  const Result<OpenFile> folder = root.find("/");
  if (!folder) return std::make_shared<FolderUploads>();
  const std::lock_guard lock(mutex);
  std::erase_if(all, [](const auto& one) { return one.second.expired(); });
  std::weak_ptr<FolderUploads>& known = all[{folder->stat.device, folder->stat.inode}];
  std::shared_ptr<FolderUploads> uploads = known.lock();
  if (uploads == nullptr) known = uploads = std::make_shared<FolderUploads>();
  return uploads;
}

bool remove_part(const Folder& folder, const std::string& token) {
  const std::string name = std::string(unfinished_prefix) + token;
  const disk::Descriptor file(folder.open_to_lock(name));
  if (file ? !disk::lock(file.number()) : errno != ENOENT) return false;
  folder.remove(name);
  folder.remove(name + std::string(state_suffix));
  return true;
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
