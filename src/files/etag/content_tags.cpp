// SPDX-License-Identifier: MIT
// In: content, or paths of files. Out: tags. A file is hashed only in the state that a request has
// seen, before and after it is read, so that a tag never belongs to a mixture of two.
#include "files/etag/content_tags.hpp"

#include <algorithm>
#include <new>
#include <span>
#include <system_error>
#include <utility>

#include "base/base_encoding.hpp"
#include "base/file_io.hpp"
#include "crypto/digest.hpp"
#include "skua/literals.hpp"

namespace skua::files {
namespace {

constexpr std::size_t read_bytes = 256_KiB;
constexpr std::size_t used_hash_bytes = 16;  // two contents share 128 bits by no chance, nor effort

std::string as_tag(const Result<std::string>& hash) {
  if (!hash) return {};
  return '"' + hex::encode(std::string_view(*hash).substr(0, used_hash_bytes)) + '"';
}

}  // namespace

bool ContentTags::is_available() noexcept { return crypto::is_available(); }

Problem ContentTags::missing() {
  return {Error(Errc::Unsupported, "content_etags"),
          "FileOptions::content_etags needs OpenSSL, without which this program was built"};
}

ContentTags::~ContentTags() {
  is_stopping_ = true;
  {
    const std::lock_guard lock(mutex_);
    has_work_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
}

std::string ContentTags::of(std::string_view content) {
  return as_tag(crypto::hash(crypto::Hash::Sha256, content));
}

std::string ContentTags::find(std::string_view path, const FileStat& stat) const {
  const std::lock_guard lock(mutex_);
  const auto known = tags_.find(stat);
  if (known != tags_.end()) return known->second;
  if (waiting_.size() >= most_waiting) return {};
  for (const Work& work : waiting_) {
    if (work.stat == stat) return {};
  }
  waiting_.push_back({std::string(path), stat});
  has_work_.notify_all();
  if (thread_.joinable()) return {};
  try {
    thread_ = std::thread([this] { run(); });
  } catch (const std::exception&) {
    waiting_.clear();  // the next request tries again
  }
  return {};
}

void ContentTags::run() const {
  std::unique_lock lock(mutex_);
  while (true) {
    has_work_.wait(lock, [this] { return is_stopping_ || !waiting_.empty(); });
    if (is_stopping_) return;
    try {
      const Work work = waiting_.front();
      lock.unlock();
      std::string tag = hash(work);
      lock.lock();
      if (!tag.empty()) remember(work.stat, std::move(tag));
    } catch (const std::bad_alloc&) {  // a later request asks again
      if (!lock.owns_lock()) lock.lock();
    }
    waiting_.pop_front();
  }
}

// Returns an empty text if the file is not, or no longer, in the state that was asked for.
std::string ContentTags::hash(const Work& work) const {
  const Result<OpenFile> file = root_->find(work.path);
  Result<crypto::Hasher> hasher = crypto::Hasher::create(crypto::Hash::Sha256);
  if (!file || !hasher || file->stat != work.stat) return {};
  const int number = file->descriptor.number();
  std::string piece;
  for (std::uint64_t offset = 0; offset < work.stat.size_bytes; offset += piece.size()) {
    piece.resize(static_cast<std::size_t>(
        std::min<std::uint64_t>(read_bytes, work.stat.size_bytes - offset)));
    const Result<std::size_t> count = base::read_at(number, offset, std::span(piece));
    if (is_stopping_ || !count || *count != piece.size() || !hasher->update(piece)) return {};
  }
  const Result<FileStat> after = stat_of(number);
  if (!after || *after != work.stat) return {};
  return as_tag(hasher->finish());
}

void ContentTags::remember(const FileStat& stat, std::string tag) const {
  if (order_.size() >= most_tags) {
    tags_.erase(order_.front());
    order_.pop_front();
  }
  order_.push_back(stat);
  tags_.insert_or_assign(stat, std::move(tag));
}

std::size_t ContentTags::HashState::operator()(const FileStat& stat) const noexcept {
  constexpr std::uint64_t odd = 0x9E3779B97F4A7C15U;
  const auto modified = static_cast<std::uint64_t>(stat.modified_ns);
  return static_cast<std::size_t>((stat.inode * odd ^ modified) * odd ^ stat.size_bytes);
}

}  // namespace skua::files
