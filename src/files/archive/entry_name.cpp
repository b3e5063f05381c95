// SPDX-License-Identifier: MIT
// In: names as the file system has them. Out: names that are harmless to unpack and to print.
#include "files/archive/entry_name.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/ascii.hpp"
#include "files/listing/escape.hpp"

namespace skua::files {
namespace {

constexpr std::size_t max_archive_name_bytes = 200;  // leaves room for an extension

void append_octets(std::string& out, std::string_view octets) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  for (const char c : octets) {
    const auto octet = static_cast<unsigned char>(c);
    out.append("%").append(1, digits[octet >> 4U]).append(1, digits[octet & 15U]);
  }
}

bool is_plain(char c) noexcept {
  return static_cast<unsigned char>(c) >= 0x20 && c != 0x7f && c != '/' && c != '\\';
}

// `..` is the folder above, and Windows drops the space of `.. `.
bool is_only_dots(std::string_view name) noexcept {
  return name.find_first_not_of(". ") == name.npos;
}

// Cuts a name between two characters.
void shorten(std::string& name, std::size_t max_bytes) {
  if (name.size() <= max_bytes) return;
  while (max_bytes > 0 && (static_cast<unsigned char>(name[max_bytes]) & 0xc0U) == 0x80U) {
    --max_bytes;
  }
  name.resize(max_bytes);
}

/// Finds names that no other file of a folder has.
class UniqueNames {
 public:
  explicit UniqueNames(const std::vector<NamedFile>& files) {
    for (const NamedFile& file : files) {
      if (file.entry.empty()) taken_.insert(file.name);
    }
  }

  std::string find(std::string name) {
    if (taken_.insert(name).second) return name;
    unsigned& count = counts_[name];
    while (true) {
      const std::string end = "~" + std::to_string(++count);
      std::string other = name;
      shorten(other, max_entry_name_bytes - end.size());
      other += end;
      if (taken_.insert(other).second) return other;
    }
  }

 private:
  std::unordered_set<std::string> taken_;
  std::unordered_map<std::string, unsigned> counts_;  // how often a name was asked for again
};

}  // namespace

std::string entry_name(std::string_view name) {
  std::string out;
  if (is_only_dots(name)) {
    append_octets(out, name);
  } else {
    for (std::string_view rest = name; !rest.empty();) {
      const std::size_t size = character_size(rest);
      const std::string_view character = rest.substr(0, std::max<std::size_t>(size, 1));
      const bool is_drive = character == ":" && out.size() == 1 && ascii::is_alpha(out.front());
      const bool is_safe = size == 1 ? is_plain(character.front()) && !is_drive
                                     : size != 0 && !is_deceptive(character);
      is_safe ? static_cast<void>(out.append(character)) : append_octets(out, character);
      rest.remove_prefix(character.size());
    }
  }
  shorten(out, max_entry_name_bytes);
  return out;
}

std::vector<NamedFile> name_entries(std::vector<std::string> names) {
  std::ranges::sort(names);
  std::vector<NamedFile> files;
  files.reserve(names.size());
  bool has_changed = false;
  for (std::string& name : names) {
    std::string entry = entry_name(name);
    if (entry == name) entry.clear();
    has_changed = has_changed || !entry.empty();
    files.push_back({std::move(name), std::move(entry)});
  }
  if (!has_changed) return files;
  UniqueNames unique(files);
  for (NamedFile& file : files) {
    if (!file.entry.empty()) file.entry = unique.find(std::move(file.entry));
  }
  return files;
}

std::string archive_name(std::string_view path) {
  while (path.ends_with('/')) path.remove_suffix(1);
  std::string name = entry_name(path.substr(path.rfind('/') + 1));
  for (char& c : name) {
    if (std::string_view("\"'`$&;:<>|?*%!").find(c) != std::string_view::npos) c = '_';
  }
  shorten(name, max_archive_name_bytes);
  if (name.empty()) return "files";
  if (std::string_view(".-~ ").find(name.front()) != std::string_view::npos) name.front() = '_';
  if (name.back() == '.' || name.back() == ' ') name.back() = '_';
  return name;
}

}  // namespace skua::files
