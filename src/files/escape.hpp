// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

namespace skua::files {

/// Appends a file name as text or attribute value of HTML. Control characters and bytes that are
/// not UTF-8 become U+FFFD.
void append_html(std::string& out, std::string_view text);

/// Appends a path percent-encoded, so that it survives as it is in a URL, an attribute and a header
/// field: letters, digits, `-._~` and `/` stay.
///
/// RFC:       3986 §2.1, §2.3
void append_path(std::string& out, std::string_view path);

/// Appends a string of JSON, quotes included. Bytes that are not UTF-8 become U+FFFD; `<`, `>` and
/// `&` are escaped, so that the text is harmless inside HTML too.
///
/// RFC:       8259 §7
void append_json(std::string& out, std::string_view text);

}  // namespace skua::files
