// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace skua::http {

/// One `name=value` of a query string, as it was sent.
struct QueryPair {
  std::string_view name{};
  std::string_view value{};
};

/// Takes the next pair off a query string; empty pairs are skipped. WHATWG URL §5.1
std::optional<QueryPair> take_pair(std::string_view& query) noexcept;

/// Whether form decoding would change the text.
bool is_encoded(std::string_view text) noexcept;

/// Form decoding: `+` is a space, `%41` is A; a malformed percent sign stands for itself. WHATWG
/// URL §5.1
///
/// `out` has room for as many bytes as `encoded` has; returns how many were written.
std::size_t decode_form(std::string_view encoded, char* out) noexcept;

/// Whether the decoded form of `encoded` is `text`.
bool decodes_to(std::string_view encoded, std::string_view text) noexcept;

}  // namespace skua::http
