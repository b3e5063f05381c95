// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace skua::files {

/// The most bytes of a name in an archive: more than that, and systems refuse to unpack it.
inline constexpr std::size_t max_entry_name_bytes = 255;

/// Returns a file name as archives have it: UTF-8 that unpacks to one file, below the folder that
/// it is unpacked to, on any system. Bytes that are not UTF-8, control characters (also U+0080 to
/// U+009F, which terminals obey), those that change the direction of text or end a line, slashes,
/// and the colon of a drive become `%XX`, and so does a name of dots and spaces only. Long names
/// are cut.
std::string entry_name(std::string_view name);

/// A file of a folder, and what archives call it.
struct NamedFile {
  std::string name{};
  std::string entry{};  ///< empty: its name
};

/// Sorts the names of a folder, and finds names in archives for them: no two are the same.
std::vector<NamedFile> name_entries(std::vector<std::string> names);

/// Returns the name of an archive of the folder at a path, without its extension, which is that of
/// the folder that it unpacks to: the last segment, without characters that mean something to a
/// shell or to Windows. `files` for the root.
std::string archive_name(std::string_view path);

}  // namespace skua::files
