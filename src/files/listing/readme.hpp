// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "files/listing/directory_index.hpp"
#include "files/safe_path.hpp"
#include "skua/bytes.hpp"

namespace skua::files {

/// Larger files are not shown.
inline constexpr std::size_t readme_at_most_bytes = 256_KiB;

/// The size from which reading and rendering a file takes another thread.
inline constexpr std::size_t long_readme_bytes = 16_KiB;

/// Returns the name of the file that describes a folder, in any letter case: README.md,
/// README.markdown, README.txt or README, in this order; empty if there is none.
std::string_view find_readme(std::span<const DirectoryEntry> entries) noexcept;

/// Opens the file that describes a folder, and sets its name; returns nullopt if there is none that
/// can be shown: a regular file, neither empty nor too large.
std::optional<OpenFile> open_readme(const DirectoryReader& folder,
                                    std::span<const DirectoryEntry> entries, std::string& name);

/// Reads it; returns nullopt if it is not a text: it contains NUL, or cannot be read.
std::optional<std::string> read_readme(const OpenFile& file);

/// The style sheet of the rendered text, without its tags, and its source in a policy.
extern const std::string_view readme_style;
extern const std::string_view readme_style_source;

/// Returns the Content-Security-Policy of a listing that may show such a text.
std::string readme_policy();

}  // namespace skua::files
