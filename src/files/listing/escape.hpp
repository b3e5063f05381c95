// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace skua::files {

/// Returns the size of the well-formed UTF-8 sequence at the start of `text`, or 0.
std::size_t character_size(std::string_view text) noexcept;

/// Reports whether a well-formed character above ASCII could show something else than the name: a
/// control character, a line end, or one that changes the direction of what follows (`gpj.exe`).
bool is_deceptive(std::string_view character) noexcept;

/// Appends a file name as HTML text or attribute value. Control characters, deceptive ones and
/// invalid UTF-8 become U+FFFD.
void append_html(std::string& out, std::string_view text);

/// Appends a percent-encoded path, safe in a URL, an attribute and a header field: only letters,
/// digits, `-._~` and `/` stay.
///
/// RFC:       3986 §2.1, §2.3
void append_path(std::string& out, std::string_view path);

/// Appends a JSON string, including its quotes. Invalid UTF-8 becomes U+FFFD; `<`, `>`, `&` and
/// deceptive characters are escaped, so that the text is harmless in HTML and on terminals, too.
///
/// RFC:       8259 §7
void append_json(std::string& out, std::string_view text);

}  // namespace skua::files
