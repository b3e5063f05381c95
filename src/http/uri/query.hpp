// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace skua::http {

/// One `name=value` pair of a query string, still encoded.
struct QueryPair {
  std::string_view name{};
  std::string_view value{};
};

/// Removes and returns the next pair of a query string; skips empty pairs. WHATWG URL §5.1
std::optional<QueryPair> take_pair(std::string_view& query) noexcept;

/// Reports whether form decoding could change the text.
bool is_encoded(std::string_view text) noexcept;

/// Decodes `+` to a space and `%41` to A; a malformed `%` stands for itself. WHATWG URL §5.1
///
/// `out` must have room for as many bytes as `encoded`. Returns the number of bytes written.
std::size_t decode_form(std::string_view encoded, char* out) noexcept;

/// Reports whether `encoded` decodes to `text`.
bool decodes_to(std::string_view encoded, std::string_view text) noexcept;

}  // namespace skua::http
