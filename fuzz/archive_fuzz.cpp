// SPDX-License-Identifier: MIT
// In: file names, one per line. Checked: no name in an archive leads out of its folder, hides what
// it is or is there twice; and strict readers of tar and zip find exactly what was written.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ascii.hpp"
#include "coding/coding.hpp"
#include "files/archive/archive_writer.hpp"
#include "files/archive/crc32.hpp"
#include "files/archive/entry_name.hpp"
#include "files/safe_path.hpp"
#include "ws/utf8.hpp"

namespace {

namespace files = skua::files;

void check(bool holds) {
  if (!holds) std::abort();
}

/// An entry, as it was written or read.
struct Entry {
  std::string name{};
  std::string content{};
  std::int64_t modified = 0;

  friend bool operator==(const Entry&, const Entry&) = default;
};

void check_name(std::string_view raw) {
  const std::string name = files::entry_name(raw);
  check(!name.empty() || raw.empty());
  check(name.size() <= files::max_entry_name_bytes && skua::ws::is_utf8(name));
  check(raw.empty() || files::is_safe_name(name, files::NameRules::Posix));
  check(name.size() < 2 || name[1] != ':' || !skua::ascii::is_alpha(name[0]));
  check(raw.empty() || name.find_first_not_of(". ") != name.npos);
  check(files::entry_name(name) == name);
  for (const std::string_view hidden : {"\u0085", "\u202e", "\u2066", "\u2028", "\ufeff", "\x7f"}) {
    check(name.find(hidden) == name.npos);
  }
  const std::string archive = files::archive_name(raw);
  check(!archive.empty() && archive.size() <= 200 && skua::ws::is_utf8(archive));
  check(archive.find_first_of("/\\\"'`$&;:<>|?*%!\n") == archive.npos);
  check(std::string_view(".-~ ").find(archive.front()) == std::string_view::npos);
  check(archive.back() != '.' && archive.back() != ' ');
}

// Returns the number in a field of tar: octal digits, and a NUL or a space.
std::uint64_t octal(std::string_view field) {
  check(field.ends_with('\0') || field.ends_with(' '));
  std::uint64_t number = 0;
  for (const char c : field.substr(0, field.size() - 1)) {
    check(c >= '0' && c <= '7');
    number = number * 8 + static_cast<unsigned>(c - '0');
  }
  return number;
}

std::string_view take(std::string_view& text, std::size_t size_bytes) {
  check(size_bytes <= text.size());
  const std::string_view taken = text.substr(0, size_bytes);
  text.remove_prefix(size_bytes);
  return taken;
}

bool is_zero(std::string_view text) { return text.find_first_not_of('\0') == text.npos; }

std::string_view text_of(std::string_view field) { return field.substr(0, field.find('\0')); }

void check_sum(std::string_view header) {
  unsigned sum = 8 * ' ';
  for (std::size_t i = 0; i < header.size(); ++i) {
    if (i < 148 || i >= 156) sum += static_cast<unsigned char>(header[i]);
  }
  check(octal(header.substr(148, 7)) == sum && header[155] == ' ');
}

/// Reads tar strictly: ustar with pax headers.
class TarReader {
 public:
  explicit TarReader(std::string_view text) : rest_(text) { check(text.size() % 512 == 0); }

  std::vector<Entry> read() {
    std::vector<Entry> entries;
    while (!is_zero(rest_.substr(0, 512))) {
      if (auto entry = read_one()) entries.push_back(*std::move(entry));
    }
    check(rest_.size() == 1024 && is_zero(rest_) && !name_ && !modified_);
    return entries;
  }

 private:
  // Returns nullopt for a pax header.
  std::optional<Entry> read_one() {
    const std::string_view header = take(rest_, 512);
    check_sum(header);
    check(header.substr(257, 8) == std::string_view("ustar\00000", 8));
    const auto size = static_cast<std::size_t>(octal(header.substr(124, 12)));
    const std::string_view content = take(rest_, size);
    check(is_zero(take(rest_, (512 - size % 512) % 512)));
    if (header[156] == 'x') {
      read_records(content);
      return std::nullopt;
    }
    const bool is_folder = header[156] == '5';
    check(is_folder || header[156] == '0');
    Entry entry{.content = std::string(content)};
    entry.name = name_ ? *name_ : std::string(text_of(header.substr(0, 100)));
    check(entry.name.ends_with('/') == is_folder && (!is_folder || size == 0));
    check(text_of(header.substr(0, 100)).ends_with('/') == is_folder || entry.name.size() > 100);
    entry.modified = modified_.value_or(static_cast<std::int64_t>(octal(header.substr(136, 12))));
    name_.reset();
    modified_.reset();
    return entry;
  }

  void read_records(std::string_view records) {
    check(!records.empty());
    while (!records.empty()) {
      const std::size_t space = records.find(' ');
      check(space != records.npos && space < 6);
      const std::size_t length = std::stoul(std::string(records.substr(0, space)));
      std::string_view record = take(records, length).substr(space + 1);
      check(record.ends_with('\n'));
      record.remove_suffix(1);
      const std::string_view key = record.substr(0, record.find('='));
      const std::string value(record.substr(key.size() + 1));
      check((key == "path" && !name_) || (key == "mtime" && !modified_));
      if (key == "path") name_ = value;
      if (key == "mtime") modified_ = std::stoll(value);
    }
  }

  std::string_view rest_;
  std::optional<std::string> name_{};
  std::optional<std::int64_t> modified_{};
};

std::uint64_t little(std::string_view text, std::size_t at, std::size_t size_bytes) {
  std::uint64_t number = 0;
  for (std::size_t i = size_bytes; i-- > 0;) {
    number = number << 8U | static_cast<unsigned char>(text.at(at + i));
  }
  return number;
}

/// Reads zip strictly: what its directory says, local headers and what is between them agree.
class ZipReader {
 public:
  explicit ZipReader(std::string_view text) : text_(text) {}

  std::vector<Entry> read() {
    check(text_.size() >= 22);
    const std::string_view end = text_.substr(text_.size() - 22);
    check(little(end, 0, 4) == 0x06054b50 && little(end, 20, 2) == 0);
    const std::size_t directory = little(end, 16, 4);
    const std::size_t count = little(end, 10, 2);
    check(little(end, 8, 2) == count && directory + little(end, 12, 4) + 22 == text_.size());
    std::vector<Entry> entries;
    for (at_ = directory; entries.size() < count;) entries.push_back(read_one());
    check(at_ + 22 == text_.size() && content_end_ == directory);
    return entries;
  }

 private:
  Entry read_one() {
    const std::string_view header = text_.substr(at_);
    check(little(header, 0, 4) == 0x02014b50);
    const std::size_t name_bytes = little(header, 28, 2);
    const std::size_t extra_bytes = little(header, 30, 2);
    Entry entry{.name = std::string(header.substr(46, name_bytes))};
    check(entry.name.ends_with('/') == ((little(header, 38, 4) & 0x10U) != 0));
    const std::string_view extra = header.substr(46 + name_bytes, extra_bytes);
    if (!extra.empty()) {
      check(extra.size() == 9 && little(extra, 0, 2) == 0x5455 && little(extra, 2, 2) == 5);
      entry.modified = static_cast<std::int32_t>(little(extra, 5, 4));
    }
    at_ += 46 + name_bytes + extra_bytes;
    read_local(header, extra, entry);
    return entry;
  }

  void read_local(std::string_view directory, std::string_view extra, Entry& entry) {
    check(little(directory, 42, 4) == content_end_);  // nothing is between entries
    const std::string_view local = text_.substr(content_end_);
    check(little(local, 0, 4) == 0x04034b50);
    check(local.substr(4, 10) == directory.substr(6, 10));  // version, flags, method, time
    const bool sizes_follow = (little(local, 6, 2) & 8U) != 0;
    check((little(local, 6, 2) & ~8U) == 0x800);  // UTF-8
    const std::string_view numbers = directory.substr(16, 12);
    check(sizes_follow ? is_zero(local.substr(14, 12)) : local.substr(14, 12) == numbers);
    check(little(local, 26, 2) == entry.name.size() && little(local, 28, 2) == extra.size());
    check(local.substr(30, entry.name.size()) == entry.name);
    check(local.substr(30 + entry.name.size(), extra.size()) == extra);
    content_end_ += 30 + entry.name.size() + extra.size();
    const std::string_view coded = text_.substr(content_end_, little(numbers, 4, 4));
    check(coded.size() == little(numbers, 4, 4));
    content_end_ += coded.size();
    entry.content = decoded(coded, little(local, 8, 2));
    if (can_read_) {
      check(entry.content.size() == little(numbers, 8, 4));
      check(skua::files::crc32(0, entry.content) == little(numbers, 0, 4));
    }
    if (!sizes_follow) return;
    check(little(text_, content_end_, 4) == 0x08074b50);
    check(text_.substr(content_end_ + 4, 12) == numbers);
    content_end_ += 16;
  }

  std::string decoded(std::string_view coded, std::uint64_t method) {
    using namespace skua::coding;
    can_read_ = true;
    if (method == 0) return std::string(coded);
    check(method == 8);
    can_read_ = is_available(Coding::Deflate);
    if (!can_read_) return {};
    auto decoder = Decoder::create(Coding::Deflate, {.ratio = 0}, RawDeflate::Taken);
    std::string out;
    check(decoder && decoder->push(coded, out) && decoder->finish());
    return out;
  }

  std::string_view text_;
  std::size_t at_ = 0;           // in the directory
  std::size_t content_end_ = 0;  // of the entries so far
  bool can_read_ = true;
};

std::string write(files::ArchiveWriter& writer, const std::vector<Entry>& entries) {
  std::string out;
  for (const Entry& entry : entries) {
    const files::ArchiveEntry about{
        .name = entry.name, .modified = entry.modified, .size_bytes = entry.content.size()};
    if (entry.content.size() % 3 != 1) {
      check(writer.add(about, entry.content, out).has_value());
      continue;
    }
    check(writer.begin(about, out).has_value());
    const std::string_view content = entry.content;
    for (std::size_t at = 0; at < content.size(); at += 40) {
      check(writer.write(content.substr(at, 40), out).has_value());
    }
    check(writer.end(out).has_value());
  }
  check(writer.finish(out).has_value());
  return out;
}

std::vector<Entry> entries_of(const std::vector<files::NamedFile>& named, std::string_view text) {
  std::vector<Entry> entries;
  std::string folder = "files/";
  for (const files::NamedFile& file : named) {
    Entry entry{.name = folder + (file.entry.empty() ? file.name : file.entry)};
    const std::uint32_t number = files::crc32(0, file.name);
    // A third of the times are before 1970.
    entry.modified = static_cast<std::int64_t>(number) - (std::int64_t{1} << 30U);
    if (number % 4 == 0 && folder.size() < 2000) {
      folder = entry.name += '/';
    } else {
      entry.content = text.substr(0, number % (text.size() + 1));
    }
    entries.push_back(std::move(entry));
  }
  return entries;
}

void check_archives(const std::vector<Entry>& entries) {
  check(TarReader(write(*files::make_tar_writer(), entries)).read() == entries);
  const std::string zip = write(*files::make_zip_writer(), entries);
  std::vector<Entry> wanted = entries;
  if (!skua::coding::is_available(skua::coding::Coding::Deflate)) {
    // Content that nothing here can read.
    for (Entry& entry : wanted) {
      if (entry.content.size() % 3 == 1) entry.content.clear();
    }
  }
  for (Entry& entry : wanted) {
    if (entry.modified > 0x7fff'ffff) entry.modified = 0;  // has only the time of MS-DOS
  }
  check(ZipReader(zip).read() == wanted);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 16'384) return 0;
  const std::string text(reinterpret_cast<const char*>(data), size);
  std::vector<std::string> names;
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    check_name(line);
    // As a file system has it, where each name is there once.
    const bool is_possible = !line.empty() && line.size() <= 255 &&
                             line.find_first_of(std::string_view("/\0", 2)) == line.npos;
    if (is_possible) names.emplace_back(line);
  }
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  const std::size_t count = names.size();
  const std::vector<files::NamedFile> named = files::name_entries(std::move(names));
  check(named.size() == count);
  std::vector<std::string_view> taken;
  for (const files::NamedFile& file : named) {
    taken.push_back(file.entry.empty() ? file.name : file.entry);
    check(!file.entry.empty() || files::entry_name(file.name) == file.name);
    check(taken.back().size() <= files::max_entry_name_bytes && skua::ws::is_utf8(taken.back()));
    check(files::is_safe_name(taken.back(), files::NameRules::Posix));
  }
  std::ranges::sort(taken);
  check(std::ranges::adjacent_find(taken) == taken.end());
  check_archives(entries_of(named, text));
  return 0;
}
