// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

namespace skua::http {

/// Appends a text as a JSON string, with its quotes, in printable ASCII. Bytes that are not UTF-8
/// become U+FFFD.
///
/// RFC:       8259 §7
void append_json(std::string& out, std::string_view text);

}  // namespace skua::http
