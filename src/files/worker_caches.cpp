// SPDX-License-Identifier: MIT
// Each thread remembers pointers to its caches, which this object owns. A remembered pointer is
// checked by a unique id, so it can be outdated but never wrong.
#include "files/worker_caches.hpp"

#include <array>
#include <atomic>
#include <utility>

namespace skua::files {
namespace {

struct Memo {
  std::uint64_t id = 0;
  FileCache* cache = nullptr;
};

// Few programs serve more folders than this; two that share a slot look theirs up again.
constexpr std::size_t memo_count = 8;

std::uint64_t next_id() noexcept {
  static std::atomic<std::uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

}  // namespace

WorkerCaches::WorkerCaches(std::function<std::unique_ptr<FileCache>()> make)
    : make_(std::move(make)), id_(next_id()) {}

FileCache& WorkerCaches::local() const {
  thread_local std::array<Memo, memo_count> memos;
  Memo& memo = memos[id_ % memo_count];
  if (memo.id != id_) memo = {id_, &find_or_make()};
  return *memo.cache;
}

FileCache& WorkerCaches::find_or_make() const {
  const std::lock_guard lock(mutex_);
  std::unique_ptr<FileCache>& cache = caches_[std::this_thread::get_id()];
  if (!cache) cache = make_();
  return *cache;
}

}  // namespace skua::files
