// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace skua::cli {

/// How much of a page's end place_of_tag() has to see.
inline constexpr std::size_t page_tail_bytes = 1024;

/// Returns where a tag goes into a page: before its last `</body>` if only `</html>` and white
/// space follow, otherwise to its end. Text that looks like `</body>`, in a script or comment, is
/// none.
///
/// `tail` is the end of the page; the place is counted from where it begins.
std::size_t place_of_tag(std::string_view tail) noexcept;

/// Returns an ASCII text in the encoding of a page that begins with `head`: UTF-16 if a byte order
/// mark says so. Returns an empty text if the page is cut within a character.
std::string encode_for_page(std::string_view text, std::string_view head, bool is_size_even);

}  // namespace skua::cli
