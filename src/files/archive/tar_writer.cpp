// SPDX-License-Identifier: MIT
// In: entries and their content. Out: tar, blocks of 512 bytes.
//
//   0    100  108 116 124   136   148   156 157   257    263 265        500 512
//   | name |mode|uid|gid|size|mtime|check |type|link|"ustar"|"00"|owner...|
//
// Numbers are octal digits. What does not fit is in a pax header, an entry of its own before that
// which it describes: lines of `LENGTH key=value`.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <numeric>
#include <span>

#include "files/archive/archive_writer.hpp"

namespace skua::files {
namespace {

constexpr std::size_t block_bytes = 512;
constexpr std::size_t max_tar_name_bytes = 100;
constexpr std::int64_t max_octal = 077777777777;  // 11 digits: 8 GiB, or the year 2242

using Block = std::array<char, block_bytes>;

void put_octal(std::span<char> field, std::uint64_t number) noexcept {
  for (std::size_t i = field.size() - 1; i-- > 0; number >>= 3U) {
    field[i] = static_cast<char>('0' + (number & 7U));
  }
}

void put_text(std::span<char> field, std::string_view text) noexcept {
  text.copy(field.data(), field.size());
}

/// The fields of a header that differ.
struct TarHeader {
  std::string_view name{};
  char type = '0';
  std::uint64_t size_bytes = 0;
  std::uint64_t modified = 0;
};

void append_header(std::string& out, const TarHeader& header) {
  Block block{};
  const std::span<char> fields(block);
  put_text(fields.first(max_tar_name_bytes), header.name);
  put_octal(fields.subspan(100, 8), header.type == '5' ? 0755 : 0644);
  put_octal(fields.subspan(108, 8), 0);
  put_octal(fields.subspan(116, 8), 0);
  put_octal(fields.subspan(124, 12), header.size_bytes);
  put_octal(fields.subspan(136, 12), header.modified);
  block[156] = header.type;
  put_text(fields.subspan(257, 8), std::string_view("ustar\00000", 8));
  put_octal(fields.subspan(329, 8), 0);  // the numbers of a device
  put_octal(fields.subspan(337, 8), 0);
  std::ranges::fill(fields.subspan(148, 8), ' ');
  const unsigned sum = std::accumulate(block.begin(), block.end(), 0U, [](unsigned total, char c) {
    return total + static_cast<unsigned char>(c);
  });
  put_octal(fields.subspan(148, 7), sum);
  out.append(block.data(), block.size());
}

void append_padding(std::string& out, std::uint64_t size_bytes) {
  const std::size_t over = size_bytes % block_bytes;
  if (over != 0) out.append(block_bytes - over, '\0');
}

// The length counts its own digits.
void append_record(std::string& out, std::string_view key, std::string_view value) {
  const std::size_t rest = key.size() + value.size() + 3;  // space, equals sign, line feed
  std::size_t length = rest;
  while (rest + std::to_string(length).size() != length) {
    length = rest + std::to_string(length).size();
  }
  out.append(std::to_string(length)).append(" ").append(key).append("=").append(value).append("\n");
}

bool is_ascii(std::string_view text) noexcept {
  return std::ranges::none_of(text, [](char c) { return static_cast<unsigned char>(c) >= 0x80; });
}

// The name for programs that do not know pax headers.
std::string old_name(std::string_view name) {
  std::string old(name.substr(0, max_tar_name_bytes));
  for (char& c : old) {
    if (static_cast<unsigned char>(c) >= 0x80) c = '_';
  }
  if (old.ends_with('/') && !name.ends_with('/')) old.back() = '_';
  return old;
}

class TarWriter final : public ArchiveWriter {
 public:
  Result<void> add(const ArchiveEntry& entry, std::string_view content, std::string& out) override {
    append_entry(entry, out);
    out.append(content);
    append_padding(out, content.size());
    return {};
  }
  Result<void> begin(const ArchiveEntry& entry, std::string& out) override {
    append_entry(entry, out);
    size_bytes_ = entry.size_bytes;
    return {};
  }
  Result<void> write(std::string_view piece, std::string& out) override {
    out.append(piece);
    return {};
  }
  Result<void> end(std::string& out) override {
    append_padding(out, size_bytes_);
    return {};
  }
  Result<void> finish(std::string& out) override {
    out.append(2 * block_bytes, '\0');
    return {};
  }

 private:
  static void append_entry(const ArchiveEntry& entry, std::string& out) {
    const bool is_old = entry.modified < 0 || entry.modified > max_octal;
    const bool is_large = entry.size_bytes > static_cast<std::uint64_t>(max_octal);
    std::string records;
    if (entry.name.size() > max_tar_name_bytes || !is_ascii(entry.name)) {
      append_record(records, "path", entry.name);
    }
    if (is_large) append_record(records, "size", std::to_string(entry.size_bytes));
    if (is_old) append_record(records, "mtime", std::to_string(entry.modified));
    const auto modified = is_old ? std::uint64_t{0} : static_cast<std::uint64_t>(entry.modified);
    if (!records.empty()) {
      append_header(out, {.name = "PaxHeader/entry",
                          .type = 'x',
                          .size_bytes = records.size(),
                          .modified = modified});
      out.append(records);
      append_padding(out, records.size());
    }
    const std::string name = old_name(entry.name);
    append_header(out, {.name = name,
                        .type = entry.is_folder() ? '5' : '0',
                        .size_bytes = is_large ? 0 : entry.size_bytes,
                        .modified = modified});
  }

  std::uint64_t size_bytes_ = 0;
};

}  // namespace

std::unique_ptr<ArchiveWriter> make_tar_writer() { return std::make_unique<TarWriter>(); }

}  // namespace skua::files
