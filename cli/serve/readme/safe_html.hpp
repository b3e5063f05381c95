// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace skua::cli {

/// Appends text, with its line breaks and tabs, as HTML text or attribute value. Other control
/// characters and invalid UTF-8 become U+FFFD.
void append_escaped_text(std::string& out, std::string_view text);

/// The site that a reference leads to: this one, or perhaps another.
enum class Reference { Here, Elsewhere };

/// Returns a URL as an attribute value, in ASCII; nullopt unless it is relative, or of http, https
/// or mailto. A relative one without a host leads Here.
std::optional<std::string> safe_url(std::string_view url, Reference& leads);

/// Appends the character that a reference such as `&#106;`, `&#x6A;` or `&amp;` stands for. Other
/// names than those of the characters of HTML's syntax are appended as they are.
void append_decoded(std::string& out, std::string_view entity);

/// Returns a heading as a fragment: `2. What's new` is `2-whats-new`.
std::string fragment_of(std::string_view heading);

}  // namespace skua::cli
