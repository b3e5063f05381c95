// SPDX-License-Identifier: MIT
// In: the files that a walk finds. Out: an archive. The size of an entry is that of the file when
// it was opened; if there turn out to be more or fewer bytes, no piece follows.
#include "files/archive/archive_source.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "base/file_io.hpp"
#include "files/archive/zip_deflate.hpp"

namespace skua::files {
namespace {

using coding::Coding;
using coding::Encoder;

constexpr int max_steps = 256;   // for one piece, as most steps open a file
constexpr int max_attempts = 4;  // to read a small file that changes
constexpr std::int64_t second_ns = 1'000'000'000;

std::int64_t seconds_of(std::int64_t time_ns) noexcept {
  return time_ns / second_ns - (time_ns % second_ns < 0 ? 1 : 0);
}

Error changed() noexcept { return {Errc::TruncatedBody, "archive: a file was changed"}; }

bool is_same_content(const FileStat& before, const FileStat& after) noexcept {
  return before.size_bytes == after.size_bytes && before.modified_ns == after.modified_ns;
}

// Fills the whole span.
Result<void> read_all(const OpenFile& file, std::uint64_t offset, std::span<char> into) {
  const Result<std::size_t> count = base::read_at(file.descriptor.number(), offset, into);
  if (!count) return count.error();
  if (*count != into.size()) return changed();
  return {};
}

}  // namespace

Result<std::unique_ptr<ArchiveSource>> ArchiveSource::create(FolderWalk walk,
                                                             ArchiveFormat format) {
  auto writer = format == ArchiveFormat::Zip ? make_zip_writer() : make_tar_writer();
  std::optional<Encoder> gzip;
  if (format == ArchiveFormat::TarGzip) {
    auto made = Encoder::create(Coding::Gzip, archive_level);
    if (!made) return made.error();
    gzip.emplace(*std::move(made));
  }
  return std::unique_ptr<ArchiveSource>(
      new ArchiveSource(std::move(walk), std::move(writer), std::move(gzip)));
}

Result<std::string> ArchiveSource::next() {
  std::string out;
  for (int steps = 0; steps < max_steps && out.size() < chunk_bytes && !is_done_; ++steps) {
    if (auto done = step(out); !done) return done.error();
  }
  if (gzip_) return compressed(*gzip_, out);
  return out;
}

Result<std::string> ArchiveSource::compressed(coding::Encoder& gzip,
                                              const std::string& plain) const {
  std::string coded;
  const auto encoded = is_done_ ? gzip.finish(plain, coded) : gzip.push(plain, coded);
  if (!encoded) return encoded.error();
  return coded;
}

Result<void> ArchiveSource::step(std::string& out) {
  if (reading_) {
    const Result<bool> is_last = go_on(*reading_, out);
    if (!is_last) return is_last.error();
    if (!*is_last) return {};
    reading_.reset();
    return writer_->end(out);
  }
  if (walk_.is_done()) {
    is_done_ = true;
    return writer_->finish(out);
  }
  auto item = walk_.step();
  if (!item) return item.error();
  std::optional<WalkItem> found = *std::move(item);
  if (!found) return {};
  return begin(*std::move(found), out);
}

Result<void> ArchiveSource::begin(WalkItem item, std::string& out) {
  const FileStat& stat = item.file.stat;
  ArchiveEntry entry{.name = item.name, .modified = seconds_of(stat.modified_ns)};
  if (entry.is_folder()) return writer_->add(entry, {}, out);
  if (stat.size_bytes <= chunk_bytes) return add_small(entry, std::move(item.file), out);
  entry.size_bytes = stat.size_bytes;
  reading_.emplace(Reading{.file = std::move(item.file)});
  return writer_->begin(entry, out);
}

Result<void> ArchiveSource::add_small(ArchiveEntry entry, OpenFile file, std::string& out) {
  for (int attempt = 0; attempt < max_attempts; ++attempt) {
    if (file.stat.size_bytes > chunk_bytes) return changed();
    content_.resize(static_cast<std::size_t>(file.stat.size_bytes));
    const auto read = read_all(file, 0, content_);
    if (!read && read.error().code() != Errc::TruncatedBody) return read.error();
    const Result<FileStat> now = stat_of(file.descriptor.number());
    if (!now) return now.error();
    if (read && is_same_content(file.stat, *now)) {
      entry.size_bytes = content_.size();
      entry.modified = seconds_of(now->modified_ns);
      return writer_->add(entry, content_, out);
    }
    file.stat = *now;
  }
  return changed();
}

Result<bool> ArchiveSource::go_on(Reading& reading, std::string& out) {
  const FileStat& stat = reading.file.stat;
  content_.resize(static_cast<std::size_t>(
      std::min<std::uint64_t>(stat.size_bytes - reading.offset, chunk_bytes)));
  if (auto read = read_all(reading.file, reading.offset, content_); !read) return read.error();
  reading.offset += content_.size();
  if (auto written = writer_->write(content_, out); !written) return written.error();
  if (reading.offset < stat.size_bytes) return false;
  const Result<FileStat> now = stat_of(reading.file.descriptor.number());
  if (!now) return now.error();
  if (!is_same_content(stat, *now)) return changed();
  return true;
}

}  // namespace skua::files
