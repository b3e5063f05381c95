// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "skua/credentials.hpp"
#include "skua/error.hpp"

namespace skua::http {

/// Appends `, name="value"`, escaped; omits the comma if `out` ends in a space.
void append_quoted(std::string& out, std::string_view name, std::string_view value);
/// Like append_quoted(), but without quotes: the value must be a token.
void append_token(std::string& out, std::string_view name, std::string_view value);

/// Formats a nonce count as eight hex digits. RFC 7616 §3.4
std::string digest_count(std::uint32_t count);

/// Parses a list of parameters, e.g. of Authentication-Info.
///
/// Ends with: MalformedChallenge.
/// RFC:       9110 §11.6.3
Result<Challenge> parse_auth_parameters(std::string_view field);

/// Returns the text after `scheme` (`abc` of `Bearer abc`), or nullopt for another scheme.
std::optional<std::string_view> after_scheme(std::string_view field,
                                             std::string_view scheme) noexcept;

/// Reports whether text is a token68: letters, digits, `-._~+/`, then any `=`. RFC 9110 §11.2
bool is_token68(std::string_view text) noexcept;

}  // namespace skua::http
