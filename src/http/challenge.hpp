// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "skua/credentials.hpp"
#include "skua/error.hpp"

namespace skua::http {

/// Appends `, name="value"`, quoted; without the comma where `out` ends in a space.
void append_quoted(std::string& out, std::string_view name, std::string_view value);
/// Appends `, name=value`, where the value is a token.
void append_token(std::string& out, std::string_view name, std::string_view value);

/// A nonce count as the field has it: eight digits. RFC 7616 §3.4
std::string digest_count(std::uint32_t count);

/// Reads a list of parameters, as Authentication-Info has it.
///
/// Ends with: MalformedChallenge.
/// RFC:       9110 §11.6.3
Result<Challenge> parse_auth_parameters(std::string_view field);

/// What comes after the scheme of credentials, if it is this scheme: `abc` of `Bearer abc`.
std::optional<std::string_view> after_scheme(std::string_view field,
                                             std::string_view scheme) noexcept;

/// 1*( ALPHA / DIGIT / "-" / "." / "_" / "~" / "+" / "/" ) *"=". RFC 9110 §11.2
bool is_token68(std::string_view text) noexcept;

}  // namespace skua::http
