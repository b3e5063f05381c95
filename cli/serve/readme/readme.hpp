// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace skua::cli {

/// Returns a README as HTML: Markdown if its name says so and this build can, otherwise plain text.
///
/// The HTML has no scripts, styles, raw HTML of the file's, nor links but relative ones and those
/// of http, https and mailto. It has no names that a script of the page knows.
std::string readme_html(std::string_view name, std::string_view text);

/// Returns Markdown, in the dialect of GitHub, as such HTML; nullopt if this build has no md4c, or
/// the result would be far larger than the text.
std::optional<std::string> markdown_html(std::string_view text);

/// Reports whether this build can read Markdown: it was built with md4c.
bool has_markdown() noexcept;

}  // namespace skua::cli
