// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/intrusive_list.hpp"
#include "loop/clock.hpp"
#include "loop/loop.hpp"
#include "skua/body.hpp"
#include "skua/body_writer.hpp"
#include "skua/bytes.hpp"
#include "skua/task.hpp"

namespace skua::body {

/// The system's copies of files in memory.
class PageCache {
 public:
  /// Reports whether the bytes are in memory, as far as a few of them tell; true if that is
  /// unknown. `chance` chooses them. Never waits for the disk.
  [[nodiscard]] virtual bool has(int file, std::uint64_t offset, std::uint64_t size_bytes,
                                 std::uint32_t chance) const noexcept = 0;
  /// Reads the bytes into memory, and starts to read `ahead_bytes` more. Any thread.
  virtual void read(int file, std::uint64_t offset, std::uint64_t size_bytes,
                    std::uint64_t ahead_bytes) const noexcept = 0;

  /// That of this machine.
  static const PageCache& system() noexcept;

 protected:
  ~PageCache() = default;
};

/// Files that are about to be sent, for one loop. Ranges that are not in memory are first read on
/// the loop's pool (offload()), because sending them would stop the loop until the disk answers.
class ColdFiles final {
 public:
  /// The files of a loop. Shared with content that may outlive the loop.
  static const std::shared_ptr<ColdFiles>& of(loop::Loop& loop);

  ColdFiles() noexcept = default;
  ColdFiles(const ColdFiles&) = delete;
  ColdFiles& operator=(const ColdFiles&) = delete;
  ~ColdFiles() = default;

  /// Prepares content to be sent. A range of a file becomes a stream of ranges, each of which is in
  /// memory when it is written, unless all of it is already there. Other content stays as it is.
  /// Does nothing on a loop that expects no files; see files::expect_file_ranges().
  static void prepare(Body& content, loop::Loop& loop) {
    if (content.kind() != Body::Kind::File) return;
    const OfLoop* const own = loop.attachments().find<OfLoop>();
    if (own != nullptr && own->files != nullptr) own->prepare(content, loop);
  }

  /// The size of the pieces in which ranges are checked and read.
  static constexpr std::uint64_t window_bytes = 1024 * 1024;
  /// How many of them are written at once if they are in memory: at first, and to a peer that takes
  /// them within the time for which they are `trusted`.
  static constexpr std::uint64_t windows_at_first = 2;
  static constexpr std::uint64_t most_windows = 8;
  /// How many reads a loop may have in the pool, which other calls need, too.
  static constexpr std::size_t reads_at_once = 4;
  /// A range of an open file that was in memory is not checked again for this long.
  static constexpr Duration trusted = std::chrono::seconds(1);

  /// Replaces the page cache, which must outlive this; for tests.
  void use(const PageCache& cache) noexcept { cache_ = &cache; }

 private:
  // A read that may be in the pool; waits for its turn.
  class Turn;
  // A range that was in memory, of a file that may still be open.
  struct Known {
    std::weak_ptr<const void> owner{};
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    loop::Instant seen{};
  };

  // An attachment of the loop. Called by pointer, so that programs without files do not link what
  // it refers to.
  struct OfLoop {
    void (*prepare)(Body&, loop::Loop&) = nullptr;
    // Shared with streams, which may be destroyed after the loop's attachments.
    std::shared_ptr<ColdFiles> files{};
  };

  static void prepare_file(Body& content, loop::Loop& loop);
  static Task<> write_windows(std::shared_ptr<ColdFiles> self, loop::Loop& loop, FileRange range,
                              BodyWriter& writer);
  [[nodiscard]] std::uint64_t resident_bytes(const FileRange& range,
                                             std::uint64_t most_bytes) noexcept;
  static Task<> read(std::shared_ptr<ColdFiles> self, FileRange window, std::uint64_t ahead_bytes);
  [[nodiscard]] bool has(const FileRange& range) noexcept;
  [[nodiscard]] bool is_known(const FileRange& range, loop::Instant now) noexcept;
  void note(const FileRange& range, loop::Instant now) noexcept;
  [[nodiscard]] Known& known_at(int file) noexcept;

  const PageCache* cache_ = &PageCache::system();
  std::uint32_t chance_ = 1;
  std::size_t reading_ = 0;
  base::IntrusiveList<Turn> waiting_;
  std::array<Known, 256> known_{};  // by descriptor
};

}  // namespace skua::body
