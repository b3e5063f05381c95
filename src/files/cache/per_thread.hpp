// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <utility>

namespace skua::files {

/// One object per calling thread; they share nothing, so uses take no lock.
///
/// A lock is taken once per thread, to make its object. That of an ended thread stays until this
/// one is destroyed, or is reused by a thread with the same id.
template <class T>
class PerThread {
 public:
  explicit PerThread(std::function<std::unique_ptr<T>()> make) : make_(std::move(make)) {}
  PerThread(const PerThread&) = delete;
  PerThread& operator=(const PerThread&) = delete;

  /// Returns the calling thread's object.
  [[nodiscard]] T& local() const {
    thread_local std::array<Memo, memo_count> memos;
    Memo& memo = memos[id_ % memo_count];
    if (memo.id != id_) memo = {id_, &find_or_make()};
    return *memo.object;
  }

 private:
  // Each thread remembers pointers to its objects, which this one owns. A remembered pointer is
  // checked by a unique id, so it can be outdated but never wrong.
  struct Memo {
    std::uint64_t id = 0;
    T* object = nullptr;
  };
  // Few programs serve more folders than this; two that share a slot look theirs up again.
  static constexpr std::size_t memo_count = 8;

  static std::uint64_t next_id() noexcept {
    static std::atomic<std::uint64_t> last{0};
    return last.fetch_add(1, std::memory_order_relaxed) + 1;
  }

  T& find_or_make() const {
    const std::lock_guard lock(mutex_);
    std::unique_ptr<T>& object = objects_[std::this_thread::get_id()];
    if (!object) object = make_();
    return *object;
  }

  std::function<std::unique_ptr<T>()> make_;
  std::uint64_t id_ = next_id();  // unique in the process
  mutable std::mutex mutex_;
  mutable std::unordered_map<std::thread::id, std::unique_ptr<T>> objects_;
};

}  // namespace skua::files
