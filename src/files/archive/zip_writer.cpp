// SPDX-License-Identifier: MIT
// In: entries and their content. Out: zip.
//
//   (local header, content, sizes if they were unknown)... directory, end
//
// The directory repeats every header with its offset. Small content is at hand, so that its header
// has the sizes; larger content is sent while it is read, and its sizes and CRC follow it (bit 3).
// Numbers of more than 32 bits have a field for Zip64. The specification is APPNOTE.TXT.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <utility>

#include "files/archive/archive_writer.hpp"
#include "files/archive/crc32.hpp"
#include "files/archive/zip_deflate.hpp"

namespace skua::files {
namespace {

constexpr std::uint64_t max_32 = 0xffff'ffff;
constexpr std::uint64_t max_16 = 0xffff;
// From here on, content may exceed 32 bits when it is deflated.
constexpr std::uint64_t large_bytes = 0xf000'0000;

constexpr unsigned flag_sizes_follow = 1U << 3U;
constexpr unsigned flag_utf8 = 1U << 11U;
constexpr unsigned method_stored = 0;
constexpr unsigned method_deflate = 8;
constexpr unsigned version_deflate = 20;
constexpr unsigned version_zip64 = 45;
constexpr unsigned made_on_unix = 3U << 8U;

template <std::size_t Bytes>
void append_little(std::string& out, std::uint64_t number) {
  for (std::size_t i = 0; i < Bytes; ++i, number >>= 8U) out += static_cast<char>(number & 0xffU);
}
void append_16(std::string& out, std::uint64_t number) { append_little<2>(out, number); }
void append_32(std::string& out, std::uint64_t number) { append_little<4>(out, number); }
void append_64(std::string& out, std::uint64_t number) { append_little<8>(out, number); }

std::uint64_t or_max_32(bool is_elsewhere, std::uint64_t number) {
  return is_elsewhere ? max_32 : number;
}

// Appends the time of MS-DOS, and then its date, which begin in 1980. They are local times, but of
// which place is unknown; UTC is as good.
void append_dos_time(std::string& out, std::int64_t modified) {
  using namespace std::chrono;
  constexpr sys_seconds first = sys_days(year(1980) / 1 / 1);
  constexpr sys_seconds last = sys_days(year(2107) / 12 / 31);
  const sys_seconds time = std::clamp(sys_seconds(seconds(modified)), first, last);
  const auto day = floor<days>(time);
  const year_month_day date(day);
  const hh_mm_ss clock(time - day);
  append_16(out,
            static_cast<std::uint64_t>(clock.hours().count() << 11 | clock.minutes().count() << 5 |
                                       clock.seconds().count() / 2));
  append_16(out, static_cast<std::uint64_t>((static_cast<int>(date.year()) - 1980) << 9) |
                     static_cast<unsigned>(date.month()) << 5U | static_cast<unsigned>(date.day()));
}

// Appends the extra field "UT", the time in seconds, if it fits.
void append_unix_time(std::string& extra, std::int64_t modified) {
  constexpr std::int64_t latest = 0x7fff'ffff;
  if (modified < -latest || modified > latest) return;
  append_16(extra, 0x5455);
  append_16(extra, 5);
  extra += '\1';  // the time of the last modification only
  append_32(extra, static_cast<std::uint64_t>(modified));
}

/// An entry, as its headers describe it.
struct ZipRecord {
  std::string name{};
  std::int64_t modified = 0;
  std::uint64_t plain_bytes = 0;
  std::uint64_t coded_bytes = 0;
  std::uint64_t offset = 0;  ///< of the local header
  std::uint32_t crc = 0;
  unsigned method = method_stored;
  bool sizes_follow = false;
  bool is_large = false;  ///< sizes of 64 bits

  [[nodiscard]] bool is_folder() const noexcept { return name.ends_with('/'); }
};

// Appends what both headers have in common.
void append_common(std::string& out, const ZipRecord& record, bool is_zip64, bool has_sizes,
                   std::size_t extra_bytes) {
  append_16(out, is_zip64 ? version_zip64 : version_deflate);
  append_16(out, flag_utf8 | (record.sizes_follow ? flag_sizes_follow : 0));
  append_16(out, record.method);
  append_dos_time(out, record.modified);
  append_32(out, has_sizes ? record.crc : 0);
  append_32(out, or_max_32(record.is_large, has_sizes ? record.coded_bytes : 0));
  append_32(out, or_max_32(record.is_large, has_sizes ? record.plain_bytes : 0));
  append_16(out, record.name.size());
  append_16(out, extra_bytes);
}

void append_local_header(std::string& out, const ZipRecord& record) {
  std::string extra;
  if (record.is_large) {
    append_16(extra, 1);  // Zip64
    append_16(extra, 16);
    append_64(extra, 0);  // the sizes follow
    append_64(extra, 0);
  }
  append_unix_time(extra, record.modified);
  append_32(out, 0x0403'4b50);
  append_common(out, record, record.is_large, !record.sizes_follow, extra.size());
  out.append(record.name).append(extra);
}

void append_sizes(std::string& out, const ZipRecord& record) {
  append_32(out, 0x0807'4b50);
  append_32(out, record.crc);
  if (record.is_large) {
    append_64(out, record.coded_bytes);
    append_64(out, record.plain_bytes);
  } else {
    append_32(out, record.coded_bytes);
    append_32(out, record.plain_bytes);
  }
}

void append_directory_header(std::string& out, const ZipRecord& record) {
  const bool is_far = record.offset >= max_32;
  const bool is_zip64 = record.is_large || is_far;
  std::string extra;
  if (is_zip64) {
    append_16(extra, 1);
    append_16(extra, (record.is_large ? 16U : 0U) + (is_far ? 8U : 0U));
    if (record.is_large) {
      append_64(extra, record.plain_bytes);
      append_64(extra, record.coded_bytes);
    }
    if (is_far) append_64(extra, record.offset);
  }
  append_unix_time(extra, record.modified);
  append_32(out, 0x0201'4b50);
  append_16(out, made_on_unix | version_zip64);
  append_common(out, record, is_zip64, true, extra.size());
  append_16(out, 0);  // no comment
  append_16(out, 0);  // the first disk
  append_16(out, 0);  // binary
  // The mode of Unix, and the attribute for a folder of MS-DOS.
  append_32(out, record.is_folder() ? 040'755U << 16U | 0x10U : 0100'644U << 16U);
  append_32(out, or_max_32(is_far, record.offset));
  out.append(record.name).append(extra);
}

class ZipWriter final : public ArchiveWriter {
 public:
  explicit ZipWriter(std::size_t max_directory_bytes) : max_directory_bytes_(max_directory_bytes) {}

  Result<void> add(const ArchiveEntry& entry, std::string_view content, std::string& out) override {
    const Result<std::string> deflated = deflate_.whole(content);
    if (!deflated) return deflated.error();
    const std::string_view coded = deflated->empty() ? content : *deflated;
    ZipRecord record = record_of(entry);
    record.method = deflated->empty() ? method_stored : method_deflate;
    record.crc = crc32(0, content);
    record.plain_bytes = content.size();
    record.coded_bytes = coded.size();
    const std::size_t before = out.size();
    append_local_header(out, record);
    out.append(coded);
    offset_ += out.size() - before;
    return keep(record);
  }

  Result<void> begin(const ArchiveEntry& entry, std::string& out) override {
    current_ = record_of(entry);
    current_.method = method_deflate;
    current_.sizes_follow = true;
    current_.is_large = entry.size_bytes >= large_bytes;
    deflate_.begin();
    const std::size_t before = out.size();
    append_local_header(out, current_);
    offset_ += out.size() - before;
    return {};
  }

  Result<void> write(std::string_view piece, std::string& out) override {
    current_.crc = crc32(current_.crc, piece);
    current_.plain_bytes += piece.size();
    const std::size_t before = out.size();
    auto written = deflate_.write(piece, out);
    current_.coded_bytes += out.size() - before;
    return written;
  }

  Result<void> end(std::string& out) override {
    const std::size_t before = out.size();
    if (auto ended = deflate_.end(out); !ended) return ended;
    current_.coded_bytes += out.size() - before;
    const std::size_t content_end = out.size();
    append_sizes(out, current_);
    offset_ += current_.coded_bytes + (out.size() - content_end);
    return keep(current_);
  }

  Result<void> finish(std::string& out) override {
    const bool is_zip64 = count_ >= max_16 || offset_ >= max_32;
    const std::uint64_t size_bytes = directory_.size();
    out.append(directory_);
    if (is_zip64) append_zip64_end(out);
    append_32(out, 0x0605'4b50);
    append_32(out, 0);  // the first disk, twice
    for (int i = 0; i < 2; ++i) append_16(out, std::min(count_, max_16));
    append_32(out, size_bytes);
    append_32(out, or_max_32(is_zip64, offset_));
    append_16(out, 0);  // no comment
    return {};
  }

 private:
  [[nodiscard]] ZipRecord record_of(const ArchiveEntry& entry) const {
    return {.name = std::string(entry.name), .modified = entry.modified, .offset = offset_};
  }

  Result<void> keep(const ZipRecord& record) {
    append_directory_header(directory_, record);
    ++count_;
    if (directory_.size() <= max_directory_bytes_) return {};
    return Error(Errc::BodyTooLong, "archive: the directory of the zip file");
  }

  // Zip64: the end, and where to find it.
  void append_zip64_end(std::string& out) const {
    append_32(out, 0x0606'4b50);
    append_64(out, 44);  // of the rest
    append_16(out, made_on_unix | version_zip64);
    append_16(out, version_zip64);
    append_64(out, 0);  // the first disk, twice
    for (int i = 0; i < 2; ++i) append_64(out, count_);
    append_64(out, directory_.size());
    append_64(out, offset_);
    append_32(out, 0x0706'4b50);
    append_32(out, 0);  // the first disk
    append_64(out, offset_ + directory_.size());
    append_32(out, 1);  // of one disk
  }

  ZipDeflate deflate_;
  ZipRecord current_;
  std::string directory_;
  std::size_t max_directory_bytes_;
  std::uint64_t count_ = 0;
  std::uint64_t offset_ = 0;  // of what has been appended
};

}  // namespace

std::unique_ptr<ArchiveWriter> make_zip_writer(std::size_t max_directory_bytes) {
  return std::make_unique<ZipWriter>(max_directory_bytes);
}

}  // namespace skua::files
