// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

namespace skua::files {

/// Appends a file name as HTML text or attribute value. Control characters and invalid UTF-8 become
/// U+FFFD.
void append_html(std::string& out, std::string_view text);

/// Appends a percent-encoded path, safe in a URL, an attribute and a header field: only letters,
/// digits, `-._~` and `/` stay.
///
/// RFC:       3986 §2.1, §2.3
void append_path(std::string& out, std::string_view path);

/// Appends a JSON string, including its quotes. Invalid UTF-8 becomes U+FFFD; `<`, `>` and `&` are
/// escaped, so that the text is harmless in HTML too.
///
/// RFC:       8259 §7
void append_json(std::string& out, std::string_view text);

}  // namespace skua::files
