// SPDX-License-Identifier: MIT
// In: a range of a file that is about to be sent. Out: the same bytes, but first those that only
// the disk has are read by another thread, window by window. A few bytes of a window stand for all,
// because checking each would cost what sending it does. They are chosen by chance near its ends:
// parts of files come and go from either end, and a check itself brings the bytes it asks for into
// memory.
#include "body/cold_files.hpp"

#include <algorithm>
#include <coroutine>
#include <span>
#include <utility>

#include "base/disk.hpp"
#include "base/file_io.hpp"
#include "files/file_body.hpp"
#include "loop/current.hpp"
#include "loop/loop.hpp"
#include "skua/async.hpp"
#include "skua/waiter.hpp"

namespace skua::body {
namespace {

constexpr std::uint64_t end_bytes = 64 * 1024;  // of a window, which has one of the checked bytes
constexpr std::size_t read_piece_bytes = 16 * 1024;  // musl's threads have small stacks
constexpr std::chrono::milliseconds pool_pause(20);  // while the queue of the pool is full

bool has_byte(int file, std::uint64_t offset) noexcept {
  char byte = 0;
  const Result<std::size_t> count = base::read_resident(file, offset, std::span(&byte, 1));
  return count || count.error().code() != Errc::WouldBlock;
}

class SystemPageCache final : public PageCache {
 public:
  [[nodiscard]] bool has(int file, std::uint64_t offset, std::uint64_t size_bytes,
                         std::uint32_t chance) const noexcept override {
    const std::uint64_t near = std::clamp<std::uint64_t>(size_bytes / 2, 1, end_bytes);
    const std::uint64_t last = offset + size_bytes - 1;
    return has_byte(file, offset + chance % near) && has_byte(file, last - (chance >> 16U) % near);
  }

  void read(int file, std::uint64_t offset, std::uint64_t size_bytes,
            std::uint64_t ahead_bytes) const noexcept override {
    base::start_reading(file, offset, size_bytes + ahead_bytes);
    std::array<char, read_piece_bytes> piece;
    while (size_bytes != 0) {
      const auto wanted =
          static_cast<std::size_t>(std::min<std::uint64_t>(size_bytes, piece.size()));
      const Result<std::size_t> count = base::read_at(file, offset, std::span(piece).first(wanted));
      if (!count || *count < wanted) return;  // sending it will find the same
      offset += wanted;
      size_bytes -= wanted;
    }
  }
};

constexpr SystemPageCache system_cache;

}  // namespace

const PageCache& PageCache::system() noexcept { return system_cache; }

const std::shared_ptr<ColdFiles>& ColdFiles::of(loop::Loop& loop) {
  OfLoop& own = loop.attachments().get<OfLoop>();
  if (own.files == nullptr) own = {&ColdFiles::prepare_file, std::make_shared<ColdFiles>()};
  return own.files;
}

// Awaited once. A turn is handed on when its owner is done or dropped, in FIFO order.
class ColdFiles::Turn final : public base::ListNode {
 public:
  explicit Turn(ColdFiles& files) noexcept : files_(files) {
    if (files.reading_ == reads_at_once) return;
    ++files.reading_;
    is_mine_ = true;
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  ~Turn() {
    if (!is_mine_) return;
    --files_.reading_;
    if (files_.waiting_.empty()) return;
    Turn& next = files_.waiting_.front();
    next.unlink();
    next.is_mine_ = true;
    ++files_.reading_;
    next.waiter_.wake();
  }

  [[nodiscard]] bool await_ready() const noexcept { return is_mine_; }
  void await_suspend(std::coroutine_handle<> caller) {
    waiter_.park(caller);
    files_.waiting_.push_back(*this);
  }
  static void await_resume() noexcept {}

 private:
  ColdFiles& files_;
  skua::detail::Waiter waiter_;
  bool is_mine_ = false;
};

void ColdFiles::prepare_file(Body& content, loop::Loop& loop) {
  if (loop.pool() == nullptr) return;
  const std::shared_ptr<ColdFiles>& files = of(loop);
  const FileRange& range = *content.file();
  if (range.size_bytes <= window_bytes) {
    const loop::Instant now = loop.now();
    if (files->is_known(range, now)) return;
    if (files->has(range)) return files->note(range, now);
  }
  BodyStream stream{.length_bytes = range.size_bytes};
  stream.produce = [files, range, &loop](BodyWriter& writer) {
    return write_windows(files, loop, range, writer);
  };
  content = Body(std::make_shared<const BodyStream>(std::move(stream)));
}

// Writes windows that are in memory together, as each write may cost a turn of the loop. If the
// peer takes them slowly, they might be in memory no longer when it is their turn.
Task<> ColdFiles::write_windows(std::shared_ptr<ColdFiles> self, loop::Loop& loop, FileRange range,
                                BodyWriter& writer) {
  std::uint64_t most_bytes = windows_at_first * window_bytes;
  while (range.size_bytes != 0) {
    FileRange part = range;
    part.size_bytes = self->resident_bytes(range, most_bytes);
    if (part.size_bytes == 0) {
      part.size_bytes = std::min(range.size_bytes, window_bytes);
      const std::uint64_t left = range.size_bytes - part.size_bytes;
      auto reading = read(self, part, std::min(left, window_bytes));
      co_await reading;
    }
    range.offset += part.size_bytes;
    range.size_bytes -= part.size_bytes;
    const loop::Instant begun = loop.now();
    auto written = writer.write(Body(std::move(part)));
    co_await written;
    const bool is_slow = loop.now() - begun >= trusted;
    most_bytes = is_slow ? window_bytes : std::min(most_bytes * 2, most_windows * window_bytes);
  }
}

// Returns how many bytes at the beginning of the range are in memory, window by window.
std::uint64_t ColdFiles::resident_bytes(const FileRange& range, std::uint64_t most_bytes) noexcept {
  const std::uint64_t end = std::min(range.size_bytes, most_bytes);
  FileRange window = range;
  std::uint64_t passed = 0;
  while (passed < end) {
    window.offset = range.offset + passed;
    window.size_bytes = std::min(end - passed, window_bytes);
    if (!has(window)) break;
    passed += window.size_bytes;
  }
  return passed;
}

// The pool has a descriptor of its own: what owns the other one belongs to this thread.
Task<> ColdFiles::read(std::shared_ptr<ColdFiles> self, FileRange window,
                       std::uint64_t ahead_bytes) {
  Turn turn(*self);  // NOLINT(misc-const-correctness): awaiting it changes it
  co_await turn;
  if (self->has(window)) co_return;  // another response had it read
  const auto file = std::make_shared<const disk::Descriptor>(base::duplicate_file(window.file));
  if (!*file) co_return;  // no descriptor is left: sending has to wait for the disk
  const PageCache* const cache = self->cache_;
  const auto call = [cache, file, offset = window.offset, size_bytes = window.size_bytes,
                     ahead_bytes] { cache->read(file->number(), offset, size_bytes, ahead_bytes); };
  while (true) {
    bool is_full = false;  // the queue of the pool
    try {
      auto reading = offload(call);
      co_await reading;
    } catch (const Exception&) {
      is_full = true;
    }
    if (!is_full) co_return;
    auto pause = sleep(pool_pause);
    co_await pause;
  }
}

bool ColdFiles::has(const FileRange& range) noexcept {
  chance_ ^= chance_ << 13U;  // xorshift32
  chance_ ^= chance_ >> 17U;
  chance_ ^= chance_ << 5U;
  return cache_->has(range.file, range.offset, range.size_bytes, chance_);
}

ColdFiles::Known& ColdFiles::known_at(int file) noexcept {
  return known_[static_cast<unsigned>(file) % known_.size()];
}

bool ColdFiles::is_known(const FileRange& range, loop::Instant now) noexcept {
  const Known& known = known_at(range.file);
  const bool is_same = range.owner != nullptr && !known.owner.owner_before(range.owner) &&
                       !range.owner.owner_before(known.owner);
  return is_same && now - known.seen < trusted && known.begin <= range.offset &&
         range.offset + range.size_bytes <= known.end;
}

// The weak reference tells the owner from another one at the same address, or with the same
// descriptor.
void ColdFiles::note(const FileRange& range, loop::Instant now) noexcept {
  known_at(range.file) = {range.owner, range.offset, range.offset + range.size_bytes, now};
}

}  // namespace skua::body

void skua::files::expect_file_ranges() {
  if (loop::Loop* const loop = loop::find_current()) body::ColdFiles::of(*loop);
}
